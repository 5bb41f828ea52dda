//go:build unix

package trial

import (
	"context"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// makePlan is the plan of the fanouts, under the scope of the design.
func (t *trial) makePlan() (*sample.Plan, error) {
	g, seedType := t.s.Graph, t.o.SeedType
	if seedType == "" {
		if len(g.Nodes) != 1 {
			return nil, tagged.Errorf(ErrOptions, "found no `SeedType`, expected one of the %d node types to start from", len(g.Nodes))
		}
		seedType = g.Nodes[0].Type
	}
	return sample.FromFanouts(g, t.o.Fanouts, sample.FanoutOptions{SeedType: []string{seedType}, Dir: graph.In, Scope: t.Scope})
}

// seeds spreads the share of seeds over the nodes for which the first hop finds edges. It holds little of the store in
// memory.
func (t *trial) seeds(ctx context.Context) ([]uint32, error) {
	g := t.s.Graph
	var first []graph.Index // offsets
	for _, op := range t.plan.Ops {
		if e, err := g.EdgeType(op.Edges); err == nil && op.From[0] == 0 {
			if a := g.Edges[e].Adj[op.Dir]; a != nil {
				first = append(first, a.Indptr)
			}
		}
	}
	const step = 1 << 20
	var seeds []uint32
	have := 0.0
	nodes := g.Nodes[g.NodeType(t.plan.SeedType[0])].Count
	for from := 0; from < nodes; from += step {
		for v := from; v < min(from+step, nodes); v++ {
			for _, at := range first {
				if at.At(v) < at.At(v+1) {
					if math.Floor((have+1)*t.o.Seeds) > math.Floor(have*t.o.Seeds) {
						seeds = append(seeds, uint32(v))
					}
					have++
					break
				}
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := t.s.Touched(int64(8 * step * len(first))); err != nil {
			return nil, err
		}
	}
	if len(seeds) == 0 {
		return nil, tagged.Errorf(ErrOptions, "found no seed in a share of %v of the %.0f nodes for which the first hop finds edges, expected one; take a larger share, or another seed type", t.o.Seeds, have)
	}
	return seeds, t.s.Release()
}

// digest is the digest of the subgraph of a batch. It covers the nodes, which depend on the edges and take a fraction of the
// time. It is 0 except for the first epoch.
type digest struct{ sum uint64 }

func newDigest() *digest { return &digest{} }

func (d *digest) set(b *sample.Batch, sub *sample.Subgraph) error {
	d.sum = 0
	if b.Epoch > 0 {
		return nil
	}
	h := b.Number ^ sub.Drawn<<32
	for _, nodes := range sub.Nodes {
		h = xxh3.HashSeed(graph.Bytes(nodes), h)
	}
	d.sum = h
	return nil
}
