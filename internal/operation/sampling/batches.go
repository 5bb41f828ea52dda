package sampling

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/ordered"
)

// Batch is a batch of a loader: a set of named arrays. The loader owns it and its arrays, which are valid until the iterator's
// next step.
type Batch struct {
	Epoch   uint64          // number of the epoch
	Number  int             // number of the batch in the epoch, counted over all ranks
	Columns []*graph.Column // their order depends only on the store and the options
}

// errEnough stops the threads that make batches when the caller stops the iteration.
var errEnough = errors.New("no more batches are wanted")

// Batches iterates over the batches of the loader, as the function Batches does. The loader can be iterated again.
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		o, infos := &l.o, l.source.Columns()
		end := l.source.End(batch.ByRanks.Of(o.Ranks), 0, o.Ranks)
		if l.source.Streamed() {
			if err := l.stream(ctx, end, yield); err != nil {
				yield(nil, err)
			}
			return
		}
		epoch, number := o.Epoch, o.Rank
		if number >= end {
			return
		}
		order := l.source.Epoch(epoch)
		type item struct {
			*buffered
			order batch.Items
		}
		err := ordered.Run(ctx, o.Threads, l.source.Maker, func() *item {
			return &item{buffered: newBuffered(infos)}
		}, ordered.Stages[*feed.Maker, *item]{
			Fill: func(i *item) error {
				if number >= end {
					epoch, number = epoch+1, o.Rank
					if epoch-o.Epoch >= uint64(o.Epochs) {
						return io.EOF
					}
					order = l.source.Epoch(epoch)
				}
				i.batch.Epoch, i.batch.Number, i.order = epoch, number, order
				number += o.Ranks
				return nil
			},
			Work: func(ctx context.Context, m *feed.Maker, i *item) error {
				m.Until(ctx)
				if _, err := m.Batch(i.order, i.batch.Epoch, i.batch.Number); err != nil {
					return err
				}
				i.fill(m)
				return nil
			},
			Sink: func(i *item) error {
				if !yield(i.batch, nil) {
					return errEnough
				}
				return nil
			},
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// stream makes the batches by the stream executor.
func (l *Loader) stream(ctx context.Context, end int, yield func(*Batch, error) bool) error {
	st, err := l.source.NewStream(1)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // its files are only read
	o, infos, enough := &l.o, l.source.Columns(), false
	err = feed.RunStream(ctx, st, feed.Pass{Epoch: o.Epoch, First: o.Rank, Step: o.Ranks, End: end, Epochs: o.Epochs},
		func() *buffered { return newBuffered(infos) },
		func(_ context.Context, i *buffered, m *feed.Maker, epoch uint64, b, _ int) error {
			i.batch.Epoch, i.batch.Number = epoch, b
			i.fill(m)
			return nil
		},
		func(i *buffered) error {
			if enough = !yield(i.batch, nil); enough {
				return errEnough
			}
			return nil
		})
	if enough {
		return nil
	}
	return err
}

// buffered is a batch with memory for its arrays.
type buffered struct {
	batch *Batch
	bufs  [][]uint64 // 8-byte words, so that every view is aligned
}

func newBuffered(infos []feed.ColumnInfo) *buffered {
	return &buffered{newBatch(infos), make([][]uint64, len(infos))}
}

// filler has a batch that was made: a feed.Maker, or a feed.EventMaker.
type filler interface {
	Rows(column int) int
	RowBytes(column int) int
	Fill(column int, dst []byte)
}

// fill takes the arrays of the batch that a maker has.
func (f *buffered) fill(m filler) {
	for k, c := range f.batch.Columns {
		n := m.Rows(k) * m.RowBytes(k)
		if words := (n + 7) / 8; cap(f.bufs[k]) < words {
			f.bufs[k] = make([]uint64, words+words/4)
		}
		c.Rows, c.Values = m.Rows(k), graph.Bytes(f.bufs[k][:cap(f.bufs[k])])[:n]
		m.Fill(k, c.Values)
	}
}

// newBatch makes a batch with empty columns.
func newBatch(infos []feed.ColumnInfo) *Batch {
	b := &Batch{}
	for _, info := range infos {
		d, _ := graph.ParseDType(info.DType) // of a column of the store
		c := &graph.Column{Name: info.Name, DType: d, Shape: info.Shape}
		if info.Of != nil {
			c.Unit, c.Categories = info.Of.Unit, info.Of.Categories
		}
		b.Columns = append(b.Columns, c)
	}
	return b
}
