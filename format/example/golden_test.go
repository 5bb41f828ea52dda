package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/golden"
)

// encodings is the folder of what the real TF-GNN wrote and read.
func encodings(t *testing.T) string {
	return golden.Dir(t, "tfgnn", "encoding")
}

func readGolden(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(file, err)
	}
}

func readSchema(t *testing.T, file string) *tfgnnpb.GraphSchema {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := tfgnn.ParseSchema(file, b)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func readRecords(t *testing.T, file string) [][]byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := tfrecord.Open(f, file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, bytes.Clone(record))
	}
}

// tensorView is a tensor as parsed.json has it.
type tensorView struct {
	DType      string `json:"dtype"`
	RaggedRank int    `json:"ragged_rank"`
	Shape      []any  `json:"shape"`
	Value      []any  `json:"value"`
}

type setView struct {
	Features  map[string]tensorView `json:"features"`
	Sizes     []int64               `json:"sizes"`
	Source    []int64               `json:"source,omitempty"`
	SourceSet string                `json:"source_set,omitempty"`
	Target    []int64               `json:"target,omitempty"`
	TargetSet string                `json:"target_set,omitempty"`
}

type graphView struct {
	Context  map[string]tensorView `json:"context"`
	NodeSets map[string]setView    `json:"node_sets"`
	EdgeSets map[string]setView    `json:"edge_sets"`
}

// TensorFlow's names of dtypes.
var dtypeNames = map[tfgnnpb.DataType]string{
	tfgnnpb.DataType_DT_BOOL: "bool", tfgnnpb.DataType_DT_STRING: "string", tfgnnpb.DataType_DT_HALF: "float16", tfgnnpb.DataType_DT_BFLOAT16: "bfloat16",
	tfgnnpb.DataType_DT_FLOAT: "float32", tfgnnpb.DataType_DT_DOUBLE: "float64", tfgnnpb.DataType_DT_INT8: "int8", tfgnnpb.DataType_DT_INT16: "int16",
	tfgnnpb.DataType_DT_INT32: "int32", tfgnnpb.DataType_DT_INT64: "int64", tfgnnpb.DataType_DT_UINT8: "uint8", tfgnnpb.DataType_DT_UINT16: "uint16",
	tfgnnpb.DataType_DT_UINT32: "uint32", tfgnnpb.DataType_DT_UINT64: "uint64",
}

// view is a tensor as TF-GNN sees it.
func (t *Tensor) view() tensorView {
	v := tensorView{DType: dtypeNames[t.DType], Shape: []any{float64(t.Items)}}
	// The values, cut into rows from the last dimension to the first.
	var rows []any
	for _, x := range t.Ints {
		switch t.DType {
		case tfgnnpb.DataType_DT_BOOL:
			rows = append(rows, x != 0)
		case tfgnnpb.DataType_DT_UINT64:
			rows = append(rows, float64(uint64(x)))
		default:
			rows = append(rows, float64(x))
		}
	}
	for _, x := range t.Floats {
		f := float64(x)
		switch t.DType {
		case tfgnnpb.DataType_DT_HALF:
			f = float64(Float16(ToFloat16(x)))
		case tfgnnpb.DataType_DT_BFLOAT16:
			f = float64(BFloat16(ToBFloat16(x)))
		}
		switch {
		case math.IsNaN(f):
			rows = append(rows, "NaN")
		case math.IsInf(f, 0):
			rows = append(rows, strings.TrimPrefix(fmt.Sprint(f)+"inity", "+"))
		default:
			rows = append(rows, f)
		}
	}
	for _, x := range t.Texts {
		latin := ""
		for _, b := range x {
			latin += string(rune(b))
		}
		rows = append(rows, latin)
	}
	level := len(t.Lengths)
	for _, d := range slices.Backward(t.Shape) {
		var lengths []int64
		if d == -1 {
			level--
			lengths = t.Lengths[level]
		} else {
			for range len(rows) / d {
				lengths = append(lengths, int64(d))
			}
		}
		next := []any{}
		for _, n := range lengths {
			next, rows = append(next, append([]any{}, rows[:n]...)), rows[n:]
		}
		rows = next
	}
	for i, d := range t.Shape {
		if d == -1 {
			v.Shape, v.RaggedRank = append(v.Shape, nil), i+1
		} else {
			v.Shape = append(v.Shape, float64(d))
		}
	}
	v.Value = rows
	return v
}

func views(features map[string]*Tensor) map[string]tensorView {
	all := map[string]tensorView{}
	for name, t := range features {
		all[name] = t.view()
	}
	return all
}

