package records_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

const schemaText = `
context { features { key: "label" value { dtype: DT_INT8 } } }
node_sets { key: "n" value {
  features { key: "half" value { dtype: DT_HALF } }
  features { key: "rows" value { dtype: DT_INT32 shape { dim { size: -1 } dim { size: 2 } } } }
} }
node_sets { key: "m:" value { } }
edge_sets { key: "e" value { source: "n" target: "m:" features { key: "src" value { dtype: DT_STRING } } } }
`

func schema(t testing.TB) *tfgnnpb.GraphSchema {
	t.Helper()
	s, err := tfgnn.ParseSchema("schema.pbtxt", []byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// one is an Example of 2 nodes n, 1 node m and 2 edges.
func one() map[string]any {
	return map[string]any{
		"context/label":   []int64{-7},
		"nodes/n.#size":   []int64{2},
		"nodes/n.half":    []float32{0.5, -2},
		"nodes/n.rows":    []int64{1, 2, 3, 4, 5, 6},
		"nodes/n.rows.d1": []int64{3, 0},
		"nodes/m:.#size":  []int64{1},
		"edges/e.#size":   []int64{2},
		"edges/e.#source": []int64{1, 0},
		"edges/e.#target": []int64{0, 0},
		"edges/e.src":     [][]byte{[]byte("a"), []byte("bc")},
	}
}

// two is an Example of two components, of which one is empty.
func two() map[string]any {
	return map[string]any{
		"context/label":   []int64{1, 2},
		"nodes/n.#size":   []int64{0, 1},
		"nodes/n.half":    []float32{1},
		"nodes/n.rows":    []int64{},
		"nodes/n.rows.d1": []int64{0},
		"nodes/m:.#size":  []int64{0, 2},
		"edges/e.#size":   []int64{0, 1},
		"edges/e.#source": []int64{0},
		"edges/e.#target": []int64{1},
		"edges/e.src":     [][]byte{nil},
	}
}

// encode writes an Example with its keys in order.
func encode(features map[string]any) []byte {
	var w example.Writer
	var keys []string
	for k := range features {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	w.Reset()
	for _, k := range slices.Backward(keys) {
		switch v := features[k].(type) {
		case []int64:
			example.Ints(&w, example.NewKey(k), v)
		case []float32:
			example.Floats(&w, example.NewKey(k), v)
		case [][]byte:
			example.Texts(&w, example.NewKey(k), v)
		}
	}
	return bytes.Clone(w.Close())
}

// with returns an Example with some keys changed; nil removes a key.
func with(of map[string]any, changes map[string]any) []byte {
	for k, v := range changes {
		if v == nil {
			delete(of, k)
		} else {
			of[k] = v
		}
	}
	return encode(of)
}

func frames(list ...[]byte) []byte {
	var b []byte
	for _, r := range list {
		b = tfrecord.AppendFrame(b, r)
	}
	return b
}

func write(t testing.TB, dir, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// collect makes a collection and opens it.
func collect(t testing.TB, dir string, files []string, opt records.Options) (*store.Store, *records.Result, error) {
	t.Helper()
	ctx := context.Background()
	w, err := store.Create(disk, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}()
	result, err := records.Import(ctx, disk, w, files, opt)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(w.Seal(ctx, result.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	return s, result, nil
}

func ints(x graph.Index) []uint64 {
	var v []uint64
	for i := range x.Len() {
		v = append(v, x.At(i))
	}
	return v
}

// Checks the arrays of a collection, value by value.
func TestArrays(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "a", frames(encode(one()), encode(two()), encode(one())))
	s, result, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema(t)})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection
	m, n, e := c.Nodes[0], c.Nodes[1], c.Edges[0]
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"graphs", c.Graphs, 3},
		{"components", ints(c.ComponentPtr), []uint64{0, 1, 3, 4}},
		{"types", []string{m.Type, n.Type, e.Type.String()}, []string{"m%3A", "n", "n:e:m%3A"}},
		{"label", graph.View[int8](c.Context[0].Values), []int8{-7, 1, 2, -7}},
		{"n of graphs", ints(n.GraphPtr), []uint64{0, 2, 3, 5}},
		{"n of components", ints(n.ComponentPtr), []uint64{0, 2, 2, 3, 5}},
		{"m of components", ints(m.ComponentPtr), []uint64{0, 1, 1, 3, 4}},
		{"e of components", ints(e.ComponentPtr), []uint64{0, 2, 2, 3, 5}},
		{"sources", ints(e.Src), []uint64{1, 0, 0, 1, 0}},
		{"targets", ints(e.Dst), []uint64{0, 0, 1, 0, 0}},
		{"half", graph.View[uint16](n.Columns[0].Values), []uint16{0x3800, 0xc000, 0x3c00, 0x3800, 0xc000}},
		{"rows", graph.View[int32](n.Columns[1].Values), []int32{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
		{"lengths of rows", ints(n.Columns[1].Offsets[0]), []uint64{0, 3, 3, 3, 6, 6}},
		{"texts", string(e.Columns[0].Values), "abcabc"},
		{"ends of texts", ints(e.Columns[0].StringOffsets), []uint64{0, 1, 3, 3, 4, 6}},
		{"columns of m", len(m.Columns), 0},
		{"sizes", []uint64{result.Nodes.Sum(), result.Edges.Sum()}, []uint64{9, 5}},
	} {
		if d := cmp.Diff(check.want, check.got); d != "" {
			t.Errorf("%s: %s", check.what, d)
		}
	}
	if got := s.Meta.Edges["n:e:m%3A"].Columns["src"].File; got != "edges/n+e+m%253A/columns/src.npy" {
		t.Errorf("found column in %s, expected it beside the array of its name", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "c", s.Meta.Schema))
	if err != nil || !bytes.Equal(text, tfgnn.AppendText(nil, schema(t))) {
		t.Errorf("found schema %s, %v", text, err)
	}
}

// Arrays without information are not written.
func TestPlainCollection(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "a", frames(encode(one()), encode(one())))
	s, _, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema(t)})
	if err != nil {
		t.Fatal(err)
	}
	if s.Collection.ComponentPtr.Len() > 0 || s.Collection.ExampleForm != nil || len(s.Meta.Context.Arrays) > 0 {
		t.Errorf("found %v", s.Meta.Context)
	}
	for _, name := range []string{"context/component_ptr.npy", "context/example_form.npy", "nodes/n/component_ptr.npy"} {
		if _, err := os.Stat(filepath.Join(dir, "c", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: found %v, expected no file", name, err)
		}
	}
}

// Every change is counted and named.
func TestNothingIsSilent(t *testing.T) {
	dir := t.TempDir()
	odd := with(one(), map[string]any{"nodes/n.half": []float32{0.1, 1e9}, "nodes/n.more": []int64{1}, "zzz": []int64{}})
	broken := with(one(), map[string]any{"edges/e.#source": []int64{5, 0}})
	file := write(t, dir, "a", frames(odd, odd, encode(one()), broken))
	s, r, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema(t), Lenient: true, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]records.Counted{{"nodes/n.more", 2}, {"zzz", 2}}, r.Unknown); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]records.Counted{{"nodes/n.half", 4}}, r.Rounded); d != "" {
		t.Error(d)
	}
	if r.Repaired != 1 || len(r.Repairs) != 1 || !strings.HasPrefix(r.Repairs[0], file+": record 3 (byte ") {
		t.Errorf("found %d repaired, %q", r.Repaired, r.Repairs)
	}
	if s.Collection.Graphs != 4 {
		t.Errorf("found %d graphs", s.Collection.Graphs)
	}
}

