package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(5) // a check makes four folders of a hundred files
	goleak.VerifyTestMain(m)
}

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// schemaText has every dtype, shapes of all kinds, a latent set, and names that types, columns and files cannot have
// unchanged.
const schemaText = `
context { features { key: "label" value { dtype: DT_INT64 } }
          features { key: "example_form" value { dtype: DT_STRING shape { dim { size: -1 } } } } }
node_sets { key: "a" value {
  description: "kept"
  features { key: "bool" value { dtype: DT_BOOL } }
  features { key: "i8" value { dtype: DT_INT8 } } features { key: "u8" value { dtype: DT_UINT8 } }
  features { key: "i16" value { dtype: DT_INT16 } } features { key: "u16" value { dtype: DT_UINT16 } }
  features { key: "i32" value { dtype: DT_INT32 } } features { key: "u32" value { dtype: DT_UINT32 } }
  features { key: "i64" value { dtype: DT_INT64 } } features { key: "u64" value { dtype: DT_UINT64 } }
  features { key: "half" value { dtype: DT_HALF } } features { key: "bf16" value { dtype: DT_BFLOAT16 } }
  features { key: "float" value { dtype: DT_FLOAT } } features { key: "double" value { dtype: DT_DOUBLE } }
  features { key: "graph_ptr" value { dtype: DT_STRING } }
  features { key: "graph_ptr.row_offsets" value { dtype: DT_INT32 } }
} }
node_sets { key: "x:%3A\ty" value {
  features { key: "ragged" value { dtype: DT_STRING shape { dim { size: -1 } } } }
  features { key: "rows" value { dtype: DT_FLOAT shape { dim { size: 2 } dim { size: -1 } dim { size: 3 } } } }
  features { key: "deep" value { dtype: DT_INT16 shape { dim { size: -1 } dim { size: 2 } dim { size: -1 } } } }
} }
node_sets { key: "latent" value { } }
edge_sets { key: "e" value { source: "a" target: "x:%3A\ty"
  features { key: "src" value { dtype: DT_DOUBLE shape { dim { size: 2 } } } } } }
edge_sets { key: "l:" value { source: "latent" target: "latent" } }
`

