package feed

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// values is the rows of a column of the batch that a maker has.
func values(m *Maker, name string) []int64 {
	k := slices.IndexFunc(m.columns, func(c column) bool { return c.info.Name == name })
	out := make([]int64, m.Rows(k))
	m.Fill(k, graph.Bytes(out))
	return out
}

// A source of seeds alone has the seeds of the batches of the same source, in their order, and says what the batches have and by which
// plan they are drawn.
func TestSeedsAlone(t *testing.T) {
	f := Features{Nodes: map[string][]string{"user": {"x"}}}
	whole, alone := source(t, f, true), source(t, f, true)
	if err := alone.SeedsAlone(); err != nil {
		t.Fatal(err)
	}
	var w, of welcome
	whole.describe(&w)
	alone.describe(&of)
	var names []string
	for _, c := range of.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"seeds", "input_id"}; !slices.Equal(names, want) {
		t.Errorf("found the columns %q, expected %q", names, want)
	}
	if !reflect.DeepEqual(of.Made, w.Columns) || w.Made != nil || w.Plan != nil {
		t.Errorf("found the columns %v of batches, expected %v, and only of seeds alone", of.Made, w.Columns)
	}
	plan, err := sample.ParsePlan("plan", of.Plan)
	if err != nil || !reflect.DeepEqual(plan.Ops, whole.sampler.Plan().Ops) {
		t.Errorf("found the plan %s, %v, expected %v", of.Plan, err, whole.sampler.Plan())
	}
	a, b := whole.Maker(), alone.Maker()
	for _, n := range []int{0, 3, whole.Batches() - 1, whole.Batches()} { // the last of them repeats a batch
		if _, err := a.Batch(whole.Epoch(1), 1, n); err != nil {
			t.Fatal(err)
		}
		size, err := b.Batch(alone.Epoch(1), 1, n)
		if err != nil || int64(size) > alone.slotBytes() {
			t.Fatalf("batch %d: found %d bytes, %v, expected at most %d", n, size, err, alone.slotBytes())
		}
		var seeds []int64
		nodes := values(a, "nodes/user/n_id")
		for _, v := range values(a, "seed_local") {
			seeds = append(seeds, nodes[v])
		}
		if got := values(b, "seeds"); !slices.Equal(got, seeds) || !slices.Equal(values(b, "input_id"), values(a, "input_id")) {
			t.Errorf("batch %d: found the seeds %v, expected %v", n, got, seeds)
		}
		one, two := make([]byte, size), make([]byte, size)
		b.Write(one, uint64(n))
		b.Write(two, uint64(n))
		if !bytes.Equal(one, two) {
			t.Errorf("batch %d: found two contents", n)
		}
	}
	if _, err := b.Of([]int64{7, 499, 7}, 0, 0); err != nil || !slices.Equal(values(b, "seeds"), []int64{7, 499, 7}) {
		t.Errorf("found %v, %v, expected the seeds that were asked for", values(b, "seeds"), err)
	}
}

// The negatives of links are those of whole batches, with their ends and the number of those that are edges.
func TestSeedsAloneHaveNegatives(t *testing.T) {
	for _, scope := range []sample.Scope{sample.ScopeBatch, sample.ScopeEpoch, sample.ScopeSeed} {
		g := testGraph()
		p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{2}}, sample.FanoutOptions{SeedType: []string{"item", "user"}, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		p.SeedEdges, p.Negatives = "item:liked_by:user", &sample.Negatives{How: sample.Binary, Each: 1.5, Strict: sample.StrictCount}
		s, err := sample.New(g, p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		job := sample.Job{BatchSize: 16, Seed: 9, Shuffle: true}
		for i := range uint32(40) {
			job.Seeds = append(job.Seeds, 7*i, 11*i)
		}
		var makers []*Maker
		var sources []*Source
		for k := range 2 {
			src, err := NewSource(s, job, Features{}, false)
			if err == nil && k == 1 {
				err = src.SeedsAlone()
			}
			if err != nil {
				t.Fatal(err)
			}
			makers, sources = append(makers, src.Maker()), append(sources, src)
		}
		for n := range sources[0].Batches() {
			for k, m := range makers {
				if _, err := m.Batch(sources[k].Epoch(2), 2, n); err != nil {
					t.Fatal(err)
				}
			}
			nodes := [2][]int64{values(makers[0], "nodes/item/n_id"), values(makers[0], "nodes/user/n_id")}
			for local, alone := range map[string]string{"seed_local": "seeds", "negative_local": "negatives"} {
				var want []int64
				for i, v := range values(makers[0], local) {
					want = append(want, nodes[i%2][v])
				}
				if got := values(makers[1], alone); !slices.Equal(got, want) || len(got) == 0 {
					t.Errorf("scope %v, batch %d: found %s %v, expected %v", scope, n, alone, got, want)
				}
			}
			for _, name := range []string{"input_id", "negative_end", "negative_edges"} {
				if got, want := values(makers[1], name), values(makers[0], name); !slices.Equal(got, want) {
					t.Errorf("scope %v, batch %d: found %s %v, expected %v", scope, n, name, got, want)
				}
			}
		}
	}
}