// Errors name the file, the record and its byte offset.
func TestRefusals(t *testing.T) {
	good := encode(one())
	frame := len(frames(good))
	at := fmt.Sprintf("record 1 (byte %d): ", frame)
	flipped := frames(good, good)
	flipped[frame+40] ^= 4
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"no Example":       {frames(good, []byte{0xff}), at + "byte 0: found"},
		"endpoint":         {frames(good, with(one(), map[string]any{"edges/e.#target": []int64{0, 1}})), at + "edges/e.#target"},
		"wrong list":       {frames(good, with(one(), map[string]any{"nodes/n.half": []int64{1, 2}})), at + "nodes/n.half: found int64_list of 2 values, expected float_list"},
		"beyond the dtype": {frames(good, with(one(), map[string]any{"context/label": []int64{300}})), at + "context/label"},
		"missing context":  {frames(good, with(one(), map[string]any{"context/label": nil})), at + "context/label"},
		"cut":              {frames(good, good)[:2*frame-5], fmt.Sprintf("byte %d: found a record of", frame)},
		"flipped bit":      {flipped, fmt.Sprintf("byte %d: found checksum", frame)},
		"text":             {[]byte("this is no file of records"), "byte 0: found checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := write(t, dir, "in.tfrecord", tc.file)
			_, _, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema(t), Threads: 2})
			if err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("found %v, expected %s", err, tc.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("found %v left behind", entries)
			}
		})
	}
	bad := schema(t)
	bad.NodeSets["n"].Features["\xff"] = &tfgnnpb.Feature{Dtype: tfgnnpb.DataType_DT_INT8.Enum()}
	if _, _, err := collect(t, filepath.Join(t.TempDir(), "c"), nil, records.Options{Schema: bad}); err == nil {
		t.Error("found no error of a name that is not UTF-8")
	}
}

