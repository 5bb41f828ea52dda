package dglchunks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/dglchunks"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(8) // a check makes four folders of many files
	goleak.VerifyTestMain(m)
}

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// publish makes an output folder.
func publish(fsys vfs.FS, out string, meta *store.Meta, write func(w *store.Writer) error) error {
	w, err := store.Create(fsys, out, true)
	if err != nil {
		return err
	}
	err = write(w)
	if err == nil {
		err = w.Seal(context.Background(), meta, 1)
	}
	if err == nil {
		err = w.Publish()
	}
	return errors.Join(err, w.Abort())
}

// load imports a source as a store.
func load(path, out string, opt assemble.Options) error {
	s, err := ingest.Open(context.Background(), disk, path, ingest.Options{})
	if err != nil {
		return err
	}
	opt.Threads, opt.SelfLoops, opt.DuplicateEdges = 2, assemble.Keep, assemble.Keep
	meta := &store.Meta{}
	return publish(disk, out, meta, func(w *store.Writer) error {
		r, err := assemble.Build(context.Background(), disk, w, s.Input, opt)
		if err == nil {
			*meta = *r.Meta
		}
		return err
	})
}

// write exports a store.
func write(fsys vfs.FS, in, out string, opt dglchunks.Options) (r *dglchunks.Result, err error) {
	s, err := store.Open(disk, in)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	err = publish(fsys, out, nil, func(w *store.Writer) (err error) {
		r, err = dglchunks.Write(context.Background(), fsys, w, s, opt)
		return err
	})
	return r, err
}

// sums returns the checksums of a folder, except of the file that says how it was made.
func sums(t interface{ Fatal(...any) }, dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, store.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// source is a graph in the form of graph.yaml.
type source struct {
	dir    string
	listed strings.Builder
}

// column adds an array of random numbers.
func (s *source) column(t *rapid.T, typ, name string, rows int, dtypes []graph.DType) {
	d := rapid.SampledFrom(dtypes).Draw(t, "dtype")
	shape := rapid.SampledFrom([][]int{nil, {1}, {3}, {2, 2}}).Draw(t, "shape")
	n := rows
	for _, k := range shape {
		n *= k
	}
	data := make([]byte, n*d.Size())
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 0))
	for i := range data {
		data[i] = byte(r.Uint32())
		if d == graph.Bool {
			data[i] &= 1
		}
		if d == graph.Uint64 && i%8 == 7 {
			data[i] &= 0x7f
		}
	}
	file := filepath.Join(s.dir, typ+name+".npy")
	if err := os.WriteFile(file, append(header(store.Descr(d), append([]int{rows}, shape...)), data...), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&s.listed, "      %s: {file: %s}\n", name, filepath.Base(file))
}

func header(descr string, shape []int) []byte {
	text := fmt.Sprintf("{'descr': '<%s', 'fortran_order': False, 'shape': (", descr)
	for _, d := range shape {
		text += fmt.Sprintf("%d,", d)
	}
	text += "), }"
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), 118), text...)
}

// plain are the dtypes that DGL's tools accept.
var plain = []graph.DType{graph.Uint8, graph.Int8, graph.Int32, graph.Int64, graph.Float16, graph.Float32, graph.Float64}

