package partition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphmill/graphmill/format/metis"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// File divides the graph of a METIS file, all of one type. Errors about the content of the file name its line.
func File(ctx context.Context, fsys vfs.FS, name, nodeType string, o Options) (_ *Result, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	h, err := metis.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	z := size{nodes: int64(h.Nodes), edges: int64(h.Edges), pairs: int64(h.Edges), constraints: int64(h.Constraints), nodeWeights: h.Weights, edgeWeights: h.EdgeWeights, file: true}
	p, err := fitting(z, &o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	j := &job{Options: o, fsys: fsys, r: &Result{}, types: []string{nodeType}, starts: []uint64{0, h.Nodes}}
	if h.Sizes {
		j.r.Notes = append(j.r.Notes, "the sizes of nodes in the file are not used")
	}
	if err := j.follow(z, p); err != nil {
		return nil, err
	}
	began := time.Now()
	if !p.onDisk {
		m, err := metis.Read(ctx, fsys, name, o.Threads)
		if err != nil {
			return nil, err
		}
		g := &undirected.Graph{Offsets: m.Offsets, Neighbours: m.Neighbours, EdgeWeights: m.EdgeWeights, Constraints: m.Constraints, Weights: m.Weights}
		j.r.stage(StageGraph, began, z.pairs, "pairs")
		return j.r, inFile(name, j.weighted(ctx, g))
	}
	rows, err := readRows(ctx, fsys, name, h, o.Temp, j.meter(StageGraph, 2*z.edges, "neighbours"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	j.r.stage(StageGraph, began, z.pairs, "pairs")
	return j.r, inFile(name, j.weighted(ctx, rows))
}

// inFile adds the name of the file to an error about its graph.
func inFile(file string, err error) error {
	if errors.Is(err, ErrUsage) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return err
}

// readRows copies the rows of a METIS file to a temporary file and checks all that metis.Read checks.
func readRows(ctx context.Context, fsys vfs.FS, name string, h metis.Header, temp string, progress func(int64)) (_ *undirected.Spilled, err error) {
	w, err := undirected.NewSpillWriter(fsys, temp, h.EdgeWeights)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var weights []uint32
	var keys []uint64
	var balance uint64 // 0 if each pair is listed at both ends with the same weight
	// One goroutine, because each holds blocks.
	if err := metis.Scan(ctx, fsys, name, 1, func(b *metis.Block) error {
		weights = append(weights, b.Weights...)
		from := uint32(0)
		for i, to := range b.Ends {
			v := uint32(b.First) + uint32(i)
			row, edges := b.Neighbours[from:to], []uint32(nil)
			if h.EdgeWeights {
				edges = b.EdgeWeights[from:to]
			}
			keys = metis.SortRow(row, edges, keys)
			last := v
			for j, u := range row {
				if u == v || u == last {
					what := "a node twice"
					if u == v {
						what = "itself"
					}
					return tagged.Errorf(metis.ErrFormat, "%s: found %d among the neighbours of node %d, which is %s, expected a graph without loops and parallel edges; remove it",
						metis.Place(ctx, fsys, name, uint64(v), true), u+1, v+1, what)
				}
				last = u
				balance += signed(v, u, weightOf(edges, j))
			}
			if err := w.Row(row, edges); err != nil {
				return err
			}
			from = to
		}
		if progress != nil {
			progress(int64(len(b.Neighbours)))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	g, err := w.Done()
	if err != nil {
		return nil, err
	}
	if h.Weights {
		g.Constraints, g.Weights = h.Constraints, weights
	}
	if balance != 0 {
		return nil, errors.Join(oneSided(ctx, fsys, name, g), g.Close())
	}
	return g, nil
}

func weightOf(edges []uint32, i int) uint32 {
	if edges == nil {
		return 1
	}
	return edges[i]
}

// signed is a hash of a pair and its weight, with opposite signs at both ends, so that the sum over all entries is 0 for a
// graph that lists each pair at both ends; for another graph it is 0 with a chance of 2^-64.
func signed(v, u, weight uint32) uint64 {
	x := (uint64(min(u, v))<<32 | uint64(max(u, v))) + 0x9e3779b97f4a7c15*uint64(weight)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	if x ^= x >> 31; v > u {
		return -x
	}
	return x
}

// oneSided finds a pair that is listed at one end alone, or with different weights: first the node with the lower number, by
// the sums of ranges of nodes, then the pair. It returns the error.
func oneSided(ctx context.Context, fsys vfs.FS, name string, g *undirected.Spilled) error {
	each := func(fn func(v, u, weight uint32)) error {
		return g.Scan(ctx, 1, func(_ int, b *undirected.Block) error {
			for i := range b.Len() {
				from, to := b.Row(i)
				for j := from; j < to; j++ {
					w := uint32(1)
					if b.EdgeWeights != nil {
						w = b.EdgeWeights[j]
					}
					fn(b.First+uint32(i), b.Neighbours[j], w)
				}
			}
			return nil
		})
	}
	nonZero := func(x uint64) bool { return x != 0 }
	high, low := make([]uint64, 1<<16), make([]uint64, 1<<16)
	if err := each(func(v, u, w uint32) { high[min(u, v)>>16] += signed(v, u, w) }); err != nil {
		return err
	}
	span := uint32(slices.IndexFunc(high, nonZero))
	if err := each(func(v, u, w uint32) {
		if x := min(u, v); x>>16 == span {
			low[x&0xffff] += signed(v, u, w)
		}
	}); err != nil {
		return err
	}
	node := span<<16 | uint32(slices.IndexFunc(low, nonZero))
	here, there := map[uint32]uint32{}, map[uint32]uint32{} // weights, by the other node
	if err := each(func(v, u, w uint32) {
		if v == node && u > v {
			here[u] = w
		} else if u == node && v > u {
			there[v] = w
		}
	}); err != nil {
		return err
	}
	var others []uint32
	for _, m := range []map[uint32]uint32{here, there} {
		for u := range m {
			if here[u] != there[u] {
				others = append(others, u)
			}
		}
	}
	other := slices.Min(others)
	v, u := node, other // v lists u
	if here[other] == 0 {
		v, u = u, v
	}
	if here[other] != 0 && there[other] != 0 {
		return tagged.Errorf(metis.ErrFormat, "%s: found the weight %d of the edge to node %d, expected %d as at the other end; write the edge with one weight on both lines", metis.Place(ctx, fsys, name, uint64(other), true), there[other], node+1, here[other])
	}
	return tagged.Errorf(metis.ErrFormat, "%s: found %d among the neighbours of node %d, but not %d among those of node %d; list each edge at both ends",
		metis.Place(ctx, fsys, name, uint64(v), true), u+1, v+1, v+1, u+1)
}
