package metis

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// checkEvery is the number of nodes between two checks of the context.
const checkEvery = 1 << 16

// check sorts the neighbours of each node and looks for loops, repeated neighbours, and edges that are not listed in
// the same way at both ends.
func (g *Graph) check(ctx context.Context, fsys vfs.FS, name string, threads int) error {
	n := g.Len()
	chunk := (n + threads - 1) / threads
	faults := make([]int, threads) // per thread: the first node with a fault, or n
	group, sub := guard.WithContext(ctx)
	for w := range threads {
		group.Go(func() error {
			var keys []uint64
			to := min((w+1)*chunk, n)
			faults[w] = n
			for v := min(w*chunk, n); v < to; v++ {
				if v%checkEvery == 0 && sub.Err() != nil {
					return sub.Err()
				}
				keys = g.sort(v, keys)
				if g.repeated(v) != none {
					faults[w] = v
					return nil
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if v := slices.Min(faults); v < n {
		u := g.repeated(v)
		what := "itself"
		if int(u) != v {
			what = "a node twice"
		}
		return g.fault(ctx, fsys, name, v, "found %d among the neighbours of node %d, which is %s, expected a graph without loops and parallel edges; remove it", u+1, v+1, what)
	}
	return g.symmetric(ctx, fsys, name)
}

// none is the id of no node.
const none = 1<<32 - 1

// repeated returns the first neighbour of v, in sorted order, that is v itself or is repeated, or none.
func (g *Graph) repeated(v int) uint32 {
	last := uint32(v)
	for _, u := range g.Neighbours[g.Offsets[v]:g.Offsets[v+1]] {
		if u == uint32(v) || u == last {
			return u
		}
		last = u
	}
	return none
}

// sort sorts the neighbours of v, with their weights.
func (g *Graph) sort(v int, keys []uint64) []uint64 {
	from, to := g.Offsets[v], g.Offsets[v+1]
	var weights []uint32
	if g.EdgeWeights != nil {
		weights = g.EdgeWeights[from:to]
	}
	return SortRow(g.Neighbours[from:to], weights, keys)
}

// SortRow sorts the neighbours of a node, and their weights with them if weights is not nil. keys is room for the work,
// which it returns for the next call.
func SortRow(row, weights []uint32, keys []uint64) []uint64 {
	if slices.IsSorted(row) {
		return keys
	}
	if weights == nil {
		slices.Sort(row)
		return keys
	}
	keys = keys[:0]
	for i, u := range row {
		keys = append(keys, uint64(u)<<32|uint64(weights[i]))
	}
	slices.Sort(keys)
	for i, k := range keys {
		row[i], weights[i] = uint32(k>>32), uint32(k)
	}
	return keys
}

// symmetric visits the nodes in order. A cursor in each row is at the first neighbour that was not visited as a node;
// the next node that lists this one must be that neighbour.
func (g *Graph) symmetric(ctx context.Context, fsys vfs.FS, name string) error {
	n := g.Len()
	at := slices.Clone(g.Offsets[:n])
	missing := func(v, u uint32) error {
		return g.fault(ctx, fsys, name, int(v), "found %d among the neighbours of node %d, but not %d among those of node %d; list each edge at both ends", u+1, v+1, v+1, u+1)
	}
	for v := range uint32(n) {
		if v%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		end := g.Offsets[v+1]
		if i := at[v]; i < end && g.Neighbours[i] < v {
			return missing(v, g.Neighbours[i])
		}
		for i := at[v]; i < end; i++ {
			u := g.Neighbours[i]
			j := at[u]
			if j == g.Offsets[u+1] || g.Neighbours[j] > v {
				return missing(v, u)
			}
			if g.Neighbours[j] < v {
				return missing(u, g.Neighbours[j])
			}
			if g.EdgeWeights != nil && g.EdgeWeights[i] != g.EdgeWeights[j] {
				return g.fault(ctx, fsys, name, int(u), "found the weight %d of the edge to node %d, expected %d as at the other end", g.EdgeWeights[j], v+1, g.EdgeWeights[i])
			}
			at[u]++
		}
	}
	return nil
}

// fault returns an error with the line of a node, for which it reads the file again.
func (g *Graph) fault(ctx context.Context, fsys vfs.FS, name string, node int, format string, a ...any) (err error) {
	t, err := openText(fsys, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.file.Close()) }()
	h, err := t.header()
	if err != nil {
		return err
	}
	b := block{header: &h, name: name}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.text, err = t.next(b.text); err != nil {
			if errors.Is(err, io.EOF) {
				err = badf("%s: found fewer lines than in the first read, expected a file that does not change", name)
			}
			return err
		}
		b.line = t.line
		if err := b.parse(); err != nil {
			return err
		}
		if node < len(b.ends) {
			return badf("%s:%d: "+format, append([]any{name, b.line + lineOf(b.text, node)}, a...)...)
		}
		node -= len(b.ends)
		t.line += countLines(b.text)
	}
}
