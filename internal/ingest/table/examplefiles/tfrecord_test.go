package examplefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// examples frames rows of the features i (integers), f (floats) and s (strings); a nil list is omitted.
func examples(rows ...struct {
	i []int64
	f []float32
	s []string
}) []byte {
	var out []byte
	for _, r := range rows {
		var w example.Writer
		w.Reset()
		if r.s != nil {
			addTexts(&w, "s", r.s...)
		}
		if r.i != nil {
			example.Ints(&w, example.NewKey("i"), r.i)
		}
		if r.f != nil {
			addFloats(&w, "f", r.f...)
		}
		out = tfrecord.AppendFrame(out, w.Close())
	}
	return out
}

// addTexts and addFloats add a feature of these values.
func addTexts(w *example.Writer, key string, values ...string) {
	offsets := []uint32{0}
	for _, v := range values {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(len(v)))
	}
	example.TextRows(w, example.NewKey(key), []byte(strings.Join(values, "")), offsets, len(values), []uint32{0})
}

func addFloats(w *example.Writer, key string, values ...float32) {
	column, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	example.Float32Rows(w, example.NewKey(key), column, len(values), []uint32{0})
}

type exampleRow = struct {
	i []int64
	f []float32
	s []string
}

func TestTFRecord(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(examples(exampleRow{[]int64{-3}, []float32{3}, nil})); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i, b := range [][]byte{nil, examples(exampleRow{[]int64{1}, []float32{1, 2}, []string{"a"}}, exampleRow{[]int64{300}, nil, []string{""}}), zipped.Bytes()} {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(paths[i], b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := OpenTFRecord(vfs.OS, paths)
	if err != nil {
		t.Fatal(err)
	}
	want := []table.Field{{Name: "f", DType: graph.Float32, Shape: []int{-1}}, {Name: "i", DType: graph.Int64}, {Name: "s", DType: graph.String}}
	if d := cmp.Diff(want, tab.Fields()); d != "" {
		t.Fatal(d)
	}
	for row, want := range []string{"1: record 0 (byte 0)", "1: record 1 (byte 61)", "2: record 0 (byte 0)"} {
		if got := tab.Where(uint64(row), ""); got != filepath.Join(dir, want) {
			t.Errorf("row %d is at %s, want %s", row, got, want)
		}
	}
	for _, c := range []struct {
		column table.Column
		want   string
	}{
		{tabletest.Column("i", graph.Int64), "1,300,-3"}, {tabletest.Column("i", graph.Int16), "1,300,-3"}, {tabletest.Column("i", graph.String), "1,300,-3"}, {tabletest.Column("i", graph.Float32), "1,300,-3"},
		{tabletest.Column("i", graph.Uint64), "1,300,18446744073709551613"}, {tabletest.Column("i", graph.Int64, 1), "1,300,-3"}, {tabletest.Column("i", graph.Int32, -1), "1,300,-3"},
		{tabletest.Column("i", graph.Int8), `1: record 1 (byte 61): found 300 in feature "i", expected an integer from -128 to 127`},
		{tabletest.Column("i", graph.Uint32), `2: record 0 (byte 0): found -3`}, {tabletest.Column("i", graph.Bool), "found 300"},
		{tabletest.Column("f", graph.Float32, -1), "1 2,,3"}, {tabletest.Column("f", graph.Float32), "found 2 values"}, {tabletest.Column("f", graph.Int8, -1), "found a float_list"},
		{table.Column{Name: "f", DType: graph.Float64, Shape: []int{2}, Empty: table.EmptyFill, Fill: "7 8"}, "2: record 0 (byte 0): found 1 values"},
		{table.Column{Name: "s", DType: graph.String}, "a,,"}, {table.Column{Name: "s", DType: graph.String, ID: true}, `1: record 1 (byte 61): found "" in feature "s", expected an id`},
		{table.Column{Name: "s", DType: graph.String, ID: true, Empty: table.EmptyAbsent}, "a,-,-"},
		{tabletest.Column("none", graph.Int8), `found the features f, i, s, expected "none"`},
		{table.Column{Name: "none", DType: graph.Int8, Empty: table.EmptyFill, Fill: "7"}, "7,7,7"},
	} {
		got, err := tabletest.Rows(tab, []table.Column{c.column}, 2)
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if err == nil && text != c.want || err != nil && (!strings.Contains(text, c.want) || !errors.Is(err, table.ErrFormat)) {
			t.Errorf("%s as %s: %s, want %s", c.column.Name, c.column.DType, text, c.want)
		}
	}
}

// A damaged file is an error with its place, whatever comes before it. Rows of many batches keep their numbers.
func TestTFRecordBatches(t *testing.T) {
	var data []byte
	const n = 60000
	for i := range n {
		data = append(data, examples(exampleRow{[]int64{int64(i)}, []float32{1, 2, 3}, []string{"some text"}})...)
	}
	path := filepath.Join(t.TempDir(), "a.tfrecord")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	tab, err := OpenTFRecord(vfs.OS, []string{path, path})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tabletest.Rows(tab, []table.Column{tabletest.Column("i", graph.Uint32)}, 3)
	if err != nil || len(got) != 2*n {
		t.Fatal(len(got), err)
	}
	for i, g := range got {
		if g != fmt.Sprint(i%n) {
			t.Fatalf("row %d is %s", i, g)
		}
	}
	got, err = tabletest.Rows(tab, []table.Column{tabletest.Column("f", graph.Float32, 3), tabletest.Column("i", graph.Int64), {Name: "s", DType: graph.String}, tabletest.Column("f", graph.Float64, 3)}, 2)
	if err != nil || got[n+7] != "1 2 3|7|some text|1 2 3" {
		t.Fatal(got[n+7], err)
	}
	got, err = tabletest.Rows(tab, []table.Column{tabletest.Column("f", graph.Float32, 3), {Name: "s", DType: graph.String}}, 2)
	if err != nil || got[n-1] != "1 2 3|some text" {
		t.Fatal(got[n-1], err)
	}
	data[len(data)-7] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tabletest.Rows(tab, []table.Column{tabletest.Column("i", graph.Uint32)}, 3); !errors.Is(err, tfrecord.ErrCorrupt) || !errors.Is(err, table.ErrFormat) {
		t.Fatal(err)
	}
	data[len(data)-7] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	_, err = tab.Scan(t.Context(), []table.Column{tabletest.Column("i", graph.Uint32)}, 3, func(_ int, c *table.Chunk) error {
		return fmt.Errorf("%d: %w", c.First, stop)
	})
	if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), "0:") {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: boom}
		tab, err := OpenTFRecord(fault, []string{path})
		if err == nil {
			_, err = tabletest.Rows(tab, nil, 2)
		}
		if at > fault.Calls() || at > 30 {
			break
		}
		if !errors.Is(err, boom) {
			t.Fatalf("call %d: %v", at, err)
		}
	}
}

