package partition

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
)

// countedRows is the number of rows that a goroutine counts at once.
const countedRows = 1 << 14

// relations counts the edges of each type of a store.
func relations(ctx context.Context, s *store.Store, a *assign.Assignment, threads int) ([]Relation, error) {
	g := s.Graph
	all := make([]Relation, len(g.Edges))
	for i, e := range g.Edges {
		r := &all[i]
		*r = Relation{Type: e.Type.String(), Edges: int64(e.Count), Owned: make([]int64, a.Parts)}
		near := a.Of(g.NodeType(e.Type.Near(e.Primary)))
		far := a.Of(g.NodeType(e.Type.Far(e.Primary)))
		share := make([]Relation, threads)
		var next atomic.Int64
		group, ctx := guard.WithContext(ctx)
		for w := range threads {
			group.Go(func() error {
				share[w].Owned = make([]int64, a.Parts)
				for {
					from := int(next.Add(1)-1) * countedRows
					if from >= len(near) {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					to := min(from+countedRows, len(near))
					if err := s.Touched(share[w].count(e, near, far, from, to)); err != nil {
						return err
					}
				}
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for _, x := range share {
			r.Cut += x.Cut
			for p, n := range x.Owned {
				r.Owned[p] += n
			}
		}
	}
	return all, nil
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
