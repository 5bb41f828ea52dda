package sample

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// hubOf is a graph whose edges all lead to node 0, and their weights, of which many are equal and some are no numbers.
func hubOf(edges int) (*graph.Graph, []float32) {
	r := rand.New(rand.NewPCG(1, 2))
	e := &graph.Edges{Type: graph.HomogeneousEdge, Count: edges}
	indptr, far, weight := make([]uint32, edges+2), make([]uint32, edges), make([]float32, edges)
	for i := range edges {
		far[i], weight[i] = uint32(i+1), float32(r.IntN(edges/2))
		if i%7 == 0 {
			weight[i] -= weight[i] / (weight[i] - weight[i]) // NaN
		}
	}
	for v := range edges + 1 {
		indptr[v+1] = uint32(edges)
	}
	e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	e.Columns = []*graph.Column{{Name: "w", DType: graph.Float32, Rows: edges, Values: graph.Bytes(weight)}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: edges + 1}}, Edges: []*graph.Edges{e}}, weight
}

// The largest edges of a hub are read once, then kept, and are the same each time. Those beyond the room are read again.
func TestHubs(t *testing.T) {
	const k = 9
	for _, edges := range []int{hubEdges - 1, hubEdges, 3 * hubEdges} {
		g, weight := hubOf(edges)
		var want []uint32
		for i := range weight {
			if weight[i] == weight[i] {
				want = append(want, uint32(i))
			}
		}
		sort.Slice(want, func(i, j int) bool {
			a, b := want[i], want[j]
			return weight[a] > weight[b] || weight[a] == weight[b] && a > b
		})
		plan := &Plan{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: g.Edges[0].Type.String(), Dir: graph.In, Take: k, How: Top, Column: "w"}}}
		s, err := New(g, plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{hubWords, k - 1} {
			h := &hubs{room: room}
			s.ops[0].drawer.(*topDraws).hubs = h
			for range 3 {
				c := s.NewContext() // what was kept serves all contexts
				sub, err := c.Sample(Input{Seeds: []uint32{0}})
				if err != nil {
					t.Fatal(err)
				}
				if got := sub.Edges[0].ID.U32; !slices.Equal(got, want[:k]) {
					t.Errorf("%d edges: found %v, expected %v", edges, got, want[:k])
				}
			}
			if kept := len(h.kept); kept != 0 != (edges >= hubEdges && room >= k) {
				t.Errorf("%d edges, room for %d: found %d nodes kept", edges, room, kept)
			}
		}
		s.Close()
	}
}

// A hub's edges that depend on the time of the seed, or that are all taken, are not kept.
func TestNoHubs(t *testing.T) {
	g, _ := hubOf(hubEdges)
	op := Op{From: []int{0}, Edges: g.Edges[0].Type.String(), Dir: graph.In, Take: 2, How: Top, Column: "w"}
	all := op
	all.Take = All
	for name, plan := range map[string]*Plan{
		"timed": {SeedType: []string{graph.HomogeneousNode}, Scope: ScopeSeed, Before: &Before{Column: "w"}, Ops: []Op{op}},
		"all":   {SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Ops: []Op{all}},
	} {
		s, err := New(g, plan, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if s.ops[0].drawer.(*topDraws).hubs != nil {
			t.Errorf("%s: found a list of hubs, expected none", name)
		}
		s.Close()
	}
}

// BenchmarkHub is the largest 10 of the 1,000,000 edges of one node.
func BenchmarkHub(b *testing.B) {
	g, _ := hubOf(1_000_000)
	s, err := New(g, &Plan{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: g.Edges[0].Type.String(), Dir: graph.In, Take: 10, How: Top, Column: "w"}}}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for name, h := range map[string]*hubs{"kept": s.ops[0].drawer.(*topDraws).hubs, "read": nil} {
		s.ops[0].drawer.(*topDraws).hubs = h
		b.Run(name, func(b *testing.B) {
			c := s.NewContext()
			for b.Loop() {
				if _, err := c.Sample(Input{Seeds: []uint32{0}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
