package outofcore

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
)

// span is the slots of an op in a subgraph.
type span struct{ start, n uint32 }

// window is a run of batches that take each step together.
type window struct {
	first, n uint64   // batches of the run
	each     int      // most subgraphs per batch
	spans    []span   // by subgraph (batch*each + its place in the batch) and op (from 0)
	stages   []*stage // by step so far
}

func (w *window) span(ops int, batch uint64, i, op int) *span {
	return &w.spans[(int(batch)*w.each+i)*ops+op-1]
}

func (w *window) close() {
	for _, s := range w.stages {
		s.close()
	}
	w.stages, w.spans = nil, nil
}

// asked is a request whose slot counts from the first slot of its batch.
type asked struct{ bucket, value, slot uint32 }

// walker takes batches of windows through their next step.
type walker struct {
	*neighbours
	number int
	c      *sample.Context
	source sample.Batches
	batch  sample.Batch
	far    []uint32
	pos    []uint32
	asks   []asked
	segs   []segment
	single bool // all requests are for single edges, which need no segment
}

// advance takes windows through their next step: each gains a stage with requests.
func (p *pipeline) advance(ctx context.Context, windows []*window) error {
	type task struct {
		w     *window
		batch uint64
	}
	total := uint64(0)
	for _, w := range windows {
		s, err := newStage(&p.shared, p.slots, p.idWords(len(w.stages)), p.threads, 2*int(p.blocks), p.shift)
		if err != nil {
			return err
		}
		w.stages = append(w.stages, s)
		total += w.n
	}
	find := func(i uint64) task {
		for _, w := range windows {
			if i < w.n {
				return task{w, i}
			}
			i -= w.n
		}
		return task{}
	}
	var next atomic.Uint64
	g, ctx := guard.WithContext(ctx)
	for _, k := range p.walkers {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= total {
					return nil
				}
				t := find(i)
				if err := k.step(ctx, p, t.w, t.batch); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, w := range windows {
		w.stages[len(w.stages)-1].ready()
	}
	return nil
}

// step adds the requests of a batch to the last stage of its window.
func (k *walker) step(ctx context.Context, p *pipeline, w *window, batch uint64) error {
	base, err := k.walk(ctx, p, w, batch)
	if err != nil {
		return err
	}
	list := w.stages[len(w.stages)-1].lists[k.number]
	for _, a := range k.asks {
		if err := list.push(a.bucket, newRequest(a.value, base+a.slot)); err != nil {
			return err
		}
	}
	return nil
}

// walk finds the requests of a batch in the last stage of its window. The slots of k.asks count from base.
func (k *walker) walk(ctx context.Context, p *pipeline, w *window, batch uint64) (base uint32, err error) {
	s, st := k.sampler, w.stages[len(w.stages)-1]
	wave := k.waves[len(w.stages)-1]
	k.source.Get(w.first+batch, &k.batch)
	k.asks, k.segs = k.asks[:0], k.segs[:0]
	slots := uint64(0)
	subgraphs := s.Subgraphs(&k.batch)
	for i := range subgraphs {
		if i%64 == 63 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		in := s.Input(&k.batch, p.job.Seed, i)
		if err := k.c.Begin(in); err != nil {
			return 0, err
		}
		for op := 1; op < wave[0]; op++ {
			at := w.span(k.ops, batch, i, op)
			k.far = append(k.far[:0], w.stages[k.waveOf[op]].far[at.start:at.start+at.n]...)
			if err := k.c.Found(op, k.far); err != nil {
				return 0, err
			}
		}
		for op := wave[0]; op < wave[1]; op++ {
			key, from := s.Key(in, op), slots
			if err := k.ask(op, key, &slots); err != nil {
				return 0, err
			}
			*w.span(k.ops, batch, i, op) = span{uint32(from), uint32(slots - from)}
			if slots > from {
				k.segs = append(k.segs, segment{uint32(from), uint32(op), key})
			}
		}
	}
	if base, err = st.take(slots, k.segs); err != nil {
		return 0, err
	}
	for i := range subgraphs {
		for op := wave[0]; op < wave[1]; op++ {
			w.span(k.ops, batch, i, op).start += base
		}
	}
	return base, nil
}

// ask notes the requests of an op for its frontier, and advances slot by their results.
func (k *walker) ask(op int, key uint64, slot *uint64) error {
	s, f := k.sampler, k.fileOf[op]
	single := k.blocks + f.first // the first bucket of requests for single edges of the file
	at, plain := *slot, s.Plain(op)
	err := k.c.Frontier(op, key, func(run *sample.Frontier) error {
		if at+uint64(run.Picks) >= 1<<32 {
			return errWindow()
		}
		if !plain {
			for _, p := range run.Positions {
				k.asks = append(k.asks, asked{single + f.block(p), f.place(p), uint32(at)})
				at++
			}
			return nil
		}
		for i, d := range run.Degree {
			n := s.Picks(op, d)
			if n == 0 {
				continue
			}
			v := run.Node[i]
			from, end := s.Span(op, v)
			first := f.block(from)
			if !k.single && first == f.block(end-1) {
				k.asks = append(k.asks, asked{f.first + first, v, uint32(at)})
				at += uint64(n)
				continue
			}
			if len(k.pos) < int(n) {
				k.pos = make([]uint32, 2*n)
			}
			for _, i := range k.c.Draw(op, key, v, k.pos) {
				p := from + uint64(i)
				k.asks = append(k.asks, asked{single + f.block(p), f.place(p), uint32(at)})
				at++
			}
		}
		return nil
	})
	*slot = at
	return err
}
