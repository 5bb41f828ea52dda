package undirected

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
)

// Block is the rows of consecutive nodes; First is the first node. The neighbours of node First+i are
// Neighbours[Offsets[i]-Offsets[0] : Offsets[i+1]-Offsets[0]].
type Block struct {
	First      uint32
	Offsets    []uint32
	Neighbours []uint32
	// EdgeWeights has the weight for each entry of Neighbours; nil: all are 1.
	EdgeWeights []uint32
}

// Len is the number of nodes.
func (b *Block) Len() int { return len(b.Offsets) - 1 }

// Row returns the bounds of node First+i in Neighbours.
func (b *Block) Row(i int) (from, to uint32) {
	return b.Offsets[i] - b.Offsets[0], b.Offsets[i+1] - b.Offsets[0]
}

// Rows is a graph that is read in blocks of rows, from memory or from a temporary file.
type Rows interface {
	Len() int
	// Entries is the number of neighbours of all nodes: twice the number of pairs.
	Entries() int64
	// Scan calls fn for every block, on threads goroutines; worker is the number of the goroutine, from 0.
	// With one thread the blocks come in the order of their nodes. A block is valid during the call.
	Scan(ctx context.Context, threads int, fn func(worker int, b *Block) error) error
	// NodeWeights returns the number of constraints and the weights, as in Graph.
	NodeWeights() (constraints int, weights []uint32)
}

// scanned is about the number of neighbours of a block of a Graph.
const scanned = 1 << 16

// Entries implements Rows.
func (g *Graph) Entries() int64 { return int64(len(g.Neighbours)) }

// NodeWeights implements Rows.
func (g *Graph) NodeWeights() (int, []uint32) { return g.Constraints, g.Weights }

// Scan implements Rows.
func (g *Graph) Scan(ctx context.Context, threads int, fn func(worker int, b *Block) error) error {
	n := g.Len()
	if n == 0 {
		return ctx.Err()
	}
	// Blocks have the number of nodes that have that many neighbours on average. Their number is then known,
	// and with many blocks skew does not matter.
	step := max(1, min(n, int(int64(scanned)*int64(n)/max(1, g.Entries()))), 256)
	return scan(ctx, (n+step-1)/step, threads, func(_ context.Context, worker, i int) error {
		from, to := i*step, min(n, (i+1)*step)
		b := Block{First: uint32(from), Offsets: g.Offsets[from : to+1], Neighbours: g.Neighbours[g.Offsets[from]:g.Offsets[to]]}
		if g.EdgeWeights != nil {
			b.EdgeWeights = g.EdgeWeights[g.Offsets[from]:g.Offsets[to]]
		}
		return fn(worker, &b)
	})
}

// scan divides n jobs among goroutines; each takes them in ascending order.
func scan(ctx context.Context, n, threads int, fn func(ctx context.Context, worker, i int) error) error {
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for worker := range max(1, min(threads, n)) {
		g.Go(func() error {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := fn(ctx, worker, i); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}
