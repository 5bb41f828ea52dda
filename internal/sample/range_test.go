package sample

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// ranges gives the edges of a subgraph from ranges of few nodes.
type ranges struct {
	t      *testing.T
	s      *Sampler
	draws  *Context
	in     Input
	nodes  int
	cached map[[3]int]*Range
}

func (r *ranges) take(op int, v uint32) (far []uint32, ids graph.Index) {
	edges, dir := r.s.Walk(op)
	key := [3]int{edges, int(dir), int(v) / r.nodes}
	at := r.cached[key]
	if at == nil {
		first, count := key[2]*r.nodes, r.s.g.Nodes[r.s.ops[op-1].near].Count
		e, err := r.s.Cut(edges, dir, first, min(r.nodes, count-first))
		if err != nil {
			r.t.Fatal(err)
		}
		if at, err = r.s.Range(edges, dir, e); err != nil {
			r.t.Fatal(err)
		}
		r.cached[key] = at
	}
	return r.draws.Take(at, op, r.s.Key(r.in, op), r.in.Time, v)
}

func (r *ranges) Counts(op int, nodes, counts []uint32) {
	for i, v := range nodes {
		far, _ := r.take(op, v)
		counts[i] = uint32(len(far))
	}
}

func (r *ranges) Ends(op int, nodes, far []uint32, to graph.Index) {
	all := EmptyIDs(graph.Index{})
	for _, v := range nodes {
		f, ids := r.take(op, v)
		copy(far, f)
		far, all = far[len(f):], AppendIDs(all, ids)
	}
	copy(to.U32, all.U32)
	copy(to.U64, all.U64)
}

// checkRanges compares a sampler that is given its edges from ranges with the answer of a case.
func checkRanges(t *testing.T, r *refCase, of *Sampler) {
	t.Helper()
	if of.plan.CanGive(of.g) != nil {
		return
	}
	for i := range of.ops {
		if of.g.Edges[of.ops[i].edges].Adj[of.ops[i].dir] == nil {
			return
		}
	}
	for _, nodes := range []int{1, 3, 1000} {
		s, err := New(of.g, of.plan, Options{Ops: true, Given: true})
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		c, from := s.NewContext(), &ranges{t: t, s: s, draws: s.NewContext(), in: r.input(t), nodes: nodes, cached: map[[3]int]*Range{}}
		for range 2 {
			sub, err := c.SampleGiven(from.in, from)
			if err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			if diff := sameAnswer(answer(s, sub), *r.Result); diff != "" {
				t.Fatalf("%s, ranges of %d nodes: reference against sampler:\n%s\nplan %s\nseeds %s", r.Name, nodes, diff, r.Plan, r.Seeds)
			}
			checkCounts(t, s, sub)
		}
		s.Close()
	}
}
