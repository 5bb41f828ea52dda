package ingest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// saved describes the graphs of a file, as DGL that saved it does. Edges are in the order of their ids. Data are rows
// of numbers or of lists of numbers.
type saved struct {
	Nodes  []map[string]int
	Edges  []map[string][2][]float64
	Data   []map[string][]any
	Labels map[string][]any
}

// flat flattens rows.
func flat(rows []any) (list []float64) {
	for _, r := range rows {
		switch r := r.(type) {
		case float64:
			list = append(list, r)
		case []any:
			list = append(list, flat(r)...)
		}
	}
	return list
}

// number returns value i of a column.
func number(b []byte, d graph.DType, i int) float64 {
	switch d {
	case graph.Int32:
		return float64(graph.View[int32](b)[i])
	case graph.Uint32:
		return float64(graph.View[uint32](b)[i])
	case graph.Bool, graph.Uint8:
		return float64(b[i])
	case graph.Int8:
		return float64(int8(b[i]))
	case graph.Int16:
		return float64(graph.View[int16](b)[i])
	case graph.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	case graph.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	case graph.Float16:
		h := binary.LittleEndian.Uint16(b[2*i:])
		if h>>10&31 == 0 {
			return math.Ldexp(float64(h&1023), -24)
		}
		return math.Ldexp(float64(h&1023+1024), int(h>>10&31)-25)
	case graph.Int64, graph.Uint64:
		return float64(int64(binary.LittleEndian.Uint64(b[8*i:])))
	}
	panic("a dtype that the files do not have: " + d.String())
}

