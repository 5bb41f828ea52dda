package assemble

import (
	"context"
	"math/bits"

	"github.com/graphmill/graphmill/internal/extsort"
)

// finisher is the state of one worker.
type finisher struct {
	*sink
	otherWriter *extsort.Writer
	batch       []byte
	mem         []byte // one slab of memory for all arrays of a leaf
	used        int    // bytes of mem in use
	heap        []runHead
	number      int      // number of the bucket
	base        uint64   // place of the next leaf of the bucket
	started     bool     // base is known
	kept        uint64   // number of edges of the bucket so far
	marks       []uint64 // bits of the far ends seen, for a node whose edges are in several leaves
	marked      bool
}

func (w *finisher) close() {
	extsort.Free(w.mem)
	w.mem = nil
}

// bucket finishes one bucket.
func (w *finisher) bucket(ctx context.Context, edges *extsort.Partition, b int) error {
	w.number, w.kept, w.started = b, 0, false
	if q := w.queue; q.bases != nil {
		w.base, w.started = q.bases[b], true
	}
	shift := edges.Shift()
	lo := uint64(b) << shift
	if err := w.part(ctx, edges, b, span{lo, min(uint64(1)<<shift, w.nearTop-lo), 0, 0}); err != nil {
		return err
	}
	if w.queue.bases == nil {
		if err := w.start(ctx); err != nil {
			return err
		}
		w.queue.done(w.kept)
	}
	return nil
}

// start waits until the place of the bucket is known.
func (w *finisher) start(ctx context.Context) error {
	if w.started {
		return nil
	}
	base, ok := w.queue.wait(w.number)
	if !ok {
		return context.Cause(ctx)
	}
	w.base, w.started = base, true
	return nil
}

// span is the part of the key space that a bucket covers: near ids lo..lo+width. If width is 1 and seqs is not 0, it
// covers the edges of this node with seq in seqLo..seqLo+seqs.
type span struct{ lo, width, seqLo, seqs uint64 }

// part finishes bucket b of a partition. The bucket covers the span x. part finishes it at once if it fits into the
// memory of a worker, and otherwise cuts it into smaller buckets.
func (w *finisher) part(ctx context.Context, edges *extsort.Partition, b int, x span) error {
	if w.cost(edges.Bytes(b), x.width) <= w.budget.leaf() || x.width == 1 && x.seqs == 1 {
		return w.leaf(ctx, edges, b, x)
	}
	return w.split(ctx, edges, b, x)
}

// cost returns the memory of a leaf.
func (w *finisher) cost(size int64, width uint64) int64 {
	n := size / int64(w.lay.least())
	c := size + n*16
	if wide := int64(min(width, 1<<40)); w.lists != nil {
		c += ranksBytes(wide) + min(n, wide)*12
	} else {
		c += wide * 12
	}
	if len(w.lay.cols) > 0 {
		c += n * 8
	}
	if w.dedupe() {
		c += n * 20
	}
	return c
}

// split cuts a bucket by near id or, if it has only one node, by seq.
func (w *finisher) split(ctx context.Context, edges *extsort.Partition, b int, x span) (err error) {
	const extent = 16 << 10
	buckets := 1 << bits.Len64(uint64(min(max(w.cost(edges.Bytes(b), x.width)/w.budget.leaf()*4, 2), 128))-1)
	for int64(buckets*extent) > w.budget.leaf()/2 && buckets > 2 {
		buckets /= 2
	}
	byNode := x.width > 1
	var shift uint
	if byNode {
		shift = uint(max(bits.Len64(x.width-1)-bits.Len(uint(buckets-1)), 0))
	} else {
		if x.seqs == 0 {
			x.seqs = w.lastSeq()
		}
		shift = uint(max(bits.Len64(x.seqs-1)-bits.Len(uint(buckets-1)), 0))
	}
	sub := extsort.NewPartition(edges.Spill(), buckets, extent, shift)
	sub.Codec = edges.Codec
	defer sub.Close()
	out, err := sub.Writer()
	if err != nil {
		return err
	}
	w.close() // free the memory of the last leaf for the buffers
	var buf []byte
	err = edges.Scan(b, &buf, func(data []byte, first bool) error {
		if first {
			if err := out.NextRun(); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(data) > 0 {
			n := w.lay.size(data)
			key := w.lay.near(data) - x.lo
			if !byNode {
				key = w.lay.seq(data) - x.seqLo
			}
			rec, err := out.Slot(key, n)
			if err != nil {
				return err
			}
			copy(rec, data[:n])
			data = data[n:]
		}
		return nil
	})
	edges.Free(b)
	if err == nil {
		err = sub.Finish()
	}
	if err != nil {
		return err
	}
	if !byNode && w.dedupe() && !w.marked {
		// The edges of one node are in several leaves: remember its far ends.
		w.marks = make([]uint64, (w.idTop(1-w.way)+63)/64)
		w.marked = true
		defer func() { w.marks, w.marked = nil, false }()
	}
	for i := range buckets {
		y := span{x.lo + uint64(i)<<shift, uint64(1) << shift, 0, 0}
		if !byNode {
			y = span{x.lo, 1, x.seqLo + uint64(i)<<shift, uint64(1) << shift}
		} else if y.lo >= x.lo+x.width {
			break
		} else {
			y.width = min(y.width, x.lo+x.width-y.lo)
		}
		if err := w.part(ctx, sub, i, y); err != nil {
			return err
		}
	}
	return nil
}

// lastSeq returns one more than the largest seq.
func (w *finisher) lastSeq() uint64 {
	if w.second {
		return uint64(w.meta.Count)
	}
	last := w.parts[len(w.parts)-1]
	return (last.base + last.rows) << w.sym
}
