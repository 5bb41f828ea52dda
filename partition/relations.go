package partition

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/partition/assign"
)

// relations counts the edges of each type.
func relations(ctx context.Context, g *graph.Graph, a *assign.Assignment, threads int) ([]Relation, error) {
	all := make([]Relation, len(g.Edges))
	for i, e := range g.Edges {
		r := &all[i]
		*r = Relation{Type: e.Type.String(), Edges: int64(e.Count), Owned: make([]int64, a.Parts)}
		near := a.Of(g.NodeType(e.Type.Near(e.Primary)))
		far := a.Of(g.NodeType(e.Type.Far(e.Primary)))
		share := make([]Relation, threads)
		step := (len(near) + threads - 1) / threads
		group, ctx := errgroup.WithContext(ctx)
		for w := range threads {
			group.Go(func() error {
				share[w].Owned = make([]int64, a.Parts)
				return share[w].count(ctx, e, near, far, min(w*step, len(near)), min((w+1)*step, len(near)))
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for _, s := range share {
			r.Cut += s.Cut
			for p, n := range s.Owned {
				r.Owned[p] += n
			}
		}
	}
	return all, nil
}

// count counts the edges of the rows from from to to.
func (r *Relation) count(ctx context.Context, e *graph.Edges, near, far []uint16, from, to int) error {
	adj := e.Adj[e.Primary]
	for v := from; v < to; v++ {
		if v%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
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
	return nil
}
