package outofcore

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
)

// emitter makes the subgraphs of windows that have all their steps.
type emitter[T any] struct {
	p       *pipeline
	workers []*emitWorker
	items   []*emitted[T]
	encode  func(context.Context, T, *sample.Batch, *sample.Subgraph) error
	sink    func(T) error
}

// emitted is a batch on its way to the sink.
type emitted[T any] struct {
	out   T
	batch uint64 // of the run
	stats sample.Stats
}

// emitWorker samples batches, and gives their context the results of a window or of layers.
type emitWorker struct {
	c      *sample.Context
	source sample.Batches
	batch  sample.Batch
	w      *window
	*neighbours
	ends []span // of each op (from 0): the slots that were not given yet
	look lookup
}

func newEmitter[T any](p *pipeline, newOut func() T, encode func(context.Context, T, *sample.Batch, *sample.Subgraph) error, sink func(T) error) *emitter[T] {
	e := &emitter[T]{p: p, encode: encode, sink: sink}
	for _, k := range p.walkers {
		// Walkers and emitters never run at the same time, so they share contexts.
		e.workers = append(e.workers, &emitWorker{c: k.c, source: p.batches, neighbours: p.neighbours, ends: make([]span, p.ops)})
	}
	for range ordered.Slots(p.emitters) {
		e.items = append(e.items, &emitted[T]{out: newOut()})
	}
	return e
}

// emit samples the batches of a window, in order, from batch first on.
func (e *emitter[T]) emit(ctx context.Context, w *window, first uint64, stats *sample.Stats) error {
	e.p.full = w
	defer func() { e.p.full = nil }()
	return e.run(ctx, first, w.first+w.n-first, w.fetched, stats)
}

// fetched is the far ends for a subgraph of a batch. Batches count from the first of the run.
type fetched func(k *emitWorker, batch uint64, i int) sample.Fetched

// run samples n batches from first on, in order. Where rows are fetched, it samples a pack of batches at a time, whose
// rows the tables hold.
func (e *emitter[T]) run(ctx context.Context, first, n uint64, from fetched, stats *sample.Stats) error {
	tables := e.p.tables.tables()
	if len(tables) == 0 {
		return e.sample(ctx, first, n, from, stats)
	}
	return e.sampleRows(ctx, tables, first, n, from, stats)
}

func (e *emitter[T]) sample(ctx context.Context, first, n uint64, from fetched, stats *sample.Stats) error {
	workers, items, next := e.workers, e.items, uint64(0)
	return ordered.Run(ctx, e.p.emitters,
		func() *emitWorker { k := workers[0]; workers = workers[1:]; return k },
		func() *emitted[T] { i := items[0]; items = items[1:]; return i },
		ordered.Stages[*emitWorker, *emitted[T]]{
			Fill: func(i *emitted[T]) error {
				if next == n {
					return io.EOF
				}
				i.batch = first + next
				next++
				return nil
			},
			Work: func(ctx context.Context, k *emitWorker, i *emitted[T]) error {
				return k.run(ctx, from, i.batch, e.p.job.Seed, &i.stats, func(b *sample.Batch, sub *sample.Subgraph) error {
					return e.encode(ctx, i.out, b, sub)
				})
			},
			Sink: func(i *emitted[T]) error {
				stats.Add(i.stats)
				return e.sink(i.out)
			},
		})
}

// run samples one batch.
func (k *emitWorker) run(ctx context.Context, from fetched, batch, seed uint64, stats *sample.Stats, encode func(*sample.Batch, *sample.Subgraph) error) error {
	s, b := k.sampler, &k.batch
	k.source.Get(batch, b)
	*stats = sample.Stats{Batches: 1, Seeds: uint64(len(b.Seeds) / s.SeedWidth())}
	for i := range s.Subgraphs(b) {
		if i%64 == 63 && ctx.Err() != nil {
			return ctx.Err()
		}
		b.At = i
		sub, err := k.c.SampleFrom(s.Input(b, seed, i), from(k, batch, i))
		if err != nil {
			return err
		}
		stats.Count(sub)
		if err := encode(b, sub); err != nil {
			return err
		}
	}
	return nil
}

// fetched is the results of a window.
func (w *window) fetched(k *emitWorker, batch uint64, i int) sample.Fetched {
	k.w = w
	for op := 1; op <= k.ops; op++ {
		k.ends[op-1] = *w.span(k.ops, batch-w.first, i, op)
	}
	return k
}

// Ends implements sample.Fetched.
func (k *emitWorker) Ends(op int, _, far []uint32, ids graph.Index) {
	at, st := &k.ends[op-1], k.w.stages[k.waveOf[op]]
	copy(far, st.far[at.start:])
	if ids.Len() > 0 {
		st.copyIDs(ids, 0, at.start, uint32(len(far)))
	}
	at.start += uint32(len(far))
}
