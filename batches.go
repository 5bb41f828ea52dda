package graphmill

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/ordered"
)

// Batch is a sampled batch: a set of named arrays. The iterator owns the batch and its arrays, which are valid until the
// next step; Clone returns a copy that stays valid.
//
// The names of the arrays are
//
//	input_id                index of each seed in the list of seeds
//	seed_local              local id of each seed; for links, of source and target alternately
//	nodes/TYPE/n_id         id of each node in the store; the index in this array is the local id
//	nodes/TYPE/by_hop       number of nodes per hop, the seeds first
//	nodes/TYPE/x/COLUMN     a feature, one row per node
//	edges/TYPE/edge_index   local ids, shape (2, edges): the sources, then the destinations
//	edges/TYPE/e_id         position of each edge in the input of the import, or its id in the store
//	edges/TYPE/by_hop       number of edges per hop
//	edges/TYPE/x/COLUMN     a feature, one row per edge
//
// In TYPE and COLUMN, % is written %25, and / is written %2F.
//
// Edges have no by_hop with Subgraph bidirectional and induced. Some options add arrays: ScopeSeed adds nodes/TYPE/batch (the index of each node's seed in the batch), Before adds
// seed_time, seeds that are links add links/COLUMN, Negatives adds negative_local (local ids of the negatives of each link, as
// seed_local), and Ops adds ops/K/frontier, ops/K/edge_index and ops/K/e_id for op K.
type Batch struct {
	Epoch  uint64 // number of the epoch
	Number int    // number of the batch in the epoch, counted over all ranks

	columns []*graph.Column
}

// Column returns the array with a name, nil if the batch has no such array.
func (b *Batch) Column(name string) *graph.Column { return graph.FindColumn(b.columns, name) }

// Columns returns all arrays of the batch. Their order depends only on the store and the options.
func (b *Batch) Columns() []*graph.Column { return b.columns }

// Seeds returns the local id of each seed; for links, the local ids of source and target alternately.
func (b *Batch) Seeds() []int64 { return b.ints("seed_local") }

// Nodes returns the ids in the store of the nodes of a type. The index in the slice is the local id.
func (b *Batch) Nodes(typ string) []int64 { return b.ints("nodes/" + feed.Escaped(typ) + "/n_id") }

// Edges returns the local ids of the sources and destinations of the edges of a type, such as "src:rel:dst".
func (b *Batch) Edges(typ string) (src, dst []int64) {
	both := b.ints("edges/" + feed.Escaped(typ) + "/edge_index")
	return both[:len(both)/2], both[len(both)/2:]
}

// Feature returns a feature of the nodes of a type, one row per node; nil if the batch does not have it.
func (b *Batch) Feature(typ, name string) *graph.Column {
	return b.Column("nodes/" + feed.Escaped(typ) + "/x/" + feed.Escaped(name))
}

// Clone returns a copy of the batch that stays valid after the iterator's next step.
func (b *Batch) Clone() *Batch {
	c := &Batch{Epoch: b.Epoch, Number: b.Number}
	for _, column := range b.columns {
		kept := *column
		kept.Values = slices.Clone(column.Values)
		c.columns = append(c.columns, &kept)
	}
	return c
}

func (b *Batch) ints(name string) []int64 {
	c := b.Column(name)
	if c == nil {
		return nil
	}
	return graph.View[int64](c.Values)
}

// Batches iterates over the sampled batches of all epochs of a store, with their features, in order. Several batches are
// sampled in memory at a time; they do not depend on the number of threads. An error ends the iteration: it comes with a
// nil batch as the last step.
func Batches(ctx context.Context, st *Store, o SampleOptions) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		l, err := NewLoader(ctx, st, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.Close()
		l.Batches(ctx)(yield)
	}
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
			Work: func(m *feed.Maker, i *item) error {
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
		func(i *buffered, m *feed.Maker, epoch uint64, b, _ int) error {
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

// fill takes the arrays of the batch that a maker has.
func (f *buffered) fill(m *feed.Maker) {
	for k, c := range f.batch.columns {
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
		b.columns = append(b.columns, c)
	}
	return b
}