// draw makes a store of two node and three edge types.
func draw(t *rapid.T, dir string, dtypes []graph.DType, opt assemble.Options) string {
	s := &source{dir: filepath.Join(dir, "in")}
	if err := errors.Join(os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{"a": rapid.IntRange(1, 9).Draw(t, "a"), "b": rapid.IntRange(1, 30).Draw(t, "b")}
	s.listed.WriteString("nodes:\n")
	for _, typ := range []string{"a", "b"} {
		fmt.Fprintf(&s.listed, "  %s:\n    columns:\n", typ)
		for c := range rapid.IntRange(1, 2).Draw(t, "columns") {
			s.column(t, typ, fmt.Sprint("c", c), counts[typ], dtypes)
		}
	}
	s.listed.WriteString("edges:\n")
	for _, typ := range []string{"a:r:b", "b:r:a", "b:s:b"} {
		n := rapid.IntRange(0, 60).Draw(t, "edges")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "ends"), 0))
		src, dst := counts[typ[:1]], counts[typ[4:]]
		var text strings.Builder
		text.WriteString("src,dst\n")
		for range n {
			fmt.Fprintf(&text, "%d,%d\n", r.IntN(src), r.IntN(dst))
		}
		file := strings.ReplaceAll(typ, ":", "")
		if err := os.WriteFile(filepath.Join(s.dir, file+".csv"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&s.listed, "  %q:\n    table: %s.csv\n", typ, file)
		if n > 0 && rapid.Bool().Draw(t, "columns") {
			s.listed.WriteString("    columns:\n")
			s.column(t, file, "w", n, dtypes)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "graph.yaml"), []byte(s.listed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "store")
	if err := load(s.dir, out, opt); err != nil {
		t.Fatal(err)
	}
	return out
}

// small is a bound that three threads can keep.
const small = 80 << 20

func drawOptions(t *rapid.T) dglchunks.Options {
	return dglchunks.Options{
		Name:     "g",
		Chunks:   rapid.SampledFrom([]int{1, 2, 3, 50}).Draw(t, "chunks"),
		Edges:    rapid.SampledFrom([]string{"csv", "numpy", "parquet"}).Draw(t, "edges"),
		Features: rapid.SampledFrom([]string{"numpy", "parquet"}).Draw(t, "features"),
		Threads:  rapid.IntRange(1, 3).Draw(t, "threads"),
		Memory:   rapid.SampledFrom([]int64{0, small}).Draw(t, "memory"),
	}
}

// A store that is cut into chunks and imported again has the same bytes.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t, dir, plain, assemble.Options{Primary: rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(t, "primary")})
		s, err := store.Open(disk, in)
		if err != nil {
			t.Fatal(err)
		}
		primary := s.Graph.Edges[0].Primary
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		opt := drawOptions(t)
		r, err := write(disk, in, filepath.Join(dir, "chunks"), opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Left)+len(r.Changed) > 0 {
			t.Fatalf("found %+v, expected nothing left or changed", r)
		}
		again := filepath.Join(dir, "again")
		if err := load(filepath.Join(dir, "chunks"), again, assemble.Options{Primary: primary}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sums(t, in), sums(t, again)); diff != "" {
			t.Fatal(diff)
		}
		// The number of threads and the memory do not affect the result.
		opt.Threads, opt.Memory = opt.Threads%3+1, small-opt.Memory
		if _, err := write(disk, in, filepath.Join(dir, "other"), opt); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sums(t, filepath.Join(dir, "chunks")), sums(t, filepath.Join(dir, "other"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Numbers of other dtypes are written with a dtype that can hold them, and named.
func TestOtherDTypes(t *testing.T) {
	dir := t.TempDir()
	wide := map[string]string{"bool": "uint8", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t, dir, []graph.DType{graph.Bool, graph.Int16, graph.Uint16, graph.Uint32, graph.Uint64}, assemble.Options{})
		r, err := write(disk, in, filepath.Join(dir, "chunks"), drawOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		again := filepath.Join(dir, "again")
		if err := load(filepath.Join(dir, "chunks"), again, assemble.Options{}); err != nil {
			t.Fatal(err)
		}
		a, err := store.Open(disk, in)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := store.Open(disk, again)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		var changed []string
		compare := func(of string, x, y []*graph.Column) {
			for i, c := range x {
				if c.Name == graph.PositionColumn {
					continue
				}
				d := y[i]
				changed = append(changed, fmt.Sprintf("%s.%s: %s as %s", of, c.Name, c.DType, d.DType))
				if d.DType.String() != wide[c.DType.String()] || !slices.Equal(c.Shape, d.Shape) || !slices.Equal(integers(c), integers(d)) {
					t.Errorf("%s.%s: found %s %v %v, expected %s %v %v", of, c.Name, d.DType, d.Shape, integers(d), c.DType, c.Shape, integers(c))
				}
			}
		}
		for i, n := range a.Graph.Nodes {
			compare(n.Type, n.Columns, b.Graph.Nodes[i].Columns)
		}
		for i, e := range a.Graph.Edges {
			compare(e.Type.String(), e.Columns, b.Graph.Edges[i].Columns)
		}
		if diff := cmp.Diff(changed, r.Changed); diff != "" {
			t.Error(diff)
		}
	})
}

// integers are the values of a column.
func integers(c *graph.Column) (out []int64) {
	le := binary.LittleEndian
	for b := c.Values; len(b) > 0; b = b[c.DType.Size():] {
		switch c.DType {
		case graph.Bool, graph.Uint8:
			out = append(out, int64(b[0]))
		case graph.Int16:
			out = append(out, int64(int16(le.Uint16(b))))
		case graph.Uint16:
			out = append(out, int64(le.Uint16(b)))
		case graph.Int32:
			out = append(out, int64(int32(le.Uint32(b))))
		case graph.Uint32:
			out = append(out, int64(le.Uint32(b)))
		default:
			out = append(out, int64(le.Uint64(b)))
		}
	}
	return out
}

// folder writes a graph.yaml and its files, and imports them.
func folder(t *testing.T, files map[string]string, opt assemble.Options) string {
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "store")
	if err := load(dir, out, opt); err != nil {
		t.Fatal(err)
	}
	return out
}

