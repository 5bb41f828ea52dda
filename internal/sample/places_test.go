package sample_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
)

// scattered is a graph whose lists of edges are in any order, with rows of no list between them, and the id of the edge at each place, by edge type. Such rows lead to node 0 and have
// the values of edge 0.
func scattered(r *rand.Rand, g *graph.Graph) (*graph.Graph, [][]uint32) {
	out := *g
	out.Edges = nil
	var ids [][]uint32
	for _, e := range g.Edges {
		x, a := *e, e.Adj[e.Primary]
		nodes := a.Indptr.Len() - 1
		b := &graph.Adjacency{Indptr: graph.Index{U32: make([]uint32, nodes+1)}, Ends: graph.Index{U32: make([]uint32, nodes)}}
		var places []uint32
		gap := func() {
			for range r.IntN(3) {
				places, b.Far.U32 = append(places, 0), append(b.Far.U32, 0)
			}
		}
		gap()
		for _, v := range r.Perm(nodes) {
			b.Indptr.U32[v] = uint32(len(places))
			for id := a.Indptr.At(v); id < a.Indptr.At(v+1); id++ {
				places, b.Far.U32 = append(places, uint32(id)), append(b.Far.U32, uint32(a.Far.At(int(id))))
			}
			b.Ends.U32[v] = uint32(len(places))
			gap()
		}
		if e.Count == 0 {
			places, b.Far.U32 = nil, nil
			clear(b.Indptr.U32)
			clear(b.Ends.U32)
		}
		b.Indptr.U32[nodes] = uint32(len(places))
		x.Count, x.Columns = len(places), nil
		for _, c := range e.Columns {
			d, n := *c, c.RowBytes()
			d.Rows, d.Values = len(places), nil
			for _, id := range places {
				d.Values = append(d.Values, c.Values[int(id)*n:int(id+1)*n]...)
			}
			x.Columns = append(x.Columns, &d)
		}
		x.Adj = [2]*graph.Adjacency{}
		x.Adj[e.Primary] = b
		if nodes == 0 { // nothing has Ends
			x = *e
		}
		out.Edges, ids = append(out.Edges, &x), append(ids, places)
	}
	return &out, ids
}

// TestPlaces checks that lists in any order give the subgraphs of lists one after the other, or are refused.
func TestPlaces(t *testing.T) {
	dir, taken := t.TempDir(), map[sample.How]int{}
	timed := 0
	rapid.Check(t, func(r *rapid.T) {
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		p, job := sampletest.SparseCase(r, s.Graph)
		g, ids := scattered(rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "places"), 1)), s.Graph)
		opt := sample.Options{Small: rapid.Bool().Draw(r, "small")}
		placed, err := sample.New(g, p, opt)
		if errors.Is(err, sample.ErrPlaces) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer placed.Close()
		whole, err := sample.New(s.Graph, p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		want := subgraphs(t, whole, job)
		for i, sub := range subgraphs(t, placed, job) {
			for k := range sub.Edges {
				for j, place := range sub.Edges[k].ID.U32 {
					if g.Edges[k].Adj[g.Edges[k].Primary].Ends.Len() > 0 {
						sub.Edges[k].ID.U32[j] = ids[k][place]
					}
				}
			}
			if len(sub.Edges) != len(want[i].Edges) || !slices.EqualFunc(sub.Nodes, want[i].Nodes, slices.Equal[[]uint32]) || !slices.EqualFunc(sub.Edges, want[i].Edges, func(a, b sample.SubEdges) bool {
				return slices.Equal(a.Src, b.Src) && slices.Equal(a.Dst, b.Dst) && slices.Equal(a.ID.U32, b.ID.U32)
			}) {
				t.Fatalf("subgraph %d: found %v, expected %v", i, sub, want[i])
			}
		}
		checkAfter(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "moves"), 1)), g, p, job, opt)
		for _, o := range p.Ops {
			taken[o.How]++
		}
		if p.Before != nil {
			timed++
		}
	})
	if taken[sample.Uniform] == 0 || timed == 0 {
		t.Errorf("found plans with the ops %v, %d of them with times, expected some of both", taken, timed)
	}
}

