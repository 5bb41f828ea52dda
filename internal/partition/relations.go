package partition

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
)

// countedRows is the number of rows that are counted at once.
const countedRows = 1 << 14

// relations counts the edges of each type of a store.
func relations(ctx context.Context, s *store.Store, a *assign.Assignment, threads int) ([]Relation, error) {
	n := len(a.Part)
	share := make([][]Relation, threads)
	var next atomic.Int64
	group, ctx := guard.WithContext(ctx)
	for w := range threads {
		group.Go(func() error {
			share[w] = newRelations(s.Graph, a.Parts)
			for {
				from := int(next.Add(1)-1) * countedRows
				if from >= n {
					return nil
				}
				if err := countEdges(ctx, s, a.Start, a.Part, from, min(from+countedRows, n), share[w]); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, other := range share[1:] {
		for i := range other {
			share[0][i].add(&other[i])
		}
	}
	return share[0], nil
}

// CountEdges counts the edges that a store lists at the nodes from..to-1 of all types, in its primary direction.
func CountEdges(ctx context.Context, s *store.Store, p *Pieces, from, to int) ([]Relation, error) {
	all := newRelations(s.Graph, p.Parts)
	starts := undirected.Starts(s.Graph)
	for ; from < to; from += countedRows {
		if err := countEdges(ctx, s, starts, p.Part, from, min(from+countedRows, to), all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func newRelations(g *graph.Graph, parts int) []Relation {
	all := make([]Relation, len(g.Edges))
	for i, e := range g.Edges {
		all[i] = Relation{Type: e.Type.String(), Edges: int64(e.Count), Owned: make([]int64, parts)}
	}
	return all
}

// countEdges adds the edges at the nodes from..to-1 to all.
func countEdges(ctx context.Context, s *store.Store, starts []uint64, part []uint16, from, to int, all []Relation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := s.Graph
	of := func(t int) []uint16 { return part[starts[t]:starts[t+1]] }
	for i, e := range g.Edges {
		near := g.NodeType(e.Type.Near(e.Primary))
		lo, hi := max(uint64(from), starts[near]), min(uint64(to), starts[near+1])
		if lo >= hi {
			continue
		}
		far := of(g.NodeType(e.Type.Far(e.Primary)))
		if err := s.Touched(all[i].count(e, of(near), far, int(lo-starts[near]), int(hi-starts[near]))); err != nil {
			return err
		}
	}
	return nil
}

// add adds the edges that another goroutine or worker counted.
func (r *Relation) add(x *Relation) {
	r.Cut += x.Cut
	for p, n := range x.Owned {
		r.Owned[p] += n
	}
}

// count counts the edges of the rows [from, to) and returns the number of bytes that it read.
func (r *Relation) count(e *graph.Edges, near, far []uint16, from, to int) int64 {
	adj := e.Adj[e.Primary]
	for v := from; v < to; v++ {
		own := near[v]
		for i, end := adj.Indptr.At(v), adj.Indptr.At(v+1); i < end; i++ {
			other := far[adj.Far.At(int(i))]
			if other != own {
				r.Cut++
			}
			if e.Primary == graph.Out {
				r.Owned[other]++
			}
		}
		if e.Primary == graph.In {
			r.Owned[own] += int64(adj.Indptr.At(v+1) - adj.Indptr.At(v))
		}
	}
	return adj.RowBytes(from, to)
}
