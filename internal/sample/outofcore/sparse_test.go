package outofcore

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
)

// TestSparse checks, on graphs where the first frontiers of an op often draw nothing, that all designs give the subgraphs
// of the memory executor at any number of threads, and that no subgraph has what none may have (sampletest.Checker): an edge with other ends, an edge that is no
// message, one of the future, a negative that does not exist yet.
func TestSparse(t *testing.T) {
	proof.LeastChecks(t, 50)
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		for range 8 {
			p, job := sampletest.SparseCase(r, s.Graph)
			sampletest.AddMessages(r, s.Graph, p)
			sampletest.AddTimes(r, s.Graph, p)
			sampletest.AddPositives(r, s.Graph, p, &job)
			opt := Options{Ops: rapid.Bool().Draw(r, "ops"), Threads: rapid.SampledFrom([]int{1, 1, 2, 5}).Draw(r, "threads"), Scratch: dir}
			switch rapid.SampledFrom([]Design{Windows, Spilled, Condensed}).Draw(r, "design") {
			case Windows:
				opt.Design, opt.Window = Windows, rapid.IntRange(1, 12).Draw(r, "window")
				if rapid.Bool().Draw(r, "slots") {
					opt.Window, opt.Memory, opt.Slots = 0, 256<<20, rapid.IntRange(1, 3).Draw(r, "number of slots")
				}
			case Spilled:
				opt.Design, opt.spill = Spilled, drawSpill(r)
			case Condensed:
				opt.Design, p.Scope, p.Before, job.Times = Condensed, sample.ScopeEpoch, nil, nil
				if n := p.Negatives; n != nil {
					n.Times, n.Linked = nil, sample.LinkedEver
				}
			}
			if p.CanFetch(s.Graph) != nil { // the memory executor alone
				memory(t, s, p, job, opt)
				p.Exclude = nil
				if p.Before != nil {
					p.Before.NodeColumns = nil
				}
				if n := p.Negatives; n != nil {
					n.Strict, n.Linked = sample.StrictNo, sample.LinkedEver
				}
			}
			checkEqual(t, r, s, p, job, opt)
		}
	})
}

// TestDrawsNothingFirst checks a run whose first op finds no edge that it may take at its first node, while the next ops
// reach nodes of the same type and both are expanded.
func TestDrawsNothingFirst(t *testing.T) {
	s := typedStore(t)
	past := &sample.Before{Column: "t", Untimed: []string{"a:ab:b", "b:ba:a"}}
	job := sample.Job{Seeds: []uint32{7, 7, 1, 2, 3}, Times: []sample.Time{sample.IntTime(-1), sample.IntTime(100), sample.IntTime(50), sample.IntTime(0), sample.IntTime(99)}, BatchSize: 2, Epochs: 2}
	for _, first := range []sample.Op{
		{Edges: "a:aa:a", Dir: graph.In, Take: 3},
		{Edges: "a:aa:a", Dir: graph.In, Take: 3, How: sample.Replace},
		{Edges: "a:aa:a", Dir: graph.In, Take: 3, How: sample.Weighted, Column: "w"},
		{Edges: "a:aa:a", Dir: graph.In, Take: 3, How: sample.Top, Column: "w"},
		{Edges: "a:aa:a", Dir: graph.In, Take: 3, How: sample.Recent, Column: "t", Parameters: sample.Parameters{HalfLife: 5}},
	} {
		first.From = []int{0}
		p := &sample.Plan{SeedType: []string{"a"}, Scope: sample.ScopeSeed, Before: past, Ops: []sample.Op{
			first, {From: []int{0}, Edges: "b:ba:a", Dir: graph.In, Take: 2}, {From: []int{2}, Edges: "a:ab:b", Dir: graph.In, Take: 2}, {From: []int{1, 3}, Edges: "a:ab:b", Dir: graph.Out, Take: 4},
		}}
		want, _ := memory(t, s, p, job, Options{})
		for _, opt := range []Options{{Design: Windows, Window: 1}, {Design: Windows, Window: 3}, spilled(t)} {
			opt.Threads = 1
			if got, _, _ := streamed(t, s, p, job, opt); !slices.Equal(got, want) {
				t.Errorf("how %s, design %s: found\n%q\nexpected\n%q", first.How, opt.Design, got, want)
			}
		}
	}
}
