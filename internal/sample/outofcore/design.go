package outofcore

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/sample"
)

// Design is a way to sample without the neighbours in memory. All designs make the same subgraphs.
type Design uint8

// The designs.
const (
	Auto      Design = iota // the design that reads least within the memory
	Windows                 // windows of batches, in a pipeline
	Condensed               // scope epoch: one sample per node
	Spilled                 // epochs at a time, with requests and results on disk
)

var designNames = []string{"auto", "windows", "condensed", "spilled"}

func (d Design) String() string { return designNames[d] }

// division is how a run by a design divides its memory and its batches.
type division struct {
	budget
	Design
	Window
	share rowShare // of windows; the other designs have shares of their own
}

// budget is the budget of a job with a demand per batch.
func (x *Executor) budget(job *sample.Job, need demand) budget {
	return budget{neighbours: x.neighbours, tables: &x.rows, opt: x.opt, planned: x.planned, job: job, need: need, emitters: x.opt.Threads}
}

// windows is the division of a job of the given number of batches into windows. A window has as many batches as the memory allows,
// but no more than the job and, without a bound or where batches go to a training, no more than an epoch.
func (x *Executor) windows(ctx context.Context, job *sample.Job, total uint64) (d division, err error) {
	d.budget, d.Design = x.budget(job, x.neighbours.bounds(job)), Windows
	d.Batches, d.BatchEdges = max(uint64(x.opt.Window), 1), d.need.edges
	if x.opt.Window == 0 && total > 0 && len(d.waves) > 0 {
		if err = x.fitWindows(ctx, &d, total); err != nil {
			return d, err
		}
	}
	d.Batches, d.share = windowBudget{d.budget}.share(d.Batches, total)
	return d, nil
}

// fitWindows makes the windows of d as large as fits the memory. It runs a pilot where the most that the plan allows
// does not fit.
func (x *Executor) fitWindows(ctx context.Context, d *division, total uint64) error {
	if x.found.by(d.job) {
		d.need = x.found
	}
	d.BatchEdges = d.need.edges
	d.Batches = min(total, max(d.job.EpochBatches(d.sampler.SeedWidth()), 1))
	if x.opt.Memory > 0 && x.opt.Slots == 0 {
		d.Batches = total
	}
	if (windowBudget{d.budget}).batches() >= float64(d.Batches) {
		return nil
	}
	if !x.found.by(d.job) {
		if err := x.pilot(ctx, d.job); err != nil {
			return err
		}
	}
	d.need, d.BatchEdges = x.found, x.found.edges
	fits, emitters, err := windowBudget{d.budget}.fit()
	d.emitters = emitters
	if err != nil {
		return err
	}
	if (windowBudget{d.budget}).single() < float64(d.Batches) {
		d.Batches = uint64(min(fits, float64(d.Batches)))
	}
	return nil
}

// design is the design that runs a job of the given number of batches, and the division into windows.
func (x *Executor) design(ctx context.Context, job *sample.Job, total uint64) (division, error) {
	scope := x.neighbours.sampler.Plan().Scope
	if x.opt.Design == Condensed && scope != sample.ScopeEpoch {
		return division{}, fmt.Errorf("found design condensed with scope %s, expected scope epoch, where a node has one sample per epoch; choose scope epoch, or design auto", scope)
	}
	d, err := x.windows(ctx, job, total)
	if total == 0 || len(d.waves) == 0 {
		return d, err
	}
	switch x.opt.Design {
	case Condensed:
		d.Design = Condensed
		if errors.Is(err, ErrMemory) { // it is windows that do not fit
			err = nil
		}
		return d, err
	case Auto:
		if scope == sample.ScopeEpoch && err == nil && (layerBudget{d.budget}).pays(d.Window, total) {
			d.Design = Condensed
			return d, nil
		}
	}
	if x.opt.Slots > 0 {
		return d, err
	}
	pays, err := spillBudget{d.budget}.pays(d.Window, total, err)
	if pays {
		d.Design = Spilled
	}
	return d, err
}

// fitting is the number of batches, of the n from first on, that sample no more edges than a window of average batches:
// where a job is not shuffled, neighbouring batches may all have many edges. size is the batches of a window.
func (x *Executor) fitting(job *sample.Job, batches *sample.Batches, first, n, size uint64) uint64 {
	if x.opt.Memory == 0 || x.opt.Window > 0 || size >= batches.Len() || !x.found.by(job) {
		return n
	}
	room := float64(size) * x.found.first * windowSlack
	var b sample.Batch
	for i := range n {
		batches.Get(first+i, &b)
		if room -= x.neighbours.taken(b.Seeds); room < 0 {
			return max(i, 1)
		}
	}
	return n
}

// windowSlack is the edges that a window may have over the edges of average batches.
const windowSlack = 1.05

// runByDesign runs a job by the design that the options name, or that reads least.
func runByDesign[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, newOut func() T,
	encode func(ctx context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (sample.Stats, error) {
	d, err := x.design(ctx, &job, batches.Len())
	if err != nil {
		return sample.Stats{}, err
	}
	x.forecast = x.estimate(&d, batches.Len())
	switch d.Design {
	case Spilled:
		return runSpilled(ctx, x, job, batches, &d, newOut, encode, sink)
	case Condensed:
	default:
		return runWindows(ctx, x, job, batches, &d, newOut, encode, sink)
	}
	stats, err := runCondensed(ctx, x, job, batches, &d, newOut, encode, sink)
	if x.opt.Design == Condensed || !errors.Is(err, errLayers) {
		return stats, err
	}
	// An epoch has more samples than estimated: windows make the rest of the batches.
	job.From += stats.Batches
	if batches, err = x.neighbours.sampler.Batches(&job); err != nil {
		return stats, err
	}
	if d, err = x.windows(ctx, &job, batches.Len()); err != nil {
		return stats, err
	}
	rest, err := runWindows(ctx, x, job, batches, &d, newOut, encode, sink)
	stats.Add(rest)
	return stats, err
}
