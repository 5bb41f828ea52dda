package sample

import (
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestForesee compares what a walk foresees of a batch with what the sampler makes.
func TestForesee(t *testing.T) {
	g, seeds := rmatGraph(t, 12, 16)
	for name, want := range map[string]Plan{
		"batch":         {Scope: ScopeBatch},
		"seed":          {Scope: ScopeSeed},
		"expand all":    {Scope: ScopeBatch, Expand: ExpandAll},
		"bidirectional": {Scope: ScopeBatch, Kind: Bidirectional},
		"induced":       {Scope: ScopeBatch, Kind: Induced},
	} {
		p, err := FromFanouts(g, Fanouts{Each: []int{10, 5}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: want.Scope, Expand: want.Expand})
		if err != nil {
			t.Fatal(name, err)
		}
		p.Kind = want.Kind
		s, err := New(g, p, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		job := Job{Seeds: seeds, BatchSize: 256, Shuffle: true, Seed: 3}
		stats, err := Run(t.Context(), s, job, func() int { return 0 }, func(int, *Batch, *Subgraph) error { return nil }, func(int) error { return nil })
		s.Close()
		if err != nil {
			t.Fatal(name, err)
		}
		z := Foresee(g, p, &job)
		each := float64(len(seeds)) / 256
		for what, pair := range map[string][2]float64{
			"nodes": {z.Nodes[0], float64(stats.Nodes) / each},
			"edges": {z.Edges[0], float64(stats.Edges) / each},
		} {
			if math.Abs(pair[0]/pair[1]-1) > 0.15 {
				t.Errorf("%s: foresaw %.0f %s in a batch, found %.0f", name, pair[0], what, pair[1])
			}
		}
	}
}

// TestCopiesGiveBack checks that New gives mapped pages back while it copies: Touched is called for every megabytes that it copied.
func TestCopiesGiveBack(t *testing.T) {
	defer func(n int) { hugeWords = n }(hugeWords)
	hugeWords = 1
	g, _ := rmatGraph(t, 10, 8)
	p, err := FromFanouts(g, Fanouts{Each: []int{5}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	var touched int64
	s, err := New(g, p, Options{Memory: 1 << 30, Touched: func(bytes int64) error { touched += bytes; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if a := g.Edges[0].Adj[graph.In]; touched < a.Indptr.Bytes()+a.Far.Bytes() {
		t.Errorf("found %d bytes given back, expected at least the %d that were copied", touched, a.Indptr.Bytes()+a.Far.Bytes())
	}
}