func (g *GraphTensor) view() graphView {
	v := graphView{Context: views(g.Context), NodeSets: map[string]setView{}, EdgeSets: map[string]setView{}}
	for name, s := range g.NodeSets {
		v.NodeSets[name] = setView{Features: views(s.Features), Sizes: s.Sizes}
	}
	for name, s := range g.EdgeSets {
		v.EdgeSets[name] = setView{Features: views(s.Features), Sizes: s.Sizes, Source: s.SourceIndex, SourceSet: s.Source, Target: s.TargetIndex, TargetSet: s.Target}
	}
	return v
}

// sameView compares views; nothing and an empty list are the same.
func sameView(got, want any) string {
	return cmp.Diff(normal(want), normal(got))
}

// normal is a value as JSON reads it, without empty lists.
func normal(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var x any
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	return bare(x)
}

func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x = bare(x); x == nil {
				delete(v, k)
			} else {
				v[k] = x
			}
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}

// What TF-GNN parsed is what Decode reads, and Encode writes the Example again.
func TestGoldenGraphs(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(encodings(t), "*", "parsed.json"))
	if err != nil || len(dirs) < 9 {
		t.Fatalf("found %d cases, %v", len(dirs), err)
	}
	for _, parsed := range dirs {
		dir := filepath.Dir(parsed)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			codec, err := NewCodec(readSchema(t, filepath.Join(dir, "schema.pbtxt")))
			if err != nil {
				t.Fatal(err)
			}
			var want []graphView
			readGolden(t, parsed, &want)
			records := readRecords(t, filepath.Join(dir, "examples.tfrecord"))
			if len(records) != len(want) {
				t.Fatalf("found %d records, expected %d", len(records), len(want))
			}
			var w Writer
			g := codec.New()
			for i, record := range records {
				if err := codec.Decode(record, g, false); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
				if d := sameView(g.view(), want[i]); d != "" {
					t.Fatalf("record %d: %s", i, d)
				}
				got, err := codec.Encode(&w, g)
				if err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
				features, err := unmarshal(record)
				if err != nil {
					t.Fatal(err)
				}
				sorted := marshal(t, features)
				if len(record) == 0 {
					sorted = nil
				}
				if !bytes.Equal(got, sorted) {
					t.Errorf("record %d: encoded to %x, expected %x", i, got, sorted)
				}
				// Without its form, an Example has every key, as write_example gives it. In
				// all cases but omitted that is what was read.
				g.Form = g.Form[:0]
				full, err := codec.Encode(&w, g)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Base(dir) != "omitted" && !bytes.Equal(full, sorted) {
					t.Errorf("record %d: written as %x, expected %x", i, full, sorted)
				}
			}
		})
	}
}

// goldenFeature is a feature of the golden JSON.
type goldenFeature struct {
	Kind   string
	Values []any
}

// goldenExample is an Example of the golden JSON.
func goldenExample(t *testing.T, features map[string]goldenFeature) []byte {
	all := map[string]value{}
	for key, f := range features {
		v := value{kind: map[string]Kind{"int64_list": Int64List, "float_list": FloatList, "bytes_list": BytesList}[f.Kind]}
		for _, x := range f.Values {
			switch v.kind {
			case Int64List:
				v.ints = append(v.ints, int64(x.(float64)))
			case FloatList:
				v.floats = append(v.floats, float32(x.(float64)))
			case BytesList:
				v.texts = append(v.texts, []byte(x.(string)))
			}
		}
		all[key] = v
	}
	return marshal(t, all)
}

// Fixed dimensions in front of variable ones have no key, but count.
func TestGoldenFixedBeforeRagged(t *testing.T) {
	var cases []struct {
		Example map[string]goldenFeature
		OK      bool
		Parsed  graphView
		Keys    string `json:"partition_keys"`
		Shape   []int
	}
	readGolden(t, filepath.Join(encodings(t), "fixed_before_ragged.json"), &cases)
	for _, c := range cases {
		t.Run(fmt.Sprint(c.Shape, c.Keys), func(t *testing.T) {
			text := `node_sets { key: "n" value { features { key: "f" value { dtype: DT_INT64 shape {`
			for _, d := range c.Shape {
				text += fmt.Sprintf(" dim { size: %d }", d)
			}
			schema, err := tfgnn.ParseSchema("schema", []byte(text+" } } } } }"))
			if err != nil {
				t.Fatal(err)
			}
			codec, err := NewCodec(schema)
			if err != nil {
				t.Fatal(err)
			}
			record, g := goldenExample(t, c.Example), codec.New()
			err = codec.Decode(record, g, false)
			if (err == nil) != c.OK {
				t.Fatalf("found error %v, TF-GNN accepts: %v", err, c.OK)
			}
			if err != nil {
				return
			}
			if d := sameView(g.view(), c.Parsed); d != "" {
				t.Error(d)
			}
			if got, err := codec.Encode(new(Writer), g); err != nil || !bytes.Equal(got, record) {
				t.Errorf("encoded to %x, %v, expected %x", got, err, record)
			}
		})
	}
}

