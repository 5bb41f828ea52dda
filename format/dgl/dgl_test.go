package dgl

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
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

// buffer is a file in memory.
type buffer []byte

func (m buffer) WriteAt(b []byte, at int64) (int, error) { return copy(m[at:], b), nil }

// written returns the file of a layout. The bytes of each slot count up from 1.
func written(t testing.TB, l *Layout) []byte {
	t.Helper()
	m := make(buffer, l.Size())
	for i := range m {
		m[i] = 0xee // every byte must be overwritten
	}
	if err := l.WriteLiterals(m); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.slots {
		for i := range s.Size {
			m[s.Offset+i] = byte(i + 1)
		}
	}
	return m
}

var dtypes = []DType{Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float16, Float32, Float64, BFloat16, Bool}

func drawTensors(t *rapid.T, label string, rows int64) (list []Tensor) {
	for i := range rapid.IntRange(0, 4).Draw(t, label) {
		x := Tensor{Name: fmt.Sprintf("%s/%d", rapid.StringN(0, 5, 20).Draw(t, "name"), i), DType: rapid.SampledFrom(dtypes).Draw(t, "dtype"), Shape: []int64{rows}}
		if rows < 0 {
			x.Shape[0] = rapid.Int64Range(0, 9).Draw(t, "rows")
		}
		for range rapid.IntRange(0, 2).Draw(t, "dimensions") {
			x.Shape = append(x.Shape, rapid.Int64Range(0, 3).Draw(t, "dimension"))
		}
		list = append(list, x)
	}
	return list
}

// arrays returns tensors at the places of a layout.
func arrays(l *Layout, prefix string, list []Tensor) (out []Array) {
	for _, x := range list {
		out = append(out, Array{x, l.Slot(prefix + x.Name)})
	}
	return out
}

// Arrays are read at the places of the layout, and they fill the file.
func TestDictRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := drawTensors(rt, "tensors", -1)
		l := DictLayout(list)
		d, err := OpenDict(memory{b: written(t, l)}, "d")
		if err != nil {
			rt.Fatal(err)
		}
		defer d.Close()
		if diff := cmp.Diff(arrays(l, "", list), d.Tensors); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestGraphRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := GraphSpec{Nodes: rapid.Int64Range(0, 20).Draw(rt, "nodes"), Edges: rapid.Int64Range(0, 50).Draw(rt, "edges"),
			Formats: Formats(rapid.IntRange(1, 7).Draw(rt, "formats"))}
		s.NodeData, s.EdgeData = drawTensors(rt, "ndata", s.Nodes), drawTensors(rt, "edata", s.Edges)
		l := GraphLayout(s)
		f, err := OpenGraphs(memory{b: written(t, l)}, "g")
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		g, err := f.Graph(0)
		if err != nil {
			rt.Fatal(err)
		}
		ids := func(slot, name string, n int64) Array {
			return Array{Tensor{name, Int64, []int64{n}}, l.Slot(slot)}
		}
		want := &Graph{
			NodeTypes: []NodeType{{"_N", s.Nodes, arrays(l, "ndata/", s.NodeData)}},
			Relations: []Relation{{Name: "_E", Edges: s.Edges, Data: arrays(l, "edata/", s.EdgeData)}},
		}
		r := &want.Relations[0]
		if s.Formats&COO != 0 {
			r.COO = &Pairs{Src: ids("coo/src", "src", s.Edges), Dst: ids("coo/dst", "dst", s.Edges), EdgeIDs: g.Relations[0].COO.EdgeIDs}
		}
		rows := func(f string) *Rows {
			return &Rows{ids(f+"/indptr", "indptr", s.Nodes+1), ids(f+"/indices", "indices", s.Edges), ids(f+"/eids", "edge ids", s.Edges)}
		}
		if s.Formats&CSR != 0 {
			r.CSR = rows("csr")
		}
		if s.Formats&CSC != 0 {
			r.CSC = rows("csc")
		}
		if diff := cmp.Diff(want, g); diff != "" {
			rt.Fatal(diff)
		}
		if f.Len() != 1 || g.Relations[0].Formats() != s.Formats || f.Labels != nil {
			rt.Fatalf("found %d graphs, formats %s, labels %v", f.Len(), g.Relations[0].Formats(), f.Labels)
		}
	})
}

