package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// Stream makes the batches of one consumer by sweeps over the files of the store, in order: the same batches as Makers. One
// RunStream at a time may be under way.
type Stream struct {
	src     *Source
	x       *outofcore.Executor
	columns []column
	lists   int // of places
	orders  orders
}

// NewStream prepares a stream, one of n among which the memory is divided. It is closed before the source.
func (s *Source) NewStream(n int) (*Stream, error) {
	st := &Stream{src: s, x: s.stream.Split(n)}
	st.orders.src = s
	from := newFetched(s.sampler, sweptTables{st.x})
	var err error
	if st.columns, err = columnsOf(s.sampler, s.features, s.ops, &tables{numbers: s.tables.numbers}, from); err != nil {
		_ = st.x.Close()
		return nil, err
	}
	st.columns = append(st.columns, s.columns[len(st.columns):]...) // times
	st.lists = from.lists
	for t, n := range s.sampler.Graph().Nodes {
		if k := s.features.Kept[n.Type]; k != nil && !s.features.aged(n.Type) {
			st.x.NodeRows(t).Leave(k.words)
		}
	}
	return st, nil
}

// Close frees the memory of the stream.
func (st *Stream) Close() error { return st.x.Close() }

// Forecast is what an epoch is expected to take where epochs follow each other, and one consumer takes all batches. It reads
// some pages of the files.
func (s *Source) Forecast(ctx context.Context) (f outofcore.Forecast, err error) {
	st, err := s.NewStream(1)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	job, err := st.job(Pass{Step: 1, Epochs: endless})
	if err != nil {
		return f, err
	}
	f, err = st.x.Foretell(ctx, job)
	s.stream.Learn(st.x)
	f.Bytes, f.Written, f.Sweeps, f.Seconds = f.Bytes/endless, f.Written/endless, f.Sweeps/endless, f.Seconds/endless
	return f, err
}

// Counts is the work of the stream so far.
func (st *Stream) Counts() outofcore.Counts { return st.x.Counts() }

// Pass is the batches of a consumer: First, First + Step, ... below End, in Epochs epochs from Epoch on.
type Pass struct {
	Epoch            uint64
	First, Step, End int // batch numbers over all ranks
	Epochs           int
}

func (st *Stream) job(p Pass) (sample.Job, error) {
	job := st.src.job
	if n := st.src.order.Len(); n != uint64(st.src.Seeds()) {
		return job, fmt.Errorf("found an order of %d positions, expected the %d seeds", n, st.src.Seeds())
	}
	job.Order = st.orders.epoch
	job.Epoch, job.Epochs, job.End = p.Epoch, p.Epochs, p.End
	job.Rank, job.Ranks, job.From = p.First%p.Step, p.Step, uint64(p.First/p.Step)
	return job, nil
}

// streamed is a batch on its way to the consumer.
type streamed[T any] struct {
	item  T
	maker *Maker
}

// RunStream makes the batches of a pass. write takes each batch, given by its epoch, its number and the bytes that it takes
// in a slot, from a Maker that is valid until it returns. It runs in several goroutines; the batches begin in order. sink
// takes the items of newItem in order.
func RunStream[T any](ctx context.Context, st *Stream, p Pass, newItem func() T,
	write func(ctx context.Context, item T, m *Maker, epoch uint64, b, size int) error, sink func(item T) error) error {
	if p.First >= p.End {
		return nil
	}
	job, err := st.job(p)
	if err != nil {
		return err
	}
	s := st.src.sampler
	apart := s.Plan().Scope == sample.ScopeSeed
	_, err = outofcore.Run(ctx, st.x, job,
		func() *streamed[T] {
			o := &streamed[T]{newItem(), &Maker{src: st.src, columns: st.columns, at: make([]int, len(st.columns))}}
			if apart {
				o.maker.disjoint = newDisjoint(s)
			}
			return o
		},
		func(ctx context.Context, o *streamed[T], b *sample.Batch, sub *sample.Subgraph) error {
			whole, err := o.maker.take(b, sub, s.Subgraphs(b), st.lists)
			if err != nil || !whole {
				return err
			}
			return write(ctx, o.item, o.maker, b.Epoch, int(b.Number), placeColumns(st.columns, &o.maker.made, o.maker.at))
		},
		func(o *streamed[T]) error { return sink(o.item) })
	return err
}

// take takes the next of the n subgraphs of a batch. It says whether the batch is whole.
func (m *Maker) take(b *sample.Batch, sub *sample.Subgraph, n, lists int) (whole bool, err error) {
	if b.At == 0 {
		m.made.input = m.made.input[:0]
		for _, i := range b.Rows {
			m.made.input = append(m.made.input, uint64(i))
		}
		m.made.edges = m.made.edges[:0]
		for _, id := range b.Edges {
			m.made.edges = append(m.made.edges, uint64(id))
		}
		m.made.times = append(m.made.times[:0], b.Times...)
		m.made.begin(lists)
		if m.disjoint != nil {
			m.disjoint.begin()
		}
	}
	if m.disjoint == nil {
		m.made.sub = sub
		return true, nil
	}
	if err := m.disjoint.add(sub); err != nil || b.At+1 < n {
		return false, err
	}
	m.made.batch, m.made.sub = m.disjoint.batch, m.disjoint.join()
	return true, nil
}

// orders keeps the orders of the epochs that are under way, which several goroutines use.
type orders struct {
	src  *Source
	mu   sync.Mutex
	kept [mostEpochs]struct {
		number uint64
		items  batch.Items
	}
	next int
}

// mostEpochs is more than the epochs that the windows under way are of.
const mostEpochs = 4

func (o *orders) epoch(number uint64) sample.Items {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.kept {
		if k.items != nil && k.number == number {
			return k.items
		}
	}
	k := &o.kept[o.next%mostEpochs]
	o.next++
	k.number, k.items = number, o.src.Epoch(number)
	return k.items
}