// The doubtful Examples are TF-GNN's to the value, so are its verdicts; each that
// it refuses is refused here.
func TestGoldenVerdicts(t *testing.T) {
	type verdict struct{ OK bool }
	var cases []struct {
		Name     string
		Example  map[string]goldenFeature
		Validate verdict
	}
	dir := filepath.Join(encodings(t), "verdicts")
	readGolden(t, filepath.Join(dir, "verdicts.json"), &cases)
	records := readRecords(t, filepath.Join(dir, "examples.tfrecord"))
	if len(cases) != len(doubtful) || len(records) != len(doubtful) {
		t.Fatalf("found %d cases and %d records, expected %d", len(cases), len(records), len(doubtful))
	}
	codec, err := NewCodec(readSchema(t, filepath.Join(dir, "schema.pbtxt")))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			mine := doubtful[i]
			if c.Name != mine.name || c.Validate.OK != mine.tfgnn {
				t.Fatalf("found %q %v, expected %q %v", c.Name, c.Validate.OK, mine.name, mine.tfgnn)
			}
			if want := marshal(t, change(mine.change)); !bytes.Equal(goldenExample(t, c.Example), want) {
				t.Errorf("found %v, expected %x", c.Example, want)
			}
			if err := codec.Decode(records[i], codec.New(), false); (err == nil) != (mine.refused == "") {
				t.Errorf("found %v, expected %q", err, mine.refused)
			}
		})
	}
}

// String is the feature as Python prints it.
func (f IOFeature) String() string {
	names := map[tfgnnpb.DataType]string{tfgnnpb.DataType_DT_INT64: "tf.int64", tfgnnpb.DataType_DT_INT32: "tf.int32", tfgnnpb.DataType_DT_FLOAT: "tf.float32", tfgnnpb.DataType_DT_STRING: "tf.string"}
	if f.Fixed {
		zero := "None"
		if f.Zero {
			zero = "<tf.Tensor: shape=(1,), dtype=int64, numpy=array([0])>"
		}
		return fmt.Sprintf("FixedLenFeature(shape=TensorShape([%s]), dtype=%s, default_value=%s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Shape), " ", ", "), "[]"), names[f.DType], zero)
	}
	var parts []string
	for _, p := range f.Partitions {
		if p.Key != "" {
			parts = append(parts, fmt.Sprintf("RowLengths(key='%s')", p.Key))
		} else {
			parts = append(parts, fmt.Sprintf("UniformRowLength(length=%d)", p.Length))
		}
	}
	tuple := strings.Join(parts, ", ")
	if len(parts) == 1 {
		tuple += ","
	}
	return fmt.Sprintf("RaggedFeature(dtype=%s, value_key='%s', partitions=(%s), row_splits_dtype=%s, validate=True)", names[f.DType], f.Key, tuple, names[f.RowSplits])
}

func sameIOSpec(t *testing.T, spec []IOFeature, want map[string]string) {
	t.Helper()
	if len(spec) != len(want) {
		t.Errorf("found %d keys, expected %d", len(spec), len(want))
	}
	for _, f := range spec {
		// Python prints a control character of a name by its number.
		if want := strings.ReplaceAll(want[f.Key], `\x96`, "\u0096"); f.String() != want {
			t.Errorf("found %s, expected %s", f, want)
		}
	}
}

// IOSpec is get_io_spec.
func TestGoldenIOSpec(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(encodings(t), "*", "io_spec.json"))
	if err != nil || len(files) < 9 {
		t.Fatalf("found %d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			codec, err := NewCodec(readSchema(t, filepath.Join(filepath.Dir(file), "schema.pbtxt")))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]string
			readGolden(t, file, &want)
			spec := codec.IOSpec()
			if strings.Contains(file, "components") {
				for i := range spec {
					spec[i] = spec[i].Relaxed()
				}
			}
			sameIOSpec(t, spec, want)
		})
	}
}
