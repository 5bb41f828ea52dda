package outofcore

import (
	"context"
	"errors"
	"sync"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
)

// pipeline is a run: its job, the buffers of its goroutines, and the memory that they share.
type pipeline struct {
	shared
	*neighbours
	tables   *rowTables
	counts   *counters
	job      *sample.Job
	batches  sample.Batches
	threads  int
	emitters int      // goroutines that sample and encode
	share    rowShare // of the rows of columns
	full     *window  // the window that is emitted, nil where there is none
	slots    int      // the most of a stage
	shift    uint32   // of stages' guides
	walkers  []*walker
	readers  []*reader
	free     []func()
}

// newPipeline makes the goroutines' buffers for a run. share is the memory of the rows of columns, emitters the number
// of goroutines that sample and encode.
func (x *Executor) newPipeline(job *sample.Job, batches *sample.Batches, share rowShare, emitters int) (*pipeline, error) {
	b := x.budget(job, demand{})
	p := &pipeline{
		neighbours: x.neighbours, tables: &x.rows, counts: &x.counts, job: job, batches: *batches,
		threads: x.opt.Threads, emitters: emitters, share: share, slots: b.stageSlots(), shift: 12,
	}
	p.lean = x.opt.Memory > 0 && x.opt.Memory < leanMemory
	if p.sampler.Plan().Scope == sample.ScopeSeed {
		p.shift = 6
	}
	for i := range p.threads {
		p.walkers = append(p.walkers, &walker{neighbours: p.neighbours, number: i, c: p.sampler.NewContext(), source: *batches})
	}
	ids := p.idBytes()
	n := b.readers()
	buf, free, err := direct.Alloc(n * (blockBytes + ids))
	if err != nil {
		return nil, err
	}
	p.free = append(p.free, free)
	for i := range n {
		own := buf[i*(blockBytes+ids) : (i+1)*(blockBytes+ids)]
		p.readers = append(p.readers, &reader{neighbours: p.neighbours, c: p.sampler.NewContext(), buf: own[:blockBytes], ids: own[blockBytes:]})
	}
	return p, nil
}

func (p *pipeline) close() {
	p.pieces.close()
	for _, f := range p.free {
		f()
	}
}

// open makes a window of n batches, from batch first of the run on.
func (p *pipeline) open(first, n uint64) *window {
	w := &window{first: first, n: n, each: 1}
	if p.sampler.Plan().Scope == sample.ScopeSeed {
		w.each = p.job.BatchSize
	}
	w.spans = make([]span, int(n)*w.each*p.ops)
	return w
}

// Run samples every batch of a job as sample.Run does. encode gets the context of ordered.Stages.Work. Job.Threads is not used. GOMAXPROCS is four times
// Options.Threads while it runs.
func Run[T any](ctx context.Context, x *Executor, job sample.Job, newOut func() T,
	encode func(ctx context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (sample.Stats, error) {
	x.cutBatch(&job)
	batches, err := x.neighbours.sampler.Batches(&job)
	if err != nil {
		return sample.Stats{}, err
	}
	defer raiseProcs(x.opt.Threads)()
	return runByDesign(ctx, x, job, batches, newOut, encode, sink)
}

// runWindows runs a job by the pipeline of windows.
func runWindows[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, d *division, newOut func() T,
	encode func(ctx context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	total := batches.Len()
	size := d.Batches
	p, err := x.newPipeline(&job, batches, d.share, d.emitters)
	if err != nil {
		return stats, err
	}
	defer p.close()
	e := newEmitter(p, newOut, encode, sink)
	var windows []*window // those under way, the oldest first
	var full *window      // the window that has all its steps
	defer func() {
		for _, w := range append(windows, full) {
			if w != nil {
				w.close()
			}
		}
	}()
	for next := uint64(0); ; {
		if next < total {
			// The fewest windows that the size allows, of equal size.
			left := total - next
			n := (left + (left+size-1)/size - 1) / ((left + size - 1) / size)
			n = x.fitting(&job, batches, next, n, size)
			windows = append(windows, p.open(next, n))
			next += n
		}
		if len(windows) > 0 && len(p.waves) > 0 {
			if err := p.advance(ctx, windows); err != nil {
				return stats, err
			}
		}
		if full == nil && len(windows) == 0 {
			return stats, nil
		}
		sweep := func(ctx context.Context) error { return p.sweep(ctx, windows) }
		if err := p.overlap(ctx, sweep, func(ctx context.Context) error {
			if full == nil {
				return nil
			}
			return e.emit(ctx, full, full.first, &stats)
		}); err != nil {
			return stats, err
		}
		if full != nil {
			full.close()
			full = nil
		}
		for _, w := range windows {
			if len(w.stages) > 0 {
				w.stages[len(w.stages)-1].served()
			}
		}
		if len(windows) > 0 && len(windows[0].stages) == len(p.waves) {
			full, windows = windows[0], windows[1:]
		}
	}
}

// overlap sweeps while fn runs in the calling goroutine. The first of them to fail cancels the other.
func (p *pipeline) overlap(ctx context.Context, sweep, fn func(context.Context) error) error {
	return concurrently(ctx, func(ctx context.Context) error {
		if len(p.waves) == 0 {
			return nil
		}
		return sweep(ctx)
	}, fn)
}

// concurrently runs other while fn runs in the calling goroutine. The first of them to fail cancels the other.
func concurrently(ctx context.Context, other, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		if failed = guard.Do(func() error { return other(ctx) }); failed != nil {
			cancel(failed)
		}
	})
	err := guard.Do(func() error { return fn(ctx) })
	if err != nil {
		cancel(err)
	}
	running.Wait()
	if failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return failed
	}
	return err
}
