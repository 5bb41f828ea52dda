package outofcore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
)

// epoch is the batches of one epoch under scope epoch, where a node has one sample per op, which is kept once per node.
type epoch struct {
	number   uint64
	first, n uint64  // batches of the run
	layers   []layer // by op (from 0)
	done     int     // waves that have all their results
	asked    bool    // the layers of the next wave wait for a sweep
}

func (e *epoch) close() {
	for i := range e.layers {
		e.layers[i].close()
	}
}

// fetched is the results of an epoch.
func (e *epoch) fetched(k *emitWorker, _ uint64, _ int) sample.Fetched {
	k.look.e = e
	return &k.look
}

// condenser is a run by epochs.
type condenser struct {
	*pipeline
	budget layerBudget
	each   uint64 // batches per epoch
	total  uint64 // batches
	next   uint64 // the first batch that is in no epoch yet
	under  []*epoch
	full   []*epoch // those with all their waves

	limit, used int64   // bytes of the layers
	lacks       int64   // the most bytes that limit was too small for
	sizes       []int64 // bytes of an epoch's layers by wave
}

// errLayers is the error of an epoch whose layers do not fit in memory.
var errLayers = fmt.Errorf("%w for condensed layers", ErrMemory)

// newCondenser begins a run.
func (x *Executor) newCondenser(job *sample.Job, batches *sample.Batches, d *division) (*condenser, error) {
	layers := layerBudget{d.budget}
	limit, share := layers.limit(d.Window)
	p, err := x.newPipeline(job, batches, share, d.emitters)
	if err != nil {
		return nil, err
	}
	each := job.EpochBatches(x.neighbours.sampler.SeedWidth())
	return &condenser{pipeline: p, budget: layers, each: each, total: batches.Len(), limit: limit, sizes: layers.sizes()}, nil
}

func (c *condenser) together() int {
	return int(min(c.budget.together(c.sizes, c.limit, epochs(c.job, c.each, c.total)), math.MaxInt32))
}

// size is the bytes of the layers of a wave.
func (e *epoch) size(wave [2]int) int64 {
	size := int64(0)
	for op := wave[0]; op < wave[1]; op++ {
		size += e.layers[op-1].bytes
	}
	return size
}

// open begins the epochs of the next stage, or those that a stage still lacks: the fewest stages that the memory
// allows, of equal size.
func (c *condenser) open() {
	most := c.together()
	left := int(epochs(&sample.Job{From: c.job.From + c.next}, c.each, c.total-c.next))
	stages := (left + most - 1) / most
	for n := c.waiting(0); c.next < c.total && n < (left+stages-1)/stages && len(c.under) < most*len(c.waves); n++ {
		at := c.job.From + c.next
		e := &epoch{number: c.job.Epoch + at/c.each, first: c.next, layers: make([]layer, c.ops)}
		e.n = min(c.each-at%c.each, c.total-c.next)
		c.next += e.n
		c.under = append(c.under, e)
	}
}

// advance adds the layers of the next wave of the epochs under way: for as many epochs in each wave as go together, the
// oldest first.
func (c *condenser) advance(ctx context.Context) error {
	for opens := true; ; opens = false {
		asked, fits := 0, true
		for wave := len(c.waves) - 1; wave >= 0 && fits; wave-- {
			if wave == 0 && opens {
				c.open()
			}
			n := 0
			for _, e := range c.under {
				if e.done != wave || n >= c.together() {
					continue
				}
				ok, err := c.ask(ctx, e)
				if err != nil {
					return err
				}
				if fits = ok; !fits {
					break
				}
				e.asked = true
				n++
				c.sizes[wave] = e.size(c.waves[wave])
			}
			asked += n
		}
		if asked > 0 || len(c.full) > 0 || len(c.under) == 0 {
			return nil
		}
		// Younger epochs hold the memory that the oldest needs: they begin again at a later call.
		if len(c.under) == 1 {
			once := int64(1 << 20)
			for _, size := range c.sizes {
				once += size
			}
			return fmt.Errorf("%w: found `Memory` %s, expected at least %s, which the stream executor needs for the samples of one epoch; give more `Memory`, or take `Scope` batch",
				errLayers, human.Bytes(c.budget.opt.Memory), human.Bytes(c.budget.opt.Memory-c.limit+max(c.lacks+1<<20, once)))
		}
		youngest := c.under[len(c.under)-1]
		c.under = c.under[:len(c.under)-1]
		c.next = youngest.first
		youngest.close()
	}
}

// waiting is the number of epochs under way that have the given number of waves.
func (c *condenser) waiting(done int) int {
	n := 0
	for _, e := range c.under {
		if e.done == done {
			n++
		}
	}
	return n
}

// asked is the layers that the next sweep fills.
func (c *condenser) asked() []*layer {
	var layers []*layer
	for _, e := range c.under {
		if e.asked {
			wave := c.waves[e.done]
			for op := wave[0]; op < wave[1]; op++ {
				layers = append(layers, &e.layers[op-1])
			}
		}
	}
	return layers
}

// swept notes that a sweep has filled the layers of asked.
func (c *condenser) swept() {
	for _, e := range c.under {
		if e.asked {
			e.done, e.asked = e.done+1, false
		}
	}
	for len(c.under) > 0 && c.under[0].done == len(c.waves) {
		c.full = append(c.full, c.under[0])
		c.under = c.under[1:]
	}
}

func (c *condenser) close() {
	for _, e := range slices.Concat(c.full, c.under) {
		e.close()
	}
	c.pipeline.close()
}

// runCondensed runs a job by epochs whose layers are condensed. Where the error is errLayers, stats has the number of
// batches that the sink got.
func runCondensed[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, d *division, newOut func() T,
	encode func(ctx context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	c, err := x.newCondenser(&job, batches, d)
	if err != nil {
		return stats, err
	}
	defer c.close()
	e := newEmitter(c.pipeline, newOut, encode, sink)
	for {
		if err := c.advance(ctx); err != nil {
			return stats, err
		}
		if len(c.full) == 0 && len(c.under) == 0 {
			return stats, nil
		}
		layers := c.asked()
		sweep := func(ctx context.Context) error { return c.sweepLayers(ctx, layers) }
		if err := c.overlap(ctx, sweep, func(ctx context.Context) error {
			for ; len(c.full) > 0; c.full = c.full[1:] {
				full := c.full[0]
				if err := e.run(ctx, full.first, full.n, full.fetched, &stats); err != nil {
					return err
				}
				full.close()
			}
			return nil
		}); err != nil {
			return stats, err
		}
		c.swept()
	}
}
