package outofcore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
)

// epoch is the batches of one epoch under scope epoch, where a node has one sample an
// op: what each op takes is kept once a node.
type epoch struct {
	number   uint64
	first, n uint64  // batches of the run
	layers   []layer // by op (from 0)
	done     int     // waves of which all is there
	asked    bool    // the next wave is asked for
}

func (e *epoch) close() {
	for i := range e.layers {
		e.layers[i].close()
	}
}

// fetched is an epoch's layers.
func (e *epoch) fetched(k *emitWorker, _ uint64, _ int) sample.Fetched {
	k.look.e = e
	return &k.look
}

// condenser is a run by epochs.
type condenser struct {
	*pipeline
	each  uint64 // batches an epoch
	total uint64 // batches
	next  uint64 // batch that is not in an epoch yet
	under []*epoch
	full  []*epoch // have all their waves

	limit, used int64   // bytes of the layers
	lacks       int64   // what limit was too little for
	sizes       []int64 // bytes of an epoch's layers by wave
}

// shrink is how many distinct nodes an edge that one wave takes is expected to add to
// the next, until the first epoch tells: graphs with hubs have fewer, and a stage that
// was begun with too many epochs only makes some of them wait.
const shrink = 0.4

// errLayers is an epoch of which not one fits in memory.
var errLayers = fmt.Errorf("%w for condensed layers", ErrMemory)

// newCondenser begins a run. windowOf has told how many edges a batch has.
func (x *Executor) newCondenser(job *sample.Job, batches *sample.Batches, w Window) (*condenser, error) {
	p, err := x.newPipeline(job, batches)
	if err != nil {
		return nil, err
	}
	c := &condenser{pipeline: p, each: job.EpochBatches(x.sampler.SeedWidth()), total: batches.Len()}
	c.limit = x.layerLimit(job, w)
	c.sizes = x.layerSizes(job)
	return c, nil
}

// layerLimit is the bytes that layers may have.
func (x *Executor) layerLimit(job *sample.Job, w Window) int64 {
	if x.opt.Memory == 0 {
		return math.MaxInt64
	}
	return int64(x.reserveRows(job, float64(x.opt.Memory-x.fixed()-x.held)-w.BatchEdges*x.perContext()))
}

// layerSizes reckons the bytes of an epoch's layers by wave.
func (x *Executor) layerSizes(job *sample.Job) []int64 {
	plan, perOp := x.sampler.Plan(), x.rows.perOp
	batches := float64(job.EpochBatches(x.sampler.SeedWidth()))
	sizes := make([]int64, len(x.waves))
	results := make([]float64, x.ops+1)
	for op := 1; op <= x.ops; op++ {
		distinct, visits := 0.0, 0.0
		for _, f := range plan.Ops[op-1].From {
			if f == 0 {
				visits += float64(job.BatchSize)
				distinct += float64(job.BatchSize) * batches
			} else {
				visits += perOp[f]
				distinct += results[f] * shrink
			}
		}
		nodes := float64(len(x.sampler.Offsets(op)))
		distinct = min(distinct, nodes)
		results[op] = min(distinct*perOp[op]/max(visits, 1), perOp[op]*batches)
		width := 4.0
		if x.fileOf[op].ids != nil {
			width = 8
		}
		sizes[x.waveOf[op]] += int64(results[op]*width + distinct*4 + nodes*16/cellNodes)
	}
	return sizes
}

// together is how many of so many epochs go through each wave together, in as few stages
// as the limit allows; sizes are the bytes of an epoch's layers by wave. A wave's layers
// are held from when they are asked for until the epoch is emitted: by the stages under
// way that are as far, and by the one that is emitted.
func (x *Executor) together(sizes []int64, limit int64, epochs uint64) uint64 {
	switch {
	case x.opt.Epochs > 0:
		return uint64(x.opt.Epochs)
	case x.opt.Memory == 0:
		return 1
	}
	held := int64(0)
	for stages := uint64(1); stages <= uint64(len(sizes))+1; stages++ {
		held = 1
		for wave, size := range sizes {
			held += size * min(int64(len(sizes)-wave+1), int64(stages))
		}
		if n := (epochs + stages - 1) / stages; n <= uint64(max(limit/held, 0)) {
			return max(n, 1)
		}
	}
	return uint64(max(limit/held, 1)) // however many stages
}

// epochs is how many epochs have some of the job's batches, of which there are so many.
func epochs(job *sample.Job, each, total uint64) uint64 {
	if total == 0 {
		return 0
	}
	first := job.From % each
	return (first + total + each - 1) / each
}

func (c *condenser) together() int {
	return int(min(c.x.together(c.sizes, c.limit, epochs(c.job, c.each, c.total)), math.MaxInt32))
}

// size is the bytes of the layers of a wave.
func (e *epoch) size(wave [2]int) int64 {
	size := int64(0)
	for op := wave[0]; op < wave[1]; op++ {
		size += e.layers[op-1].bytes
	}
	return size
}

// open begins the epochs of the next stage, or of what is missing in one: as many
// stages as needed, of one size.
func (c *condenser) open() {
	most := c.together()
	left := int(epochs(&sample.Job{From: c.job.From + c.next}, c.each, c.total-c.next))
	stages := (left + most - 1) / most
	for n := c.waiting(0); c.next < c.total && n < (left+stages-1)/stages && len(c.under) < most*len(c.x.waves); n++ {
		at := c.job.From + c.next
		e := &epoch{number: c.job.Epoch + at/c.each, first: c.next, layers: make([]layer, c.x.ops)}
		e.n = min(c.each-at%c.each, c.total-c.next)
		c.next += e.n
		c.under = append(c.under, e)
	}
}

// advance asks for the next wave of the epochs under way: of as many in each as go
// together, the oldest first.
func (c *condenser) advance(ctx context.Context) error {
	for {
		asked, fits := 0, true
		for wave := len(c.x.waves) - 1; wave >= 0 && fits; wave-- {
			if wave == 0 {
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
				c.sizes[wave] = e.size(c.x.waves[wave])
			}
			asked += n
		}
		if asked > 0 || len(c.full) > 0 || len(c.under) == 0 {
			return nil
		}
		// Younger epochs hold what the oldest needs: they are made again later.
		if len(c.under) == 1 {
			once := int64(1 << 20)
			for _, size := range c.sizes {
				once += size
			}
			return fmt.Errorf("%w: found `Memory` %s, expected at least %s, which the stream executor needs for the samples of one epoch; give more `Memory`, or take `Scope` batch",
				errLayers, human.Bytes(c.x.opt.Memory), human.Bytes(c.x.opt.Memory-c.limit+max(c.lacks+1<<20, once)))
		}
		youngest := c.under[len(c.under)-1]
		c.under = c.under[:len(c.under)-1]
		c.next = youngest.first
		youngest.close()
	}
}

// waiting is how many epochs under way have so many waves.
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
			wave := c.x.waves[e.done]
			for op := wave[0]; op < wave[1]; op++ {
				layers = append(layers, &e.layers[op-1])
			}
		}
	}
	return layers
}

// swept notes that a sweep has filled what was asked for.
func (c *condenser) swept() {
	for _, e := range c.under {
		if e.asked {
			e.done, e.asked = e.done+1, false
		}
	}
	for len(c.under) > 0 && c.under[0].done == len(c.x.waves) {
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

// runCondensed runs a job by epochs whose layers are condensed. Where it fails with
// errLayers, stats tells how many batches the sink has had.
func runCondensed[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, w Window, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	c, err := x.newCondenser(&job, batches, w)
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
