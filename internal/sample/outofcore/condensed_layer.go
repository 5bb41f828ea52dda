package outofcore

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/prefetch"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// layer is the edges that an op takes, in one epoch, of each node that a batch of the epoch may expand: once for all
// batches. The nodes are those that the ops it starts from reach.
type layer struct {
	op      int // from 1
	key     uint64
	cells   cells
	offsets []uint32 // of each marked node: where its results begin; and the end of all results
	results
	bytes int64
	free  []func()
}

func (l *layer) close() {
	for _, f := range l.free {
		f()
	}
	*l = layer{}
}

// alloc allocates memory for a layer. ok is false where the budget has no room for it.
func alloc[T direct.Word](c *condenser, l *layer, n int) (t []T, ok bool, err error) {
	var word T
	page := int64(2 << 20)
	if c.lean {
		page = direct.Align
	}
	size := (int64(n)*int64(unsafe.Sizeof(word)) + page - 1) / page * page
	if size > c.limit-c.used {
		c.lacks = max(c.lacks, c.used+size)
		return nil, false, nil
	}
	t, free, err := words[T](n, c.lean)
	if err != nil {
		return nil, false, err
	}
	c.used += size
	l.bytes += size
	l.free = append(l.free, func() { c.used -= size; free() })
	return t, true, nil
}

const (
	// pieceCells and pieceNodes are the cells and the nodes that a worker takes at a time.
	pieceCells = 1 << 12
	pieceNodes = 1 << 16
)

// ask adds the layers of the next wave of an epoch, without their results. ok is false, and no layer is added, where
// the budget has no room for them.
func (c *condenser) ask(ctx context.Context, e *epoch) (ok bool, err error) {
	wave := c.waves[e.done]
	in := sample.Input{Seed: c.job.Seed, Epoch: e.number}
	for op := wave[0]; op < wave[1]; op++ {
		e.layers[op-1] = layer{op: op, key: c.sampler.Key(in, op)}
	}
	layers := e.layers[wave[0]-1 : wave[1]-1]
	for _, step := range []func(context.Context, *epoch, []layer) (bool, error){c.mark, c.number, c.measure} {
		if ok, err = step(ctx, e, layers); !ok || err != nil {
			for i := range layers {
				layers[i].close()
			}
			return false, err
		}
	}
	return true, nil
}

