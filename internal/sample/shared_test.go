package sample

import (
	"reflect"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// Samplers of one graph share lists, also those of the direction that the graph does not have, and the weights of columns; they draw what samplers that share nothing draw. Those of another graph share nothing.
func TestShared(t *testing.T) {
	typ, err := graph.ParseEdgeType("user:follows:user")
	if err != nil {
		t.Fatal(err)
	}
	weights := &graph.Column{Name: "w", DType: graph.Float32, Rows: 6, Values: graph.Bytes([]float32{1, 2, 3, 4, 5, 6})}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "user", Count: 4}}, Edges: []*graph.Edges{{Type: typ, Count: 6, Primary: graph.In, Columns: []*graph.Column{weights},
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: []uint32{0, 2, 3, 5, 6}}, Far: graph.Index{U32: []uint32{1, 2, 3, 0, 1, 2}}}}}}}
	of := func(g *graph.Graph, shared *Shared, dir graph.Direction, how How, column string) *Sampler {
		t.Helper()
		p, err := FromFanouts(g, Fanouts{Each: []int{1, 1}}, FanoutOptions{SeedType: []string{"user"}, Scope: ScopeBatch, Expand: ExpandNew, Dir: dir, How: how, Column: column})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(g, p, Options{Shared: shared})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	shared := NewShared(g)
	kinds := []struct {
		dir    graph.Direction
		how    How
		column string
	}{{graph.In, Uniform, ""}, {graph.Out, Weighted, "w"}, {graph.Out, Uniform, ""}, {graph.Out, Weighted, "w"}}
	var all []*Sampler
	for _, k := range kinds {
		s, alone := of(g, shared, k.dir, k.how, k.column), of(g, nil, k.dir, k.how, k.column)
		all = append(all, s)
		job := Job{BatchSize: 4, Seeds: []uint32{0, 1, 2, 3}, Seed: 5, Threads: 1}
		if got, want := collect(t, s, job), collect(t, alone, job); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: found %v, expected %v", k, got, want)
		}
	}
	if all[1].adj[0][graph.Out] == nil || all[1].adj[0][graph.Out] != all[2].adj[0][graph.Out] || all[0].adj[0][graph.In] != all[1].adj[0][graph.In] {
		t.Error("found lists that two samplers have made, expected one of each direction")
	}
	if n := len(shared.columns.byWeight); n != 1 {
		t.Errorf("found the weights of %d columns, expected one", n)
	}
	other := *g
	if s := of(&other, shared, graph.Out, Uniform, ""); s.adj[0][graph.Out] == all[1].adj[0][graph.Out] {
		t.Error("found the lists of another graph")
	}
}