// The lengths of variable dimensions are features of their own. They are checked against the values, and can be
// omitted if they follow from them.
func TestTFRecordRagged(t *testing.T) {
	row := func(values []int64, lengths ...[]int64) []byte {
		var w example.Writer
		w.Reset()
		for i := len(lengths) - 1; i >= 0; i-- {
			if lengths[i] != nil {
				example.Ints(&w, example.NewKey(fmt.Sprint("v.d", i+1)), lengths[i])
			}
		}
		if values != nil {
			example.Ints(&w, example.NewKey("v"), values)
		}
		return tfrecord.AppendFrame(nil, w.Close())
	}
	four, no := []int64{1, 2, 3, 4}, []int64{}
	for _, c := range []struct {
		name  string
		shape []int
		row   []byte
		want  string
	}{
		{"flat", []int{-1}, row(four), "1 2 3 4"},
		{"flat with lengths", []int{-1}, row(four, []int64{4}), "1 2 3 4"},
		{"pairs", []int{-1, 2}, row(four), "[1 2][3 4]"},
		{"pairs with lengths", []int{-1, 2}, row(four, []int64{2}), "[1 2][3 4]"},
		{"behind 1", []int{1, -1}, row(four), "[1 2 3 4]"},
		{"behind 2", []int{2, -1}, row(four, nil, []int64{3, 1}), "[1 2 3][4]"},
		{"two", []int{-1, -1}, row(four, []int64{3}, []int64{3, 0, 1}), "[1 2 3][][4]"},
		{"two around one", []int{-1, 2, -1}, row(four, []int64{1}, nil, []int64{1, 3}), "[[1][2 3 4]]"},
		{"three", []int{-1, -1, -1}, row(four, []int64{2}, []int64{1, 1}, []int64{2, 2}), "[[1 2]][[3 4]]"},
		{"none", []int{2, -1}, row(nil), "[][]"},
		{"none of two", []int{-1, -1}, row(no), "[]"},
		{"no values", []int{-1, -1}, row(nil, []int64{2}, []int64{0, 0}), "[][]"},
		{"no lengths", []int{-1, -1}, row(four), `found no lengths in feature "v", expected 1 lengths of dimension 1 in "v.d1"`},
		{"one missing", []int{-1, -1}, row(four, []int64{2}), `expected 2 lengths of dimension 2 in "v.d2"`},
		{"missing without values", []int{-1, 1 << 20, -1}, row(nil, []int64{1 << 30}), `in "v.d3"`},
		{"many", []int{-1, -1}, row(four, []int64{2}, []int64{2, 1, 1}), `found 3 lengths in "v.d2" in feature "v", expected 2`},
		{"sum", []int{-1, -1}, row(four, []int64{2}, []int64{2, 1}), `found 4 values in feature "v", expected 3, as the lengths say`},
		{"negative", []int{-1, -1}, row(four, []int64{2}, []int64{5, -1}), "found the length -1 in dimension 2 (v.d2)"},
		{"multiple", []int{-1, 3}, row(four), "found 4 values in feature \"v\", expected a multiple of 3"},
		{"length of pairs", []int{-1, 2}, row(four, []int64{4}), "expected 8, as the lengths say"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t")
			if err := os.WriteFile(path, append(bytes.Clone(c.row), c.row...), 0o644); err != nil {
				t.Fatal(err)
			}
			tab, err := OpenTFRecord(vfs.OS, []string{path})
			if err != nil {
				t.Fatal(err)
			}
			tab.fields = nil // rows may lack the column
			got, err := tabletest.Rows(tab, []table.Column{{Name: "v", DType: graph.Int32, Shape: c.shape}}, 2)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v, want %s", err, c.want)
				}
				return
			}
			if d := cmp.Diff([]string{c.want, c.want}, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}
