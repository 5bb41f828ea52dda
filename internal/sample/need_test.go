package sample

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestNeed checks that what ops share is counted once, and that columns that are read in place do not count as copies.
func TestNeed(t *testing.T) {
	const threads = 2
	one := Op{From: []int{0}, Edges: "a:r:b", Take: 1}
	with := func(o Op, edit func(*Op)) Op { edit(&o); return o }
	weighted := with(one, func(o *Op) { o.How, o.Column = Weighted, "d_weight" })
	// 2 edges between 2 nodes of a and 2 of b; the weights are float64.
	const (
		in      = 4*3 + 4*2 // offsets, neighbours
		built   = 8*2 + 8*2 // offsets and places, neighbours and edge ids
		column  = 8 * 2
		sums    = (8 + 8) * 2 // sums, cells
		tables  = threads * 4 * (2 + 2)
		context = threads * contextBytes
	)
	for _, test := range []struct {
		name string
		ops  []Op
		want int64
	}{
		{"no op", nil, context + tables/2},
		{"one op", []Op{one}, context + tables + in},
		{"the same twice", []Op{one, one}, context + tables + in},
		{"both directions", []Op{one, with(one, func(o *Op) { o.From, o.Dir = []int{1}, graph.Out })}, context + tables + in + built},
		{"top", []Op{with(weighted, func(o *Op) { o.How = Top })}, context + tables + in + column},
		{"fastgcn", []Op{with(one, func(o *Op) { o.How = FastGCN })}, context + tables + in + 16*2},
		{"weighted", []Op{weighted, weighted}, context + tables + in + column + sums},
		{"refused", []Op{with(one, func(o *Op) { o.Edges = "a:x:b" })}, 0},
	} {
		g := smallGraph()
		p := &Plan{SeedType: []string{"b"}, Scope: ScopeBatch, Ops: test.ops}
		if got := Need(g, p, threads); got != test.want {
			t.Errorf("%s: found %d bytes, expected %d", test.name, got-context, test.want-context)
		}
	}
	p := &Plan{SeedType: []string{"b"}, Scope: ScopeSeed, Ops: []Op{one}}
	if got := Need(smallGraph(), p, threads); got != context+in {
		t.Errorf("scope seed: found %d bytes, expected %d: it has no table over all nodes", got-context, in)
	}
}

// TestNeedLinks checks that what negatives and times of nodes read is counted.
func TestNeedLinks(t *testing.T) {
	const context, tables, edges, column = contextBytes, 4 * (2 + 2), 4*3 + 4*2, 8 * 2
	for _, test := range []struct {
		name string
		edit func(*Plan)
		want int64
	}{
		{"no negatives", func(*Plan) {}, tables},
		{"uniform", func(p *Plan) { p.Negatives = &Negatives{How: Binary, Each: 1} }, tables},
		{"by column", func(p *Plan) { p.Negatives = &Negatives{How: Binary, Each: 1, By: ByColumn, Column: "d_w"} }, tables + 4*column},
		{"targets by column", func(p *Plan) { p.Negatives = &Negatives{How: Triplet, Each: 1, By: ByColumn, Column: "d_w"} }, tables + 2*column},
		{"by degree", func(p *Plan) { p.Negatives = &Negatives{How: Triplet, Each: 1, By: ByDegree} }, tables + edges + column},
		{"strict", func(p *Plan) { p.Negatives = &Negatives{How: InBatch, Each: 1, Strict: StrictCount} }, tables + edges},
		{"times of nodes", func(p *Plan) {
			p.Scope, p.Before = ScopeSeed, &Before{NodeColumns: map[string]string{"user": "d_w"}}
			p.Ops = []Op{{From: []int{0}, Edges: "user:buys:item", Take: 1}}
		}, edges + column},
	} {
		p := linkPlan(nil)
		test.edit(p)
		if got := Need(linkGraph(2, 2, nil, [][2]int{{0, 0}, {1, 1}}), p, 1); got != context+test.want {
			t.Errorf("%s: found %d bytes, expected %d", test.name, got-context, test.want)
		}
	}
}

// TestNeedFetch checks that offsets are counted, and that a plan that is refused in any case counts nothing.
func TestNeedFetch(t *testing.T) {
	in := Op{From: []int{0}, Edges: "a:r:b", Take: 1}
	out := Op{From: []int{1}, Edges: "a:r:b", Take: 1, Dir: graph.Out} // not in the store
	for _, ops := range [][]Op{{in}, {in, out}} {
		p := &Plan{SeedType: []string{"b"}, Scope: ScopeSeed, Ops: ops}
		if got, want := NeedFetch(smallGraph(), p, 2), int64(4*3); got != want {
			t.Errorf("%d ops: found %d bytes, expected %d", len(ops), got, want)
		}
	}
}
