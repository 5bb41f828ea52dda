package graph_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
)

func TestDTypeNames(t *testing.T) {
	for d := graph.Bool; d <= graph.String; d++ {
		got, err := graph.ParseDType(d.String())
		if err != nil || got != d {
			t.Errorf("ParseDType(%q) = %v, %v", d, got, err)
		}
		if d != graph.String && d.Size() == 0 {
			t.Errorf("%s has no size", d)
		}
		if d.IsInt() && d.IsFloat() {
			t.Errorf("%s is an integer and a float", d)
		}
	}
	for _, bad := range []string{"", "invalid", "float", "int128", "dtype(99)"} {
		if d, err := graph.ParseDType(bad); err == nil {
			t.Errorf("ParseDType(%q) = %v", bad, d)
		}
	}
	if got := graph.DType(99).String(); got != "dtype(99)" || graph.DType(99).Size() != 0 {
		t.Error(got)
	}
}

func TestEdgeType(t *testing.T) {
	e, err := graph.ParseEdgeType("author:writes:paper")
	if err != nil || e.String() != "author:writes:paper" {
		t.Fatal(e, err)
	}
	if e.Near(graph.In) != "paper" || e.Far(graph.In) != "author" || e.Near(graph.Out) != "author" || e.Far(graph.Out) != "paper" {
		t.Error("ends by direction are wrong")
	}
	for _, bad := range []string{"", "a:b", "a:b:c:d", "a::c", ":b:c"} {
		if e, err := graph.ParseEdgeType(bad); err == nil {
			t.Errorf("ParseEdgeType(%q) = %v", bad, e)
		}
	}
	for name, ok := range map[string]bool{"paper": true, "a b": true, "a.b/c": true, "": false, "a:b": false, "a\nb": false} {
		if err := graph.CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestDirection(t *testing.T) {
	for _, d := range []graph.Direction{graph.In, graph.Out} {
		if got, err := graph.ParseDirection(d.String()); err != nil || got != d {
			t.Errorf("%v, %v", got, err)
		}
	}
	if _, err := graph.ParseDirection("both"); err == nil {
		t.Error("both is no direction")
	}
}

func TestTypesByName(t *testing.T) {
	edges := func(src, rel, dst string) *graph.Edges {
		return &graph.Edges{Type: graph.EdgeType{Src: src, Rel: rel, Dst: dst}}
	}
	g := &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "paper", Columns: []*graph.Column{{Name: "y"}, {Name: "x"}}}, {Type: "author"}},
		Edges: []*graph.Edges{edges("paper", "cites", "paper"), edges("author", "likes", "paper"), edges("author", "likes", "author")},
	}
	g.Sort()
	var order []string
	for _, e := range g.Edges {
		order = append(order, e.Type.String())
	}
	if d := cmp.Diff([]string{"author:likes:author", "author:likes:paper", "paper:cites:paper"}, order); d != "" {
		t.Error(d)
	}
	if g.NodeType("author") != 0 || g.NodeType("venue") != -1 || g.Nodes[1].Columns[0].Name != "x" {
		t.Error("node types or columns are not in order")
	}
	if i, err := g.EdgeType("cites"); err != nil || i != 2 {
		t.Error(i, err)
	}
	if i, err := g.EdgeType("author:likes:paper"); err != nil || i != 1 {
		t.Error(i, err)
	}
	if _, err := g.EdgeType("likes"); err == nil || !strings.Contains(err.Error(), "name the edge type in full") {
		t.Error(err)
	}
	if _, err := g.EdgeType("reads"); err == nil || !strings.Contains(err.Error(), "expected one of author:likes:author") {
		t.Error(err)
	}
}

func TestColumn(t *testing.T) {
	x := &graph.Column{Name: "x", DType: graph.Float32, Shape: []int{2}, Rows: 2, Values: graph.Bytes([]float32{1, 2, 3, 4})}
	if x.RowBytes() != 8 || x.Ragged() || x.Bytes() != 16 {
		t.Error("wrong sizes")
	}
	if d := cmp.Diff([]float32{3, 4}, graph.View[float32](x.Row(1))); d != "" {
		t.Error(d)
	}
	s := &graph.Column{Name: "s", DType: graph.String, Rows: 2, Values: []byte("abc"), StringOffsets: graph.Index{U32: []uint32{0, 1, 3}}}
	if string(s.Text(1)) != "bc" {
		t.Error("wrong text")
	}
	if c := graph.FindColumn([]*graph.Column{x, s}, "s"); c != s || graph.FindColumn(nil, "s") != nil {
		t.Error("wrong column")
	}
	var empty graph.Index
	if empty.Len() != 0 || len(graph.Bytes([]uint64{})) != 0 || graph.View[uint32](nil) != nil {
		t.Error("empty lists are not empty")
	}
}

func TestCheckOffsets(t *testing.T) {
	for _, c := range []struct {
		offsets []uint64
		end     int
		err     string
	}{
		{nil, 0, ""},
		{[]uint64{0}, 0, ""},
		{[]uint64{0, 0, 2, 5}, 5, ""},
		{[]uint64{1, 5}, 5, "found offset 1 at 0"},
		{[]uint64{0, 3, 2, 5}, 5, "found offset 2 at 2"},
		{[]uint64{0, 4}, 5, "found offset 4 at 1, expected offsets that ascend from 0 to 5"},
		{[]uint64{0, 6, 5}, 5, "found offset 5 at 2"},
	} {
		narrow := make([]uint32, len(c.offsets))
		for i, v := range c.offsets {
			narrow[i] = uint32(v)
		}
		for _, x := range []graph.Index{{U64: c.offsets}, {U32: narrow}} {
			err := x.CheckOffsets(c.end)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v to %d: found error %v, expected %q", c.offsets, c.end, err, c.err)
			}
		}
	}
}

// TestEnds checks the ends of each edge of 0>1, 0>3, 2>1, 3>3, in the order of either direction. Node 4 has no edges.
func TestEnds(t *testing.T) {
	index := func(v ...uint64) graph.Index { return graph.Index{U64: v} }
	for primary, test := range map[graph.Direction]struct {
		adj  graph.Adjacency
		want [][2]uint64
	}{
		graph.In:  {graph.Adjacency{Indptr: index(0, 0, 2, 2, 4, 4), Far: index(0, 2, 0, 3)}, [][2]uint64{{0, 1}, {2, 1}, {0, 3}, {3, 3}}},
		graph.Out: {graph.Adjacency{Indptr: index(0, 2, 2, 3, 4, 4), Far: index(1, 3, 1, 3)}, [][2]uint64{{0, 1}, {0, 3}, {2, 1}, {3, 3}}},
	} {
		e := &graph.Edges{Count: 4, Primary: primary}
		e.Adj[primary] = &test.adj
		for id, want := range test.want {
			if src, dst := e.Ends(id); src != want[0] || dst != want[1] {
				t.Errorf("%s: edge %d: found %d>%d, expected %d>%d", primary, id, src, dst, want[0], want[1])
			}
		}
	}
}
