package sample

import (
	"context"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// A sampler with edges reads its longest list; one without edges has no list to read.
func TestRandomReads(t *testing.T) {
	for edges, want := range map[int]int64{0: 0, 3: 12} {
		g := starGraph(edges)
		s, err := New(g, &Plan{SeedType: []string{"v"}, Hops: 1, Ops: []Op{{From: []int{0}, Edges: g.Edges[0].Type.String(), Dir: graph.In, Take: 2}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rate, bytes, err := s.RandomReads(context.Background(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if bytes != want || rate > 0 != (want > 0) {
			t.Errorf("%d edges: found %g reads per second of %d bytes, expected some of %d", edges, rate, bytes, want)
		}
		s.Close()
	}
}

// starGraph has 4 nodes of type v and the first edges of those that lead from each to node 0.
func starGraph(edges int) *graph.Graph {
	a := &graph.Adjacency{Indptr: graph.Index{U32: []uint32{0, uint32(edges), uint32(edges), uint32(edges), uint32(edges)}}, Far: graph.Index{U32: []uint32{1, 2, 3}[:edges]}}
	return &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "v", Count: 4}},
		Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "v", Rel: "e", Dst: "v"}, Count: edges, Primary: graph.In, Adj: [2]*graph.Adjacency{graph.In: a}}},
	}
}