// parallel calls fn with each number below n, in the goroutines of the walkers.
func (c *condenser) parallel(ctx context.Context, n int, fn func(k *walker, i int) error) error {
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for _, k := range c.walkers {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return nil
				}
				if err := fn(k, i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// mark marks the nodes that the ops which a layer starts from have reached.
func (c *condenser) mark(ctx context.Context, e *epoch, layers []layer) (ok bool, err error) {
	plan := c.sampler.Plan()
	type task struct {
		l     *layer
		nodes []uint32 // nil for the seeds
	}
	var tasks []task
	seeds := false
	for i := range layers {
		l := &layers[i]
		nodes := c.sampler.Offsets(l.op).Len() - 1
		if l.cells, ok, err = alloc[uint64](c, l, cellsOf(nodes)); !ok || err != nil {
			return false, err
		}
		from := slices.Clone(plan.Ops[l.op-1].From)
		slices.Sort(from)
		for _, f := range slices.Compact(from) {
			if f == 0 {
				seeds = true
				tasks = append(tasks, task{l: l})
				continue
			}
			for part := range slices.Chunk(e.layers[f-1].far, pieceNodes) {
				tasks = append(tasks, task{l, part})
			}
		}
	}
	if seeds {
		if err := c.markSeeds(ctx, e, layers); err != nil {
			return false, err
		}
	}
	return true, c.parallel(ctx, len(tasks), func(_ *walker, i int) error {
		tasks[i].l.cells.mark(tasks[i].nodes)
		return nil
	})
}

// markSeeds marks the seeds of the batches of an epoch, and the ends of their negatives, in the layers of ops that start
// from them.
func (c *condenser) markSeeds(ctx context.Context, e *epoch, layers []layer) error {
	s := c.sampler
	plan, g := s.Plan(), s.Graph()
	return c.parallel(ctx, int(e.n), func(k *walker, i int) error {
		k.source.Get(e.first+uint64(i), &k.batch)
		if err := k.c.Begin(s.Input(&k.batch, c.job.Seed, 0)); err != nil {
			return err
		}
		for i := range layers {
			l := &layers[i]
			edges, dir := s.Walk(l.op)
			if slices.Contains(plan.Ops[l.op-1].From, 0) {
				l.cells.mark(k.c.Visited(g.NodeType(g.Edges[edges].Type.Near(dir))))
			}
		}
		return nil
	})
}

// piece is a part of a layer that a worker takes.
type piece struct {
	l          *layer
	first, end int // of its cells
	count      uint64
	base       uint64 // sum of the counts of the pieces before
}

func pieces(layers []layer) []piece {
	var all []piece
	for i := range layers {
		n := layers[i].cells.count()
		for at := 0; at < n; at += pieceCells {
			all = append(all, piece{l: &layers[i], first: at, end: min(at+pieceCells, n)})
		}
	}
	return all
}

// total is the sum of the counts of the pieces of a layer. It sets their bases.
func total(all []piece, l *layer) uint64 {
	sum := uint64(0)
	for i := range all {
		if p := &all[i]; p.l == l {
			p.base = sum
			sum += p.count
		}
	}
	return sum
}

// number counts the marked nodes, and makes room for their offsets.
func (c *condenser) number(ctx context.Context, _ *epoch, layers []layer) (ok bool, err error) {
	all := pieces(layers)
	if err := c.parallel(ctx, len(all), func(_ *walker, i int) error {
		p := &all[i]
		p.count = uint64(p.l.cells.rank(p.first, p.end, 0))
		return nil
	}); err != nil {
		return false, err
	}
	for i := range layers {
		l := &layers[i]
		if l.offsets, ok, err = alloc[uint32](c, l, int(total(all, l))+1); !ok || err != nil {
			return false, err
		}
	}
	return true, c.parallel(ctx, len(all), func(_ *walker, i int) error {
		p := &all[i]
		p.l.cells.rank(p.first, p.end, uint32(p.base))
		return nil
	})
}

// measure finds where the results of each node begin, and makes room for the results.
func (c *condenser) measure(ctx context.Context, _ *epoch, layers []layer) (ok bool, err error) {
	all := pieces(layers)
	if err := c.parallel(ctx, len(all), func(k *walker, i int) error {
		all[i].count = k.picks(&all[i])
		return nil
	}); err != nil {
		return false, err
	}
	for i := range layers {
		l := &layers[i]
		sum := total(all, l)
		if sum >= 1<<32 {
			return false, tagged.Errorf(sample.ErrTooLarge, "found an op with 2^32 sampled edges or more per epoch, expected fewer; take fewer edges, or `Scope` batch")
		}
		l.offsets[len(l.offsets)-1] = uint32(sum)
		if l.far, ok, err = alloc[uint32](c, l, int(sum)); !ok || err != nil {
			return false, err
		}
		if l.idWords = c.fileOf[l.op].idWords; l.idWords > 0 {
			if l.ids, ok, err = alloc[uint32](c, l, int(sum)*l.idWords); !ok || err != nil {
				return false, err
			}
		}
	}
	return true, c.parallel(ctx, len(all), func(_ *walker, i int) error {
		p := &all[i]
		if p.base == 0 {
			return nil
		}
		first, end := p.l.cells.first(p.first), uint32(len(p.l.offsets)-1)
		if p.end < p.l.cells.count() {
			end = p.l.cells.first(p.end)
		}
		for at := range p.l.offsets[first:end] {
			p.l.offsets[int(first)+at] += uint32(p.base)
		}
		return nil
	})
}

// picks sets the offsets of the nodes of a piece, counted from its first node, and returns the number of their results.
func (k *walker) picks(p *piece) uint64 {
	s, l := k.sampler, p.l
	plain := s.Plain(l.op)
	sum := uint64(0)
	for rank, v := range l.cells.nodes(uint32(p.first*cellNodes), uint32(min(p.end*cellNodes, math.MaxUint32))) {
		n := s.Picks(l.op, s.Degree(l.op, v))
		if !plain {
			if len(k.pos) < int(n) {
				k.pos = make([]uint32, 2*n)
			}
			n = uint32(len(k.c.Draw(l.op, l.key, v, k.pos)))
		}
		l.offsets[rank] = uint32(sum)
		sum += uint64(n)
	}
	return sum
}

// lookup finds the results of nodes in the layers of an epoch.
type lookup struct {
	e         *epoch
	rank, end []uint32
}

// Ends implements sample.Fetched. Each loop prefetches the cache lines of the next one.
func (k *lookup) Ends(op int, nodes, far []uint32, ids graph.Index) {
	l := &k.e.layers[op-1]
	if len(k.rank) < len(nodes) {
		k.rank, k.end = make([]uint32, 2*len(nodes)), make([]uint32, 2*len(nodes))
	}
	rank, end := k.rank[:len(nodes)], k.end[:len(nodes)]
	for i, v := range nodes {
		rank[i] = v / cellNodes * 2
	}
	prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(l.cells))), rank)
	for i, v := range nodes {
		rank[i] = l.cells.below(v)
	}
	prefetch.At(unsafe.SliceData(l.offsets), rank)
	for i, r := range rank {
		rank[i], end[i] = l.offsets[r], l.offsets[r+1]
	}
	prefetch.At(unsafe.SliceData(l.far), rank)
	prefetch.At(unsafe.SliceData(l.far), end)
	to := 0
	for i, start := range rank {
		to += copy(far[to:], l.far[start:end[i]])
	}
	if ids.Len() > 0 {
		to = 0
		for i, start := range rank {
			l.copyIDs(ids, to, start, end[i]-start)
			to += int(end[i] - start)
		}
	}
}