// The budget refuses a record that it cannot hold before the record is read.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	long := with(one(), map[string]any{"edges/e.src": [][]byte{bytes.Repeat([]byte("x"), 1<<20), nil}})
	file := write(t, dir, "a", frames(encode(one()), long))
	for _, tc := range []struct {
		memory int64
		want   string
	}{{1 << 20, "expected at least"}, {64 << 20, "found a record of 1048"}, {1 << 30, ""}} {
		_, _, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema(t), Memory: tc.memory})
		if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, records.ErrMemory) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%d bytes: found %v, expected %q", tc.memory, err, tc.want)
		}
	}
}

// Omitted row lengths become rows although the record has no bytes for them. Only a few of these rows are held at a
// time, and all of them are written, in order.
func TestOmittedLengthsAreNotHeld(t *testing.T) {
	s, err := tfgnn.ParseSchema("schema.pbtxt", []byte(`node_sets { key: "n" value { features { key: "x" value { dtype: DT_INT8 shape { dim { size: -1 } } } } } }`))
	if err != nil {
		t.Fatal(err)
	}
	const each, n = 1 << 16, 100
	var list [][]byte
	for range n {
		list = append(list, encode(map[string]any{"nodes/n.#size": []int64{each}}))
	}
	list = append(list, encode(map[string]any{"nodes/n.#size": []int64{1}, "nodes/n.x": []int64{5}, "nodes/n.x.d1": []int64{1}}))
	dir := t.TempDir()
	file := write(t, dir, "a", frames(list...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, _, err := collect(t, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: s, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("found %d bytes allocated, of which %d rows of a length of 4 bytes would be %d", got, each*n, 4*each*n)
	}
	x := c.Collection.Nodes[0].Columns[0]
	if x.Rows != each*n+1 || x.Offsets[0].At(each*n) != 0 || x.Offsets[0].At(each*n+1) != 1 || x.Values[0] != 5 {
		t.Errorf("found %d rows, %d values up to the last", x.Rows, x.Offsets[0].At(each*n))
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "a", frames(slices.Repeat([][]byte{encode(one())}, 20000)...))
	ctx, cancel := context.WithCancel(context.Background())
	w, err := store.Create(vfs.OS, filepath.Join(dir, "c"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	_, err = records.Import(ctx, vfs.OS, w, []string{file}, records.Options{Schema: schema(t), Threads: 2, Progress: func(int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(frames(encode(one())))
	z.Close()
	for i := range 3 {
		write(t, dir, fmt.Sprintf("s-%05d-of-00003", i), zipped.Bytes())
	}
	write(t, dir, "other", nil)
	in := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		return names
	}
	files, warnings, err := records.Files(vfs.OS, in("s@3", "other", "../"+filepath.Base(dir)+"/s-*"))
	if err != nil || len(files) != 7 || len(warnings) != 1 {
		t.Fatalf("found %v, %v, %v", files, warnings, err)
	}
	if s, _, err := collect(t, filepath.Join(dir, "c"), files[:4], records.Options{Schema: schema(t)}); err != nil || s.Collection.Graphs != 3 {
		t.Errorf("found %v of gzip", err)
	}
	_, warnings, err = records.Files(vfs.OS, in("s-00000-of-00003", "s-00002-of-00003"))
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "s@3: found 2 of its shards") {
		t.Errorf("found %v, %v", warnings, err)
	}
	for _, missing := range []string{"s@4", "nothing", "x*"} {
		if _, _, err := records.Files(vfs.OS, in(missing)); !errors.Is(err, tfgnnfiles.ErrTable) {
			t.Errorf("%s: found %v", missing, err)
		}
	}
}

// Any file gives an error, or a collection with valid arrays.
func FuzzImport(f *testing.F) {
	for _, r := range [][]byte{encode(one()), encode(two()), {}, with(one(), map[string]any{"edges/e.#source": []int64{9, -1}})} {
		f.Add(r, encode(one()), false)
		f.Add(encode(two()), r, true)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, lenient bool) {
		fuzzing.Check(t, len(a)+len(b), func() {
			dir := t.TempDir()
			file := write(t, dir, "a", frames(a, b))
			s, _, err := collect(t, filepath.Join(dir, "c"), []string{file, write(t, dir, "b", nil)}, records.Options{Schema: schema(t), Lenient: lenient})
			if err != nil && s != nil || err == nil && s.Collection.Graphs != 2 {
				t.Fatalf("found %v", err)
			}
			// Also import the bytes unframed.
			raw := write(t, dir, "raw", append(bytes.Clone(a), b...))
			_, _, _ = collect(t, filepath.Join(dir, "d"), []string{raw}, records.Options{Schema: schema(t), Lenient: lenient})
		})
	})
}
