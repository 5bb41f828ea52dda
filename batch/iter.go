package batch

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
)

// Options say how to batch. The zero value of a field is its default, except for Size.
type Options struct {
	// Size is the number of rows, or groups, per batch; at least 1.
	Size int
	// Order is the order of the rows, or groups; nil means Shuffled.
	Order Order
	Seed  uint64
	Tail  Tail
	// Rank of Ranks takes the batches Rank, Rank + Ranks, ...; Ranks 0 means one. Tail decides how many.
	Rank, Ranks int
	// Threads is the number of goroutines that gather in advance; 0 means one.
	Threads int
}

// GroupOptions are further options for batches of groups.
type GroupOptions struct {
	// CountRows makes Size a number of rows: a batch is as many groups as fit, in order, and at least one, so that a
	// group of more rows is a batch alone. Tail then only concerns ranks.
	CountRows bool
	// Bucketed makes batches of groups of similar size: 1 row, 2, 3 and 4, 5 to 8 and so on. They have an order of
	// their own, and Order must be nil. Tail concerns every bucket.
	Bucketed bool
	// Padded gives each group as many rows as the longest group of its batch (with Bucketed, of its bucket) has, filled
	// up with zeros. Columns then have the shape [longest, ...].
	Padded bool
}

// Iter iterates over batches. It is not safe for concurrent use. Several goroutines fill its batches.
type Iter struct {
	columns []*graph.Column
	rows    int
	o       Options
	g       GroupOptions
	ptr     []uint64 // bounds of the groups; nil for rows
	buckets *buckets

	epoch uint64 // of the next call of All
	skip  int    // batches, over all ranks, that the call leaves out
	at    State  // after the last batch that was handed out
}

// New iterates over rows.
func New(columns []*graph.Column, o Options) (*Iter, error) {
	return newIter(columns, nil, o, GroupOptions{})
}

// NewGroups iterates over groups. Group g is the rows [ptr[g], ptr[g+1]). See GroupsOf for columns of group ids.
func NewGroups(columns []*graph.Column, ptr []uint64, o Options, g GroupOptions) (*Iter, error) {
	if len(ptr) == 0 {
		return nil, errOrder("found no offsets of groups, expected one more than there are groups")
	}
	return newIter(columns, ptr, o, g)
}

func newIter(columns []*graph.Column, ptr []uint64, o Options, g GroupOptions) (*Iter, error) {
	rows, err := checkColumns(columns)
	if err != nil {
		return nil, err
	}
	items := uint64(rows)
	if ptr != nil {
		items = uint64(len(ptr) - 1)
		if err := checkGroups(ptr, rows); err != nil {
			return nil, err
		}
	}
	o.Ranks, o.Threads = max(o.Ranks, 1), max(o.Threads, 1)
	switch {
	case o.Size < 1:
		return nil, errOrder("found batch size %d, expected at least 1", o.Size)
	case o.Rank < 0 || o.Rank >= o.Ranks:
		return nil, errOrder("found rank %d of %d, expected 0 to %d", o.Rank, o.Ranks, o.Ranks-1)
	case o.Tail > Error:
		return nil, errOrder("found tail %d, expected short, fill, drop, pad or error", o.Tail)
	case g.Bucketed && o.Order != nil:
		return nil, errOrder("found an order for batches of groups of similar size, expected none, because they have an order of their own")
	case g.Bucketed && g.CountRows:
		return nil, errOrder("found both `CountRows` and `Bucketed`, expected one of them")
	case o.Order != nil && o.Order.Items() != items:
		return nil, errOrder("found an order of %d items, expected %d", o.Order.Items(), items)
	}
	if o.Order == nil {
		o.Order = Shuffled(items)
	}
	o.Tail = o.Tail.Of(o.Ranks)
	it := &Iter{columns: columns, rows: rows, o: o, g: g, ptr: ptr}
	if g.Bucketed {
		it.buckets = newBuckets(ptr)
	}
	if o.Tail == Error {
		if err := it.checkWhole(); err != nil {
			return nil, err
		}
	}
	return it, nil
}