func parseSchema(t testing.TB, text string) *tfgnnpb.GraphSchema {
	t.Helper()
	s, err := tfgnn.ParseSchema("schema.pbtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawGraph draws a GraphTensor of the schema.
func drawGraph(t *rapid.T, c *example.Codec, components int) *example.GraphTensor {
	g := c.New()
	sizes := func(name string) (sizes []int64, total int) {
		for range components {
			n := rapid.IntRange(0, 3).Draw(t, name)
			sizes, total = append(sizes, int64(n)), total+n
		}
		return sizes, total
	}
	fill := func(features map[string]*example.Tensor, items int) {
		for _, name := range slices.Sorted(maps.Keys(features)) {
			drawTensor(t, features[name], items)
		}
	}
	fill(g.Context, components)
	for _, name := range slices.Sorted(maps.Keys(g.NodeSets)) {
		list, total := sizes(name)
		g.NodeSets[name].Sizes = list
		fill(g.NodeSets[name].Features, total)
	}
	for _, name := range slices.Sorted(maps.Keys(g.EdgeSets)) {
		e, total := g.EdgeSets[name], 0
		var from, to int64
		for i := range components {
			src, dst, n := g.NodeSets[e.Source].Sizes[i], g.NodeSets[e.Target].Sizes[i], 0
			if src > 0 && dst > 0 {
				n = rapid.IntRange(0, 4).Draw(t, name)
			}
			for range n {
				e.SourceIndex = append(e.SourceIndex, from+rapid.Int64Range(0, src-1).Draw(t, "source"))
				e.TargetIndex = append(e.TargetIndex, to+rapid.Int64Range(0, dst-1).Draw(t, "target"))
			}
			e.Sizes, total = append(e.Sizes, int64(n)), total+n
			from, to = from+src, to+dst
		}
		fill(e.Features, total)
	}
	return g
}

func drawTensor(t *rapid.T, x *example.Tensor, items int) {
	x.Items = items
	n, k := items, 0
	for _, d := range x.Shape {
		if d != -1 {
			n *= d
			continue
		}
		total := 0
		for range n {
			length := rapid.IntRange(0, 2).Draw(t, "length")
			x.Lengths[k] = append(x.Lengths[k], int64(length))
			total += length
		}
		n, k = total, k+1
	}
	for range n {
		bits := rapid.Uint64().Draw(t, "value")
		switch x.DType {
		case tfgnnpb.DataType_DT_STRING:
			x.Texts = append(x.Texts, rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "text"))
		case tfgnnpb.DataType_DT_HALF:
			x.Floats = append(x.Floats, example.Float16(example.ToFloat16(math.Float32frombits(uint32(bits)))))
		case tfgnnpb.DataType_DT_BFLOAT16:
			x.Floats = append(x.Floats, example.BFloat16(example.ToBFloat16(math.Float32frombits(uint32(bits)))))
		case tfgnnpb.DataType_DT_FLOAT, tfgnnpb.DataType_DT_DOUBLE:
			x.Floats = append(x.Floats, math.Float32frombits(uint32(bits))) // NaNs of all kinds too
		case tfgnnpb.DataType_DT_BOOL:
			x.Ints = append(x.Ints, int64(bits&1))
		case tfgnnpb.DataType_DT_INT8:
			x.Ints = append(x.Ints, int64(int8(bits)))
		case tfgnnpb.DataType_DT_UINT8:
			x.Ints = append(x.Ints, int64(uint8(bits)))
		case tfgnnpb.DataType_DT_INT16:
			x.Ints = append(x.Ints, int64(int16(bits)))
		case tfgnnpb.DataType_DT_UINT16:
			x.Ints = append(x.Ints, int64(uint16(bits)))
		case tfgnnpb.DataType_DT_INT32:
			x.Ints = append(x.Ints, int64(int32(bits)))
		case tfgnnpb.DataType_DT_UINT32:
			x.Ints = append(x.Ints, int64(uint32(bits)))
		default:
			x.Ints = append(x.Ints, int64(bits))
		}
	}
}

// drawRecord draws an Example in any of the forms in which the same graph can be written.
func drawRecord(t *rapid.T, c *example.Codec, components int) []byte {
	var w example.Writer
	g := drawGraph(t, c, components)
	g.Form = rapid.OneOf(rapid.Just([]byte(nil)), rapid.Just(make([]byte, c.FormSize())),
		rapid.SliceOfN(rapid.Byte(), c.FormSize(), c.FormSize())).Draw(t, "form")
	record, err := c.Encode(&w, g)
	if err == nil {
		err = c.Decode(record, c.New(), false)
	}
	if err != nil { // the form omits keys that the graph needs
		g.Form = nil
		if record, err = c.Encode(&w, g); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.Clone(record)
}

func writeRecords(t testing.TB, file string, list [][]byte) {
	t.Helper()
	var b []byte
	for _, r := range list {
		b = tfrecord.AppendFrame(b, r)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// importRecords makes a collection.
func importRecords(ctx context.Context, fsys vfs.FS, dir string, files []string, opt records.Options) (_ *records.Result, err error) {
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	result, err := records.Import(ctx, fsys, w, files, opt)
	if err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, result.Meta, 1); err != nil {
		return nil, err
	}
	return result, w.Publish()
}

// exportRecords writes a collection as TFRecords.
func exportRecords(ctx context.Context, fsys vfs.FS, collection, dir string, opt export.Options) (_ *export.Result, err error) {
	s, err := store.Open(fsys, collection)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	result, err := export.TFRecords(ctx, fsys, w, s, opt)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.WriteMade(store.Made{}), w.Seal(ctx, nil, 1)); err != nil {
		return nil, err
	}
	return result, w.Publish()
}

// sum returns the fingerprint of a folder, which must be complete.
func sum(t testing.TB, dir string) string {
	t.Helper()
	v, err := store.Verify(context.Background(), vfs.OS, dir, 1, nil)
	if err != nil || len(v.Damage) > 0 {
		t.Fatalf("%s: found %v, %v", dir, v, err)
	}
	s, err := store.Sum(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TFRecords that become a collection are written again with the same bytes, whatever the number of threads, the
// budget and the files. So is the schema.
func TestRoundTrip(t *testing.T) {
	schema := parseSchema(t, schemaText)
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	run, top := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		run++
		dir := filepath.Join(top, fmt.Sprint(run))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		several := rapid.Bool().Draw(t, "several components")
		var list [][]byte
		var files []string
		for f := range rapid.IntRange(1, 3).Draw(t, "files") {
			var of [][]byte
			for range rapid.IntRange(0, 4).Draw(t, "records") {
				components := 1
				if several {
					components = rapid.IntRange(1, 3).Draw(t, "components")
				}
				of = append(of, drawRecord(t, codec, components))
			}
			files = append(files, filepath.Join(dir, fmt.Sprint(f)))
			var b []byte
			for _, r := range of {
				b = tfrecord.AppendFrame(b, r)
			}
			if err := os.WriteFile(files[f], b, 0o644); err != nil {
				t.Fatal(err)
			}
			list = append(list, of...)
		}
		one := check(t, dir, "one", files, records.Options{Schema: schema}, export.Options{}, list)
		many := check(t, dir, "many", files, records.Options{Schema: schema, Threads: 3, Memory: 256 << 20},
			export.Options{Threads: 3, Memory: 256 << 20, Shards: 4, Gzip: true}, list)
		if one != many {
			t.Fatalf("found other bytes of the collection with 3 threads and a budget")
		}
		text, err := os.ReadFile(filepath.Join(dir, "one.records/schema.pbtxt"))
		if err != nil || !bytes.Equal(text, tfgnn.AppendText(nil, schema)) {
			t.Fatalf("found schema %s, %v", text, err)
		}
	})
}

// check makes a collection, exports it, and returns the collection's fingerprint.
func check(t *rapid.T, dir, name string, files []string, in records.Options, out export.Options, want [][]byte) string {
	t.Helper()
	collection := filepath.Join(dir, name)
	if _, err := importRecords(context.Background(), disk, collection, files, in); err != nil {
		t.Fatal(err)
	}
	result, err := exportRecords(context.Background(), disk, collection, collection+".records", out)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Left) > 0 {
		t.Fatalf("found %q left out", result.Left)
	}
	v, err := store.Verify(context.Background(), disk, collection, 1, nil)
	if err != nil || len(v.Damage) > 0 {
		t.Fatalf("found %v, %v", v, err)
	}
	shards, err := filepath.Glob(collection + ".records/*-of-*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(shards)
	f := recordfiles.New(vfs.OS, shards, nil)
	defer f.Close()
	for i := 0; ; i++ {
		got, _, err := f.Next()
		if errors.Is(err, io.EOF) && i == len(want) {
			break
		}
		if err != nil || i == len(want) || !bytes.Equal(got, want[i]) {
			t.Fatalf("record %d: found %x, %v, expected %x", i, got, err, want[min(i, len(want)-1)])
		}
	}
	s, err := store.Sum(vfs.OS, collection)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