// scan reads a column of a table.
func scan(t *testing.T, tb table.Table, c table.Column) []float64 {
	t.Helper()
	width := 1
	for _, d := range c.Shape {
		width *= d
	}
	var mu sync.Mutex
	chunks := map[uint64][]float64{}
	_, err := tb.Scan(t.Context(), []table.Column{c}, 2, func(_ int, ch *table.Chunk) error {
		var list []float64
		for i := range ch.Rows * width {
			list = append(list, number(ch.Columns[0].Data, c.DType, i))
		}
		mu.Lock()
		defer mu.Unlock()
		chunks[ch.First] = list
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var firsts []uint64
	for f := range chunks {
		firsts = append(firsts, f)
	}
	slices.Sort(firsts)
	var all []float64
	for _, f := range firsts {
		all = append(all, chunks[f]...)
	}
	return all
}

// Files that DGL saved have the edges and data that DGL reports: one graph in all formats and in each alone, with
// 32-bit ids; and several graphs, typed and not, with labels.
func TestDGL(t *testing.T) {
	text, err := os.ReadFile("testdata/dgl/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]saved
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	for name, want := range expected {
		s, err := Open(t.Context(), vfs.OS, filepath.Join("testdata/dgl", name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]float64{}
		add := func(prefix string, tb table.Table, columns []table.Column) {
			for _, c := range columns {
				got[prefix+"."+c.Name] = scan(t, tb, c)
			}
		}
		ends := func(typ string, tb table.Table, src, dst string) {
			got[typ+" src"] = scan(t, tb, table.Column{Name: src, DType: graph.Uint64})
			got[typ+" dst"] = scan(t, tb, table.Column{Name: dst, DType: graph.Uint64})
		}
		if c := s.Collection; c != nil {
			split := func(typ string, x collection.Split) {
				got[typ] = scan(t, x.Table, table.Column{Name: x.Column, DType: graph.Uint64})
			}
			rows := func(prefix string, list []collection.Rows) {
				for _, r := range list {
					for _, col := range r.Columns {
						add(prefix, r.Table, []table.Column{col.Column})
					}
				}
			}
			for _, n := range c.Nodes {
				split(n.Type, n.Split)
				rows(n.Type, n.Tables)
			}
			for _, e := range c.Edges {
				split(e.Type.String(), e.Split)
				ends(e.Type.String(), e.Table, e.Src, e.Dst)
				rows(e.Type.String(), e.Beside)
			}
			rows("label", c.Context)
		} else {
			for _, n := range s.Input.Nodes {
				count := float64(n.Count)
				if n.Table != nil {
					add(n.Type, n.Table, n.Columns)
					rows, err := n.Table.Scan(t.Context(), n.Columns, 1, func(int, *table.Chunk) error { return nil })
					if err != nil {
						t.Fatal(err)
					}
					count = float64(rows)
				}
				got[n.Type] = []float64{count}
			}
			for _, e := range s.Input.Edges {
				ends(e.Type.String(), e.Table, e.Src.Name, e.Dst.Name)
				got[e.Type.String()] = []float64{float64(len(got[e.Type.String()+" src"]))}
				add(e.Type.String(), e.Table, e.Columns)
			}
			if c := s.Input.Context; c != nil {
				add("label", c.Table, c.Columns)
			}
		}
		all := map[string][]float64{}
		for i := range want.Nodes {
			for typ, n := range want.Nodes[i] {
				all[typ] = append(all[typ], float64(n))
			}
			for typ, e := range want.Edges[i] {
				all[typ] = append(all[typ], float64(len(e[0])))
				all[typ+" src"] = append(all[typ+" src"], e[0]...)
				all[typ+" dst"] = append(all[typ+" dst"], e[1]...)
			}
			for c, rows := range want.Data[i] {
				all[c] = append(all[c], flat(rows)...)
			}
		}
		for l, rows := range want.Labels {
			all["label."+l] = flat(rows)
		}
		if d := cmp.Diff(all, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if len(s.Warnings) > 0 {
			t.Errorf("%s: found warnings %v", name, s.Warnings)
		}
	}
}

// Changed bytes give errors that name the place.
func TestDGLErrors(t *testing.T) {
	edit := func(name string, at int64, v uint32) string {
		b, err := os.ReadFile(filepath.Join("testdata/dgl", name))
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(b[at:], v)
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := func(path string) error {
		s, err := Open(t.Context(), vfs.OS, path, Options{})
		if err != nil {
			return err
		}
		return scanAll(s)
	}
	f, err := dgl.OpenGraphs(vfs.OS, "testdata/dgl/csc.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := f.Graph(0)
	if err != nil {
		t.Fatal(err)
	}
	csc := g.Relations[0].CSC
	for _, c := range []struct {
		name string
		at   int64
		v    uint32
		want string
	}{
		{"csc.bin", csc.Indptr.Offset + 4, 1 << 20, "found the offset 1048576 of row 0 after 0, expected offsets that ascend to"},
		{"csc.bin", csc.Indices.Offset, 77, "found source 77 of edge"},
		{"csc.bin", csc.EdgeIDs.Offset, 1 << 31, "expected each id below"},
		{"csc.bin", 8, 7, "found version 7, expected 2"},
		{"all.bin", 4096, 4112, "found the first graph at byte 4112"},
	} {
		if err := all(edit(c.name, c.at, c.v)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %d: found %v, expected %q in it", c.name, c.at, err, c.want)
		}
	}
	if err := all("testdata/dgl/nothing.bin"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, fs.ErrNotExist)
	}
}

// stored builds the store of a source and lists its arrays.
func stored(t *testing.T, fsys vfs.FS, path string) (arrays map[string]string, warnings []string, err error) {
	t.Helper()
	s, err := Open(t.Context(), fsys, path, Options{})
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(t.TempDir(), "s")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	r, err := assemble.Build(t.Context(), fsys, w, s.Input, assemble.Options{Primary: s.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Threads: 2})
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(w.Seal(t.Context(), r.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	arrays = map[string]string{}
	err = filepath.WalkDir(out, func(p string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".npy" {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(out, p)
		arrays[rel] = string(b)
		return err
	})
	return arrays, s.Warnings, err
}

const tinyParts = "../../format/dgl/testdata/tiny"

// A partitioned graph with its original ids equals the original graph, array for array.
func TestParts(t *testing.T) {
	want, _, err := stored(t, vfs.OS, filepath.Join(tinyParts, "graph.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{tinyParts, filepath.Join(tinyParts, "tiny.json")} {
		got, warnings, err := stored(t, vfs.OS, path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" || len(warnings) > 0 {
			t.Errorf("%s: found %v, %v", path, warnings, d)
		}
	}
}

// copied returns a copy of the small partitioned graph.
func copied(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "parts")
	if err := os.CopyFS(dir, os.DirFS(tinyParts)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Without original ids, nodes and edges are in the order of the parts: the same graph except for the numbering of
// nodes.
func TestPartsWithoutOriginals(t *testing.T) {
	dir := copied(t)
	for _, f := range []string{"orig_nids.dgl", "orig_eids.dgl"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), vfs.OS, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "the order is that of the parts") {
		t.Errorf("found %v", s.Warnings)
	}
	degrees := func(s *Source) (list [2][]int) {
		e := s.Input.Edges[0]
		for i, c := range []table.Column{e.Src, e.Dst} {
			list[i] = make([]int, 40)
			for _, v := range scan(t, e.Table, c) {
				list[i][int(v)]++
			}
			slices.Sort(list[i])
		}
		return list
	}
	original, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "graph.bin"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(degrees(original), degrees(s)); d != "" {
		t.Error(d)
	}
}

// Damaged ids and offsets are errors, in all formats of the parts.
func TestPartsErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		at   func(b []byte) int
		v    uint64
		want string
	}{
		// The ends of the first edge, after the headers of COO and of the array.
		{"part0/graph.dgl", func([]byte) int { return 4361 + 209 + 24 + 48 }, 99, "found the end 99, expected one below 34"},
		// The id of node 20 of 34, before the header of the edges' data.
		{"part0/graph.dgl", func(b []byte) int { return strings.Index(string(b), "inner_edge") - 24 - 8*14 }, 99, "found an end with _ID 99, expected an id below 40"},
		{"orig_nids.dgl", func(b []byte) int { return len(b) - 8 }, 40, "found the original id 40 of _N twice or out of range"},
		{"orig_eids.dgl", func(b []byte) int { return len(b) - 8 }, 1 << 63, "found the original id -9223372036854775808 of _N:_E:_N twice or out of range"},
		{"tiny.json", func(b []byte) int { return strings.Index(string(b), "20") - 6 }, binary.LittleEndian.Uint64([]byte("      21")), "expected it to begin at 21"},
	} {
		dir := copied(t)
		name := filepath.Join(dir, c.file)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(b[c.at(b):], c.v)
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		path := dir
		if filepath.Ext(c.file) == ".json" {
			path = name
		}
		if _, _, err := stored(t, vfs.OS, path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.file, err, c.want)
		}
	}
}

// Input positions with gaps keep the order of the edges.
func TestSparseOriginals(t *testing.T) {
	dir := copied(t)
	name := filepath.Join(dir, "orig_eids.dgl")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(b) - 8*83; at < len(b); at += 8 {
		binary.LittleEndian.PutUint64(b[at:], 1000*binary.LittleEndian.Uint64(b[at:])+7)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	want, _, err := stored(t, vfs.OS, filepath.Join(dir, "graph.bin"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := stored(t, vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Features that bool_features names are bools, and so are tensors with DGL's code for bool. A value other than 0 and
// 1 is an error.
func TestPartsBools(t *testing.T) {
	for _, c := range []struct {
		dtype dgl.DType
		named bool
		value byte
		want  graph.DType // 0: an error
	}{{dgl.Uint8, true, 1, graph.Bool}, {dgl.Uint8, false, 1, graph.Uint8}, {dgl.Uint8, false, 2, graph.Uint8}, {dgl.Bool, false, 1, graph.Bool}, {dgl.Uint8, true, 2, 0}, {dgl.Bool, false, 2, 0}} {
		dir := copied(t)
		for p := range 2 {
			l := dgl.DictLayout([]dgl.Tensor{{Name: "_N/mask", DType: c.dtype, Shape: []int64{20}}})
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("part%d/node_feat.dgl", p)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt([]byte{c.value}, l.Slot("_N/mask").Offset+7)
			if err := errors.Join(err, f.Truncate(l.Size()), l.WriteLiterals(f), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if config := filepath.Join(dir, "tiny.json"); c.named {
			b, err := os.ReadFile(config)
			if err := errors.Join(err, os.WriteFile(config, bytes.Replace(b, []byte("{"), []byte(`{"bool_features": ["_N/mask"],`), 1), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), vfs.OS, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		column := s.Input.Nodes[0].Columns[0]
		if err = scanAll(s); c.want == 0 {
			if err == nil || !strings.Contains(err.Error(), `tiny.json: found the value 2 in "mask" of _N, expected 0 or 1`) {
				t.Errorf("%v: found %v", c, err)
			}
		} else if err != nil || column.DType != c.want {
			t.Errorf("%v: found %v, %v", c, column.DType, err)
		}
	}
}

// Any call that fails while parts are opened and read is an error.
func TestPartsFailingCalls(t *testing.T) {
	all := func(fsys vfs.FS) error {
		s, err := Open(t.Context(), fsys, tinyParts, Options{})
		if err != nil {
			return err
		}
		return scanAll(s)
	}
	count := &vfs.Fault{FS: vfs.OS}
	if err := all(count); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		if err := all(&vfs.Fault{FS: vfs.OS, FailAt: i, Err: io.ErrClosedPipe}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("call %d of %d: found %v, expected the error", i, count.Calls(), err)
		}
	}
}

// Reading files with any bytes ends with rows or with an error.
func TestDGLAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	damage := func(name string) (undo func()) {
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		at := r.IntN(len(bad) - 8)
		if len(bad) > 4096 && at < 4096 {
			at = 4096 + r.IntN(len(bad)-4104)
		}
		binary.LittleEndian.PutUint64(bad[at:], []uint64{0, 1, 7, 1 << 20, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}[r.IntN(8)])
		write := func(b []byte) {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(bad)
		return func() { write(good) }
	}
	read := func(path string) {
		s, err := Open(t.Context(), vfs.OS, path, Options{})
		if err != nil {
			return
		}
		if c := s.Collection; c != nil {
			for _, e := range c.Edges {
				_, _ = e.Table.Scan(t.Context(), []table.Column{{Name: e.Src, DType: graph.Uint64}, {Name: e.Dst, DType: graph.Uint64}}, 2, func(int, *table.Chunk) error { return nil })
			}
			return
		}
		_ = scanAll(s) // may return an error, but must not panic
	}
	parts, graphs := copied(t), filepath.Join(t.TempDir(), "graphs")
	if err := os.CopyFS(graphs, os.DirFS("testdata/dgl")); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		name := filepath.Join(graphs, []string{"all.bin", "csc.bin", "csr.bin", "many.bin", "mixed.bin"}[i%5])
		path := name
		if i%2 == 0 {
			name, path = filepath.Join(parts, []string{"tiny.json", "part0/graph.dgl", "part1/graph.dgl", "orig_nids.dgl", "orig_eids.dgl"}[i/2%5]), parts
		}
		undo := damage(name)
		read(path)
		undo()
	}
}