// The empty dict has the bytes that DGL writes if there are no features.
func TestEmptyDict(t *testing.T) {
	want := binary.LittleEndian.AppendUint64(nil, magicDict)
	want = append(want, make([]byte, 16)...)
	if got := written(t, DictLayout(nil)); !bytes.Equal(got, want) {
		t.Errorf("found %x, expected %x", got, want)
	}
}

// remakeGraph lays out a file again from its headers, and copies its arrays.
func remakeGraph(t testing.TB, name string) []byte {
	t.Helper()
	f, err := OpenGraphs(vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := f.Graph(0)
	if err != nil {
		t.Fatal(err)
	}
	r := &g.Relations[0]
	s := GraphSpec{Nodes: g.NodeTypes[0].Nodes, Edges: r.Edges, Formats: r.Formats()}
	data := map[string]Array{}
	if r.COO != nil {
		data["coo/src"], data["coo/dst"] = r.COO.Src, r.COO.Dst
	}
	if r.CSR != nil {
		data["csr/indptr"], data["csr/indices"], data["csr/eids"] = r.CSR.Indptr, r.CSR.Indices, r.CSR.EdgeIDs
	}
	if r.CSC != nil {
		data["csc/indptr"], data["csc/indices"], data["csc/eids"] = r.CSC.Indptr, r.CSC.Indices, r.CSC.EdgeIDs
	}
	for _, a := range g.NodeTypes[0].Data {
		s.NodeData, data["ndata/"+a.Name] = append(s.NodeData, a.Tensor), a
	}
	for _, a := range r.Data {
		s.EdgeData, data["edata/"+a.Name] = append(s.EdgeData, a.Tensor), a
	}
	return filled(t, GraphLayout(s), f.File, data)
}

func remakeDict(t testing.TB, name string) []byte {
	t.Helper()
	d, err := OpenDict(vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var list []Tensor
	data := map[string]Array{}
	for _, a := range d.Tensors {
		list, data[a.Name] = append(list, a.Tensor), a
	}
	return filled(t, DictLayout(list), d.File, data)
}

func filled(t testing.TB, l *Layout, f vfs.File, data map[string]Array) []byte {
	m := make(buffer, l.Size())
	if err := l.WriteLiterals(m); err != nil {
		t.Fatal(err)
	}
	for slot, a := range data {
		s := l.Slot(slot)
		if _, err := f.ReadAt(m[s.Offset:][:s.Size], a.Offset); err != nil && s.Size > 0 {
			t.Fatal(err)
		}
	}
	return m
}

// testGoldens makes the files of folders again, with the same bytes.
func testGoldens(t *testing.T, dir string) {
	n := 0
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".dgl" {
			return err
		}
		n++
		want, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var got []byte
		if filepath.Base(name) == "graph.dgl" {
			got = remakeGraph(t, name)
		} else {
			got = remakeDict(t, name)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: found other bytes", name)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("found %d files: %v", n, err)
	}
}

func TestGoldenBytes(t *testing.T) { testGoldens(t, "testdata") }

func TestConfigRoundTrip(t *testing.T) {
	c, err := ReadConfig(vfs.OS, "testdata/tiny/tiny.json", false)
	if err != nil {
		t.Fatal(err)
	}
	if c.GraphName != "tiny" || c.HaloHops != 1 || len(c.Parts) != 2 || !c.homogeneous() || total(c.Nodes) != 40 || total(c.Edges) != 83 {
		t.Fatalf("found %+v", c)
	}
	if bytes.Contains(c.JSON(), []byte("bool_features")) {
		t.Error("found bool_features, expected no such key where there are none")
	}
	c.Bools = []string{"_N/train_mask", `_N:_E:_N/"sure"`}
	again, err := ReadConfig(memory{b: c.JSON()}, "tiny.json", false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, again); d != "" {
		t.Fatal(d)
	}
	if !bytes.Equal(again.JSON(), c.JSON()) {
		t.Error("found another text of the same configuration")
	}
}

func TestBadConfigs(t *testing.T) {
	good, err := os.ReadFile("testdata/tiny/tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	var compact = strings.Join(strings.Fields(string(good)), "")
	for _, c := range []struct{ from, to, want string }{
		{`"num_parts":2`, `"num_parts":0`, "found 0 parts"},
		{`"num_parts":2`, `"num_parts":4000000000`, "found 4000000000 parts"},
		{`"num_parts":2,`, ``, "found no key num_parts"},
		{`"halo_hops":1`, `"halo_hops":-1`, "found halo_hops -1"},
		{`"num_nodes":40`, `"num_nodes":41`, "found num_nodes 41, expected 40"},
		{`"num_edges":83`, `"num_edges":"x"`, "expected the configuration that DGL's partition_graph writes"},
		{`"graph_name":"tiny"`, `"graph_name":""`, "found an empty graph_name"},
		{`[[0,20],[20,40]]`, `[[0,20],[21,40]]`, "found the range [21, 40), expected it to begin at 20"},
		{`[[0,20],[20,40]]`, `[[0,20]]`, "found 1 ranges, expected one for each of 2 parts"},
		{`[[0,20],[20,40]]`, `[[0,20],[20,-5]]`, "found the range [20, -5)"},
		{`[[0,20],[20,40]]`, `"node_map.npy"`, "expected the configuration that DGL's partition_graph writes"},
		{`"_N":0`, `"_N":1`, "found number 1"},
		{`"_N":0`, `"a/b":0`, "found no ranges"},
		{`"_N:_E:_N":0`, `"_E":0`, "found no ranges"},
		{`"part-1":`, `"part-2":`, "found no key part-1"},
		{`"part1/graph.dgl"`, `"/part1/graph.dgl"`, "expected one within the folder"},
		{`"part1/graph.dgl"`, `""`, "expected one within the folder"},
		{`{"graph_name"`, `["graph_name"`, "found no JSON object"},
	} {
		if !strings.Contains(compact, c.from) {
			t.Fatalf("the golden has no %s", c.from)
		}
		_, err := ReadConfig(memory{b: []byte(strings.Replace(compact, c.from, c.to, 1))}, "tiny.json", false)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.to, err, c.want)
		}
	}
}

// A file that is cut anywhere gives an error, from the headers or from the index.
func TestCutFiles(t *testing.T) {
	for _, name := range []string{"testdata/tiny/part0/graph.dgl", "testdata/tiny/orig_nids.dgl"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(b); n += 1 + n%7 {
			if n == 100 {
				n = 4080
			}
			if n >= len(b) {
				break
			}
			if err := readAll(memory{b: b[:n]}, name); !errors.Is(err, ErrFormat) {
				t.Fatalf("%s cut at %d: found %v, expected %v", name, n, err, ErrFormat)
			}
		}
	}
}

// readAll reads all headers of a file.
func readAll(fsys vfs.FS, name string) error {
	if strings.HasSuffix(name, "graph.dgl") {
		f, err := OpenGraphs(fsys, name)
		if err != nil {
			return err
		}
		defer f.Close()
		for i := range f.Len() {
			g, err := f.Graph(i)
			if err != nil {
				return err
			}
			for _, r := range g.Relations {
				if r.Src >= len(g.NodeTypes) || r.Dst >= len(g.NodeTypes) {
					panic("ends of a relation that are no types")
				}
			}
		}
		return nil
	}
	d, err := OpenDict(fsys, name)
	if err != nil {
		return err
	}
	defer d.Close()
	var r IntReader
	for _, a := range d.Tensors {
		if a.DType <= Uint64 && len(a.Shape) == 1 {
			if err := r.Read(d.File, a, 0, make([]int64, a.Rows())); err != nil {
				panic(err)
			}
		}
	}
	return nil
}

// Numbers in headers that exceed the content of the file give errors that say so.
func TestHostileHeaders(t *testing.T) {
	graph, err := os.ReadFile("testdata/tiny/part0/graph.dgl")
	if err != nil {
		t.Fatal(err)
	}
	dict, err := os.ReadFile("testdata/tiny/orig_nids.dgl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   []byte
		at   int
		v    uint64
		want string
	}{
		{dict, 0, 1, "byte 0: found 0x1, expected 0xdd5a9fbe3fa2443f"},
		{dict, 8, 1 << 60, "byte 8: found 1152921504606846976 names, expected at most"},
		{dict, 16, 2, "found 1 names and 2 tensors"},
		{dict, 24, 1 << 40, "found a name of 1099511627776 bytes"},
		{dict, 34, 3, "expected 0xdd5e40f096b4a13f"},
		{dict, 34 + 16, 2, "found an array on device 2"},
		{dict, 34 + 24, 33 | 1<<48 | 64<<40, "found an array of 33 dimensions"},
		{dict, 34 + 24, 1 | 1<<48 | 63<<40, "found type code 0 with 63 bits"},
		{dict, 34 + 32, 1 << 62, "as many values as a file can hold"},
		{dict, 34 + 32, 1<<64 - 1, "found -1 rows"},
		{dict, 34 + 32, 41, "found an array of 320 bytes, expected 328"},
		{graph, 8, 1, "found version 1, expected 2"},
		{graph, 16, 1, "found graph type 1"},
		{graph, 24, 1 << 50, "found 1125899906842624 graphs"},
		{graph, 24, 2, "in the index of 2 graphs"},
		{graph, 4096, 1 << 40, "found the first graph at byte 1099511627776, expected it at 4112"},
		{graph, 4104, 1 << 40, "found 1099511627776 labels"},
		{graph, 4112, 0, "at the start of a graph"},
		{graph, 4120 + 16, 9, "found a graph of 1 and 9 types"},
		{graph, 4329, 1 << 33, "relations, expected at most"},
		{graph, 4345, 0, "found formats 0x0"},
		{graph, 4345, 1<<32 | 8, "found formats 0x100000008"},
		{graph, len(graph) - 8, 8, "the length of the index"},
		{graph, len(graph) - 16, 8, "found graph 0 at byte 8"},
	} {
		b := bytes.Clone(c.of)
		binary.LittleEndian.PutUint64(b[c.at:], c.v)
		name := "orig_nids.dgl"
		if len(c.of) == len(graph) {
			name = "graph.dgl"
		}
		if err := readAll(memory{b: b}, name); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d as %#x: found %v, expected %q in it", c.at, c.v, err, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	f, err := ParseFormats("csc, COO")
	if err != nil || f != COO|CSC || f.String() != "coo,csc" {
		t.Errorf("found %v, %v", f, err)
	}
	if _, err := ParseFormats("coo,xyz"); err == nil {
		t.Error("found no error of xyz")
	}
	for d, want := range map[DType]string{Int8: "int8", Uint64: "uint64", BFloat16: "bfloat16", Float64: "float64"} {
		if d.String() != want {
			t.Errorf("found %s, expected %s", d, want)
		}
	}
}

// homogeneous says whether the graph has no named types.
func (c *Config) homogeneous() bool {
	return len(c.Nodes) == 1 && len(c.Edges) == 1 && c.Nodes[0].Name == "_N" && c.Edges[0].Name == "_N:_E:_N"
}