// checkWhole refuses, for Tail Error, items that leave a rest.
func (it *Iter) checkWhole() error {
	size := uint64(it.o.Size)
	switch {
	case it.g.Bucketed:
		for k, groups := range it.buckets.groups {
			if n := uint64(len(groups)); n%size != 0 {
				return errOrder("found %d groups of up to %d rows, expected a multiple of the batch size %d; take another tail", n, it.buckets.longest[k], size)
			}
		}
	case !it.g.CountRows && it.o.Order.Len()%size != 0:
		return errOrder("found %d items per epoch, expected a multiple of the batch size %d; take another tail", it.o.Order.Len(), size)
	}
	if it.g.CountRows {
		return nil // the number of batches differs between epochs
	}
	return it.checkEven(it.pass(0).batches(), 0)
}

// checkEven refuses, for Tail Error, batches from first on that the ranks cannot share evenly.
func (it *Iter) checkEven(batches, first int) error {
	if left := max(0, batches-first); it.o.Tail == Error && left%it.o.Ranks != 0 {
		return errOrder("found %d batches, expected a multiple of the %d ranks; take another tail", left, it.o.Ranks)
	}
	return nil
}

// pass is the batches of an epoch.
func (it *Iter) pass(epoch uint64) pass {
	if it.g.Bucketed {
		return newBucketed(it.buckets, it.o.Seed, epoch, it.o.Size, it.o.Tail)
	}
	e := it.o.Order.Epoch(it.o.Seed, epoch)
	if it.g.CountRows {
		return newCapped(it.o.Order, e, it.ptr, uint64(it.o.Size))
	}
	return newEven(it.o.Order, e, it.o.Size, it.o.Tail)
}

// Len is the number of batches that this rank gets from a whole pass over the next epoch. It is the same for every
// epoch, except with CountRows, where Len looks at every group.
func (it *Iter) Len() int {
	all := it.o.Tail.End(it.pass(it.epoch).batches(), 0, it.o.Ranks)
	return (all - it.o.Rank + it.o.Ranks - 1) / it.o.Ranks
}

// chunkBytes is the size that a goroutine fills at a time: small enough for a cache, and large enough that the handover
// costs little.
const chunkBytes = 256 << 10

var errLeft = errors.New("left")

// All iterates over the next epoch. The first call takes epoch 0, or the position of Resume. An epoch that is left
// early does not continue. An error ends the iteration.
func (it *Iter) All(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		epoch, skip := it.epoch, it.skip
		it.epoch, it.skip = it.epoch+1, 0
		it.at = State{Epoch: epoch, Batch: skip}
		p := it.pass(epoch)
		real := p.batches()
		if err := it.checkEven(real, skip); err != nil {
			yield(nil, err)
			return
		}
		end := it.o.Tail.End(real, skip, it.o.Ranks)
		f := &filler{Iter: it, pass: p, epoch: epoch, real: real}
		next := skip + it.o.Rank
		per := it.perChunk()
		windows := newAdviser(it, p)
		err := ordered.Run(ctx, it.o.Threads, f.worker, newChunk, ordered.Stages[*worker, *chunk]{
			Fill: func(c *chunk) error {
				if next >= end {
					return io.EOF
				}
				c.numbers = c.numbers[:0]
				for ; next < end && len(c.numbers) < per; next += it.o.Ranks {
					c.numbers = append(c.numbers, next)
				}
				windows.advise(c.numbers)
				return nil
			},
			Work: func(_ context.Context, w *worker, c *chunk) error { return f.fill(w, c) },
			Sink: func(c *chunk) error {
				for i := range c.numbers {
					b := &c.batches[i]
					it.at = State{Epoch: epoch, Batch: b.Number - it.o.Rank + it.o.Ranks}
					if it.at.Batch >= end {
						it.at = State{Epoch: epoch + 1}
					}
					if !yield(b, nil) {
						return errLeft
					}
				}
				return nil
			},
		})
		if err != nil && err != errLeft { //nolint:errorlint // Sink returns this very value
			yield(nil, err)
		}
	}
}

// perChunk is the number of batches in a chunk.
func (it *Iter) perChunk() int {
	width := 0
	for _, c := range it.columns {
		width += c.RowBytes()
	}
	rows := it.o.Size
	if it.ptr != nil && !it.g.CountRows {
		rows *= max(1, it.rows/max(1, len(it.ptr)-1))
	}
	return max(1, chunkBytes/max(1, width*rows))
}