var options = dglchunks.Options{Name: "g", Chunks: 2, Edges: "csv", Features: "numpy", Threads: 1}

// Columns that the format cannot hold are named. Edges are in the order of their input, an edge before its reverse.
func TestLeft(t *testing.T) {
	in := folder(t, map[string]string{
		"graph.yaml": "nodes:\n  a: {table: a.csv, id: id}\nedges:\n  \"a:r:a\": {table: e.csv}\n",
		"a.csv":      "id,name,list,x\nu,one,1 2,1.5\nv,two,3,2.5\nw,three,4,3.5\n",
		"e.csv":      "src,dst\nw,u\nu,v\nv,v\n",
	}, assemble.Options{})
	out := filepath.Join(t.TempDir(), "out")
	r, err := write(disk, in, out, options)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"original ids of a", "a.list", "a.name"}; !slices.Equal(r.Left, want) {
		t.Errorf("found %q left, expected %q", r.Left, want)
	}
	if r.Nodes != 3 || r.Edges != 3 || r.Files != 4 || r.Rows != 6 {
		t.Errorf("found %+v", r)
	}
	for name, want := range map[string]string{"edges/a+r+a-00000.csv": "2 0\n0 1\n", "edges/a+r+a-00001.csv": "1 1\n"} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || string(b) != want {
			t.Errorf("%s: found %q, %v, expected %q", name, b, err, want)
		}
	}
}

