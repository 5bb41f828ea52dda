package feed

import (
	"math/rand/v2"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// testGraph has nodes of two types, edges between and among them, and columns whose values identify the row.
func testGraph() *graph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	edges := func(name string, near, far, degree int) *graph.Edges {
		e, _ := graph.ParseEdgeType(name)
		var ptr, to, position []uint32
		ptr = append(ptr, 0)
		for range near {
			for range r.IntN(2 * degree) {
				to = append(to, uint32(r.IntN(far)))
			}
			ptr = append(ptr, uint32(len(to)))
		}
		for i := range to {
			position = append(position, uint32(7*i%len(to)))
		}
		return &graph.Edges{Type: e, Count: len(to), Primary: graph.In,
			Adj:     [2]*graph.Adjacency{{Indptr: graph.Index{U32: ptr}, Far: graph.Index{U32: to}}},
			Columns: []*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint32, Rows: len(to), Values: graph.Bytes(position)}}}
	}
	nodes := func(name string, n int) *graph.Nodes {
		x := make([]float32, 3*n)
		for i := range x {
			x[i] = float32(i)
		}
		return &graph.Nodes{Type: name, Count: n, Columns: []*graph.Column{
			{Name: "s", DType: graph.String, Rows: n},
			{Name: "x", DType: graph.Float32, Shape: []int{3}, Rows: n, Values: graph.Bytes(x)},
		}}
	}
	g := &graph.Graph{
		Nodes: []*graph.Nodes{nodes("item", 300), nodes("user", 500)},
		Edges: []*graph.Edges{edges("item:liked_by:user", 500, 300, 4), edges("user:follows:user", 500, 500, 6)},
	}
	g.Sort()
	return g
}

// source is batches of 16 of all users, shuffled.
func source(t *testing.T, f Features, ops bool) *Source {
	t.Helper()
	g := testGraph()
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{4, 3}}, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch, Expand: sample.ExpandAll})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, p, sample.Options{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	job := sample.Job{BatchSize: 16, Seed: 9, Shuffle: true}
	for v := range uint32(500) {
		job.Seeds = append(job.Seeds, v)
	}
	src, err := NewSource(s, job, f, ops)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
