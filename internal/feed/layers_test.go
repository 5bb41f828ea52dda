package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
)

// TestSlotsHoldLayers checks that no batch of ops that take more or fewer edges than a number per node is larger than a slot: budgets of
// nodes, LABOR with importance, and PageRanks.
func TestSlotsHoldLayers(t *testing.T) {
	s := rowStore(t)
	most := map[string]float64{}
	cases := 0
	rapid.Check(t, func(r *rapid.T) {
		cases++
		p := sampletest.Plan(r, s.Graph)
		p.Before = nil
		how := map[string]sample.Op{}
		for i := range p.Ops {
			o := &p.Ops[i]
			of := sample.Op{How: sample.How(rapid.IntRange(int(sample.Labor), int(sample.PPR)).Draw(r, "how")), Take: o.Take}
			et, err := graph.ParseEdgeType(o.Edges)
			if err != nil {
				r.Fatal(err)
			}
			switch {
			case of.How == sample.PPR && et.Src != et.Dst:
				of.How = sample.Ladies
			case of.How == sample.PPR:
				of.Alpha, of.Eps = 0.3, 0.003
			case of.How == sample.Labor:
				of.Importance = 1
			}
			if at := of.How.String() + et.Far(o.Dir); of.How.Layered() { // the ops of a hop share a budget
				if known, again := how[at]; again {
					of = known
				}
				how[at] = of
			}
			o.How, o.Column, o.HalfLife, o.Take, o.Importance, o.Alpha, o.Eps = of.How, "", 0, of.Take, of.Importance, of.Alpha, of.Eps
		}
		if rapid.Bool().Draw(r, "induced") {
			p.Kind = sample.Induced
		}
		job := sampletest.Job(r, s.Graph, p)
		job.Rank, job.Ranks, job.Times = 0, 0, nil
		m, err := sample.New(s.Graph, p, sample.Options{Ops: p.Scope != sample.ScopeSeed, Weights: p.Weighs()})
		if err != nil {
			r.Fatal(err)
		}
		defer m.Close()
		src, err := NewSource(m, job, Features{}, p.Scope != sample.ScopeSeed)
		if err != nil {
			r.Fatal(err)
		}
		defer src.Close()
		weights := 0
		for _, c := range src.Columns() {
			if strings.HasSuffix(c.Name, "/x/edge_weights") {
				weights++
			}
		}
		if (weights > 0) != p.Weighs() {
			r.Fatalf("found %d columns of weights for the plan %+v", weights, p)
		}
		maker := src.Maker()
		for b := range min(src.Batches(), 3) {
			size, err := maker.Batch(src.Epoch(0), 0, b)
			if err != nil {
				r.Fatal(err)
			}
			if int64(size) > src.slot {
				r.Fatalf("batch %d: found %d bytes, expected at most %d", b, size, src.slot)
			}
			for _, o := range p.Ops {
				most[o.How.String()] = max(most[o.How.String()], float64(size)/float64(src.slot))
			}
		}
	})
	if cases >= 100 && !slices.ContainsFunc([]string{"ladies", "hgt", "labor", "fastgcn"}, func(how string) bool { return most[how] > 0.05 }) {
		t.Errorf("found no batch of more than 0.05 of its slot, expected bounds that are near: %v", most)
	}
	t.Log(fmt.Sprint(most))
}