// An edge and its reverse have the same position in the input and are in the order of their ids. Positions that are
// far apart are sorted too.
func TestPositions(t *testing.T) {
	var text strings.Builder
	text.WriteString("src,dst\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%d\n", i%7, i%7)
	}
	text.WriteString("5,6\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "e.csv"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opt        assemble.Options
		symmetrise bool
		want       string
	}{{assemble.Options{SelfLoops: assemble.Drop}, true, "6 5\n5 6\n"}, {assemble.Options{SelfLoops: assemble.Drop}, false, "5 6\n"}} {
		s, err := ingest.Open(context.Background(), disk, filepath.Join(dir, "e.csv"), ingest.Options{Symmetrise: c.symmetrise})
		if err != nil {
			t.Fatal(err)
		}
		in, meta := filepath.Join(dir, "store"), &store.Meta{}
		if err := publish(disk, in, meta, func(w *store.Writer) error {
			r, err := assemble.Build(context.Background(), disk, w, s.Input, c.opt)
			if err == nil {
				*meta = *r.Meta
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		opt := options
		opt.Chunks = 1
		if _, err := write(disk, in, filepath.Join(dir, "out"), opt); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "out", "edges", "_N+_E+_N-00000.csv"))
		if err != nil || string(b) != c.want {
			t.Errorf("symmetrise %v: found %q, %v, expected %q", c.symmetrise, b, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	in := folder(t, map[string]string{
		"graph.yaml": "nodes:\n  a: {columns: {n: {file: n.npy}}}\nedges:\n  \"a:r:a\": {table: e.csv}\n",
		"e.csv":      "src,dst\n0,1\n",
		"n.npy":      string(header("u8", []int{2})) + strings.Repeat("\x00", 8) + strings.Repeat("\xff", 8),
	}, assemble.Options{})
	for _, c := range []struct {
		change func(o *dglchunks.Options)
		want   string
	}{
		{func(o *dglchunks.Options) {}, "a.n: row 1: found a number above the largest int64"},
		{func(o *dglchunks.Options) { o.Features = "parquet" }, "a.n: row 1: found a number above the largest int64"},
		{func(o *dglchunks.Options) { o.Chunks = 0 }, "found 0 chunks, expected 1 to 100000"},
		{func(o *dglchunks.Options) { o.Edges = "orc" }, `found edges as "orc"`},
		{func(o *dglchunks.Options) { o.Features = "csv" }, `found features as "csv", expected numpy or parquet`},
		{func(o *dglchunks.Options) { o.Name = "" }, `found graph name ""`},
	} {
		opt := options
		c.change(&opt)
		out := filepath.Join(t.TempDir(), "out")
		if _, err := write(disk, in, out, opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %s", err, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("found an output after an error")
		}
	}
}

// A call that fails gives an error or does not affect the result.
func TestFaults(t *testing.T) {
	in := folder(t, map[string]string{
		"graph.yaml": "nodes:\n  a: {columns: {n: {file: n.npy}}}\nedges:\n  \"a:r:a\": {table: e.csv}\n",
		"e.csv":      "src,dst\n0,1\n1,1\n",
		"n.npy":      string(header("f4", []int{2})) + strings.Repeat("\x00", 8),
	}, assemble.Options{})
	for _, parquet := range []bool{false, true} {
		opt := options
		if parquet {
			opt.Edges, opt.Features = "parquet", "parquet"
		}
		want := filepath.Join(t.TempDir(), "want")
		if _, err := write(disk, in, want, opt); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		for at := int64(1); ; at++ {
			fault := &vfs.Fault{FS: disk, FailAt: at, Err: errors.New("disk full")}
			_, err := write(fault, in, out, opt)
			if at > fault.Calls() {
				break
			}
			if err == nil && sums(t, out) != sums(t, want) {
				t.Fatalf("call %d of %d failed unseen", at, fault.Calls())
			}
		}
	}
}

// A bound that a row group of Parquet exceeds is refused, and the error names the need, which is less for a small graph.
func TestLeastMemory(t *testing.T) {
	edges := strings.Repeat("0,1\n", 1_000_000)
	for _, c := range []struct {
		edges, features string
		memory          int64
		want            string
	}{
		{edges, "parquet", 71 << 20, "found `Memory` 71.0 MiB, expected at least 72.0 MiB for Parquet with 2 threads"},
		{edges, "numpy", 41 << 20, ""},
		{"0,1\n", "parquet", 42<<20 + 32, ""},
		{"0,1\n", "parquet", 42 << 20, "expected at least 42.0 MiB for Parquet"},
	} {
		in := folder(t, map[string]string{"graph.yaml": "nodes:\n  a: {count: 2}\nedges:\n  \"a:r:a\": {table: e.csv}\n", "e.csv": "src,dst\n" + c.edges}, assemble.Options{})
		opt := dglchunks.Options{Name: "g", Chunks: 1, Edges: "csv", Features: c.features, Threads: 2, Memory: c.memory}
		if _, err := write(disk, in, filepath.Join(t.TempDir(), "out"), opt); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}