// checkAfter checks that a sampler of a version with other lists, which is made after the one of the version before, gives the subgraphs of one that is made alone. The times of the version before ascend in
// each list, and those of the rows behind do not.
func checkAfter(t *testing.T, r *rand.Rand, g *graph.Graph, p *sample.Plan, job sample.Job, opt sample.Options) {
	first, next := *g, *g
	first.Edges, next.Edges = nil, nil
	for _, e := range g.Edges {
		x := *e
		if a := e.Adj[e.Primary]; a.Ends.Len() > 0 && e.Count > 0 {
			const behind = 8
			b := &graph.Adjacency{Indptr: a.Indptr, Ends: a.Ends, Far: graph.Index{U32: append(slices.Clone(a.Far.U32), make([]uint32, behind)...)}}
			x.Count += behind
			x.Columns = nil
			for _, c := range e.Columns {
				d, n := *c, c.RowBytes()
				d.Rows, d.Values = x.Count, append(slices.Clone(c.Values), c.Values[:n]...)
				for len(d.Values) < n*x.Count {
					d.Values = append(d.Values, d.Values[:n]...)
				}
				if c.Name == "t" {
					times := graph.View[int64](d.Values)
					for i := range times[e.Count:] {
						times[e.Count+i] = r.Int64N(120)
					}
					slices.Sort(times[:e.Count])
				}
				x.Columns = append(x.Columns, &d)
			}
			x.Adj = [2]*graph.Adjacency{}
			x.Adj[e.Primary] = b
			first.Edges = append(first.Edges, &x)
			y, moved := x, *b
			moved.Indptr, moved.Ends = graph.Index{U32: slices.Clone(a.Indptr.U32)}, graph.Index{U32: slices.Clone(a.Ends.U32)}
			for v := range moved.Ends.U32 {
				if r.IntN(3) == 0 {
					from := r.IntN(x.Count)
					moved.Indptr.U32[v], moved.Ends.U32[v] = uint32(from), uint32(from+r.IntN(min(x.Count-from, 4)+1))
				}
			}
			y.Adj[e.Primary] = &moved
			next.Edges = append(next.Edges, &y)
			continue
		}
		first.Edges, next.Edges = append(first.Edges, &x), append(next.Edges, &x)
	}
	var made []*sample.Sampler
	for i, g := range []*graph.Graph{&first, &next, &next} {
		if i == 2 {
			opt.After = made[0]
		}
		s, err := sample.New(g, p, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		made = append(made, s)
	}
	want := subgraphs(t, made[1], job)
	for i, got := range subgraphs(t, made[2], job) {
		if !reflect.DeepEqual(got, want[i]) {
			t.Fatalf("subgraph %d: found %v after another version, expected %v", i, got, want[i])
		}
	}
}

// subgraphs are copies of the subgraphs of a job.
func subgraphs(t *testing.T, s *sample.Sampler, job sample.Job) (all []sample.Subgraph) {
	_, err := sample.Run(context.Background(), s, job, func() *[]sample.Subgraph { return &[]sample.Subgraph{} }, func(out *[]sample.Subgraph, _ *sample.Batch, sub *sample.Subgraph) error {
		var x sample.Subgraph
		for _, nodes := range sub.Nodes {
			x.Nodes = append(x.Nodes, slices.Clone(nodes))
		}
		for _, e := range sub.Edges {
			x.Edges = append(x.Edges, sample.SubEdges{Src: slices.Clone(e.Src), Dst: slices.Clone(e.Dst), ID: graph.Index{U32: slices.Clone(e.ID.U32)}})
		}
		*out = append(*out, x)
		return nil
	}, func(out *[]sample.Subgraph) error {
		all, *out = append(all, *out...), nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
