package picked_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(4) // a check makes two stores
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

func texts(name string, values ...string) *graph.Column {
	c := &graph.Column{Name: name, DType: graph.String, Rows: len(values), StringOffsets: graph.Index{U64: []uint64{0}}}
	for _, v := range values {
		c.Values = append(c.Values, v...)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}

func numbers[T graph.Numbers](name string, d graph.DType, values []T) *graph.Column {
	return &graph.Column{Name: name, DType: d, Rows: len(values), Values: graph.Bytes(values)}
}

// drawGraph is a graph of one node type with original ids and columns of all kinds that a file has.
func drawGraph(t *rapid.T) *picked.Graph {
	n := rapid.IntRange(1, 8).Draw(t, "nodes")
	name := rapid.StringMatching(`[a-zé<&"' ]{0,5}x`)
	var ids, labels []string
	var ints []int64
	var doubles []float64
	var floats []float32
	var bools []uint8
	g := &picked.Graph{NodeTypes: []picked.NodeType{{Type: "a & b"}}, EdgeTypes: []picked.EdgeType{{Type: graph.EdgeType{Src: "a & b", Rel: "r", Dst: "a & b"}}}}
	for i := range n {
		ids, labels = append(ids, strconv.Itoa(i)+name.Draw(t, "id")), append(labels, name.Draw(t, "label"))
		ints = append(ints, rapid.Int64().Draw(t, "integer"))
		doubles = append(doubles, rapid.Float64Range(-1e300, 1e300).Draw(t, "double"))
		floats = append(floats, rapid.Float32Range(-1e30, 1e30).Draw(t, "float"))
		bools = append(bools, uint8(rapid.IntRange(0, 1).Draw(t, "bool")))
		g.Nodes = append(g.Nodes, picked.Node{Number: uint64(i), Row: i, Hop: -1})
	}
	g.NodeTypes[0].IDs = texts("ids", ids...)
	g.NodeTypes[0].Columns = []*graph.Column{texts("label <&\"", labels...), numbers("number", graph.Int64, ints), numbers("d", graph.Float64, doubles),
		numbers("f", graph.Float32, floats), {Name: "b", DType: graph.Bool, Rows: n, Values: bools}}
	var weights []float32
	for i := range rapid.IntRange(1, 10).Draw(t, "edges") {
		g.Edges = append(g.Edges, picked.Edge{Source: rapid.IntRange(0, n-1).Draw(t, "source"), Target: rapid.IntRange(0, n-1).Draw(t, "target"), Number: uint64(i), Row: i})
		weights = append(weights, rapid.Float32Range(-1e30, 1e30).Draw(t, "weight"))
	}
	g.EdgeTypes[0].Columns = []*graph.Column{numbers("w", graph.Float32, weights)}
	return g
}

// importFile imports a file as a store.
func importFile(file, out string) (_ *store.Store, err error) {
	s, err := ingest.Open(ctx, disk, file, ingest.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := store.Create(disk, out, true)
	if err != nil {
		return nil, err
	}
	r, err := assemble.Build(ctx, disk, w, s.Input, assemble.Options{Threads: 1, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
	if err == nil {
		err = w.Seal(ctx, r.Meta, 1)
	}
	if err == nil {
		err = w.Publish()
	}
	if err = errors.Join(err, w.Abort()); err != nil {
		return nil, err
	}
	return store.Open(disk, out)
}

// rowsOf are all values of a graph as texts: of nodes by their ids, and of edges in their order.
func rowsOf(nodes, edges []*graph.Column, n, m int, id func(int) string, ends func(int) string) (out []string) {
	row := func(head string, columns []*graph.Column, i int) {
		for _, c := range columns {
			v := picked.ValueOf(c, i)
			if v.Kind == picked.Integer || v.Kind == picked.Number { // JSON has one type of integers, and one of floats
				v.Text = strconv.FormatFloat(float64(float32(v.Of)), 'g', -1, 32)
				if c.DType == graph.Int64 {
					v.Text = strconv.FormatInt(int64(binary.LittleEndian.Uint64(c.Values[8*i:])), 10)
				} else if c.DType == graph.Float64 && c.Name == "d" {
					v.Text = strconv.FormatFloat(v.Of, 'g', -1, 64)
				}
			}
			head += "|" + c.Name + "=" + v.Text
		}
		out = append(out, head)
	}
	for i := range n {
		row(id(i), nodes, i)
	}
	for i := range m {
		row(ends(i), edges, i)
	}
	return out
}

// columnsNamed are the columns of some names, in the order of the names.
func columnsNamed(columns []*graph.Column, names ...string) (out []*graph.Column) {
	for _, name := range names {
		out = append(out, graph.FindColumn(columns, name))
	}
	return out
}

// Our own importer reads both files as the graph that they were made of.
func TestFilesComeBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		json, err := g.NodeLink()
		if err != nil {
			t.Fatal(err)
		}
		nodeNames, edgeNames := []string{"label <&\"", "number", "d", "f", "b"}, []string{"w"}
		want := rowsOf(columnsNamed(g.NodeTypes[0].Columns, nodeNames...), columnsNamed(g.EdgeTypes[0].Columns, edgeNames...), len(g.Nodes), len(g.Edges),
			func(i int) string { return g.ID(&g.Nodes[i]).Text },
			func(i int) string {
				return g.ID(&g.Nodes[g.Edges[i].Source]).Text + ">" + g.ID(&g.Nodes[g.Edges[i].Target]).Text
			})
		for name, b := range map[string][]byte{"g.graphml": g.GraphML(), "g.json": json} {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, b, 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := importFile(file, filepath.Join(dir, "store"))
			if err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			n, e := s.Graph.Nodes[0], s.Graph.Edges[0]
			order := make([]int, e.Count) // edge ids in the order of the file
			for id := range order {
				order[store.PositionAt(graph.FindColumn(e.Columns, graph.PositionColumn), id)] = id
			}
			id := func(i int) string { return string(n.IDs.Text(i)) }
			got := rowsOf(columnsNamed(n.Columns, nodeNames...), nil, n.Count, 0, id, nil)
			edges := rowsOf(nil, columnsNamed(e.Columns, edgeNames...), 0, e.Count, nil, func(i int) string {
				src, dst := e.Ends(i)
				return id(int(src)) + ">" + id(int(dst))
			})
			for _, i := range order {
				got = append(got, edges[i])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s\n%s", name, diff, b)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What a file cannot have is left out, and names are kept apart.
func TestFilesLeaveOut(t *testing.T) {
	g := &picked.Graph{NodeTypes: []picked.NodeType{
		{Type: "a", IDs: texts("ids", "1"), Columns: []*graph.Column{numbers("type", graph.Int64, []int64{7}), numbers("id", graph.Float64, []float64{math.NaN()}), {Name: "v", DType: graph.Int8, Shape: []int{2}, Rows: 1, Values: []byte{1, 2}}}},
		{Type: "b", IDs: texts("ids", "1"), Columns: []*graph.Column{{Name: "at", DType: graph.Int64, Unit: graph.Seconds, Rows: 1, Values: graph.Bytes([]int64{graph.NoTime})}, texts("ctrl", "a\x00b")}},
	}, Nodes: []picked.Node{{}, {Type: 1}}}
	json, err := g.NodeLink()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"directed": true, "multigraph": true, "graph": {},
"nodes": [
{"id": "a:1", "type_": "a", "number": 0, "original_id": "1", "type": 7},
{"id": "b:1", "type_": "b", "number": 0, "original_id": "1", "ctrl": "a\u0000b"}],
"links": []}
`
	if diff := cmp.Diff(want, string(json)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.v"}, g.Left()); diff != "" {
		t.Error(diff)
	}
	xml := string(g.GraphML())
	for _, part := range []string{"<data key=\"n4\">a\uFFFDb</data>", `attr.name="type_"`, `attr.name="id_" attr.type="double"`, ">NaN<"} {
		if !strings.Contains(xml, part) {
			t.Errorf("found no %s in\n%s", part, xml)
		}
	}
}

// Files leave out the values of cells that were empty, and keep zeros that were not.
func TestFilesLeaveMissingOut(t *testing.T) {
	g := &picked.Graph{NodeTypes: []picked.NodeType{{Type: "n", Columns: []*graph.Column{
		numbers("year", graph.Int64, []int64{0, 0}), {Name: "year_missing", DType: graph.Bool, Rows: 2, Values: []byte{1, 0}},
	}}}, Nodes: []picked.Node{{Hop: -1}, {Number: 1, Row: 1, Hop: -1}}}
	b, err := g.NodeLink()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{`"year": 0`: string(b), `<data key="n2">0</data>`: string(g.GraphML())} {
		if n := strings.Count(text, name); n != 1 {
			t.Errorf("found %s %d times, expected it of the second node alone:\n%s", name, n, text)
		}
	}
}
