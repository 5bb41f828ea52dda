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

// Batch is a sampled batch: arrays by name. It and its arrays are the iterator's, valid until the next step; Clone
// keeps them.
//
// The names are
//
//	input_id                place of each seed in the list of seeds
//	seed_local              local id of each seed; of links, source and target in turn
//	nodes/TYPE/n_id         id of each node in the store; its place is the local id
//	nodes/TYPE/by_hop       number of nodes per hop, the seeds first
//	nodes/TYPE/x/COLUMN     rows of a feature
//	edges/TYPE/edge_index   local ids of all sources, then of all destinations
//	edges/TYPE/e_id         place of each edge in the input of the import, or its id
//	edges/TYPE/by_hop       number of edges per hop
//	edges/TYPE/x/COLUMN     rows of a feature
//
// and with ScopeSeed nodes/TYPE/batch (the seed of each node), with Before seed_time, with links links/COLUMN, with Ops
// ops/K/frontier, ops/K/edge_index and ops/K/e_id of op K.
type Batch struct {
	Epoch  uint64
	Number int // in the epoch, over all ranks

	columns []*graph.Column
}

// Column is the array of a name, nil if the batch has none.
func (b *Batch) Column(name string) *graph.Column { return graph.FindColumn(b.columns, name) }

// Columns are all arrays of the batch, in an order that depends on the store and the options alone.
func (b *Batch) Columns() []*graph.Column { return b.columns }

// Seeds are the local ids of the seeds.
func (b *Batch) Seeds() []int64 { return b.ints("seed_local") }

// Nodes are the ids in the store of a type's nodes. The place in the list is the local id.
func (b *Batch) Nodes(typ string) []int64 { return b.ints("nodes/" + typ + "/n_id") }

// Edges are the local ids of both ends of a type's edges.
func (b *Batch) Edges(typ string) (src, dst []int64) {
	both := b.ints("edges/" + typ + "/edge_index")
	return both[:len(both)/2], both[len(both)/2:]
}

// Feature is a feature of a type's nodes, a row per node, nil if the batch does not have it.
func (b *Batch) Feature(typ, name string) *graph.Column {
	return b.Column("nodes/" + typ + "/x/" + name)
}

// Clone is a copy of the batch that stays valid.
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

// Batches are the sampled batches of a store with their features, in order, of all epochs. They are made in memory,
// several at a time, and do not depend on the number of threads. An error is the last step.
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

// errEnough ends the making of batches that nobody takes any more.
var errEnough = errors.New("no more batches are wanted")

// Batches are the batches of the loader, as those of the function Batches.
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		o, infos := &l.o, l.source.Columns()
		end := l.source.End(batch.ByRanks.Of(o.Ranks), 0, o.Ranks)
		epoch, number := o.Epoch, o.Rank
		if number >= end {
			return
		}
		order := l.source.Epoch(epoch)
		type item struct {
			batch *Batch
			order batch.Items
			bufs  [][]uint64 // 8-byte words, so that every view is aligned
		}
		err := ordered.Run(ctx, o.Threads, l.source.Maker, func() *item {
			return &item{batch: newBatch(infos), bufs: make([][]uint64, len(infos))}
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
				for k, c := range i.batch.columns {
					n := m.Rows(k) * m.RowBytes(k)
					if words := (n + 7) / 8; cap(i.bufs[k]) < words {
						i.bufs[k] = make([]uint64, words+words/4)
					}
					c.Rows, c.Values = m.Rows(k), graph.Bytes(i.bufs[k][:cap(i.bufs[k])])[:n]
					m.Fill(k, c.Values)
				}
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

// newBatch is a batch with empty columns.
func newBatch(infos []feed.ColumnInfo) *Batch {
	b := &Batch{}
	for _, info := range infos {
		d, _ := graph.ParseDType(info.DType) // of a column of the store
		b.columns = append(b.columns, &graph.Column{Name: info.Name, DType: d, Shape: info.Shape})
	}
	return b
}
