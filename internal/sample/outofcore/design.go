package outofcore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/suggest"
)

// Design is a way to sample without holding the neighbours. All make the same
// subgraphs.
type Design uint8

// The designs.
const (
	Auto      Design = iota // whichever reads least within the memory
	Windows                 // windows of batches, in a pipeline
	Condensed               // scope epoch: one sample a node
	Spilled                 // epochs at a time, with requests and results on disk
)

var designNames = []string{"auto", "windows", "condensed", "spilled"}

func (d Design) String() string { return designNames[d] }

// ParseDesign reads "auto", "windows", "condensed" or "spilled".
func ParseDesign(name string) (Design, error) {
	i := slices.Index(designNames, name)
	if i < 0 {
		return 0, fmt.Errorf("found design %q, expected auto, windows, condensed or spilled%s", name, suggest.Hint(name, designNames))
	}
	return Design(i), nil
}

// design is the way to run a job of so many batches, and what a window would be.
func (x *Executor) design(ctx context.Context, job *sample.Job, total uint64) (Design, Window, error) {
	epochs := x.sampler.Plan().Scope == sample.ScopeEpoch
	if x.opt.Design == Condensed && !epochs {
		return 0, Window{}, fmt.Errorf("found design condensed with scope %s, expected scope epoch, where a node has one sample an epoch; choose scope epoch, or design auto", x.sampler.Plan().Scope)
	}
	w, err := x.windowOf(ctx, job, total)
	if total == 0 || len(x.waves) == 0 {
		return Windows, w, err
	}
	switch x.opt.Design {
	case Condensed:
		if errors.Is(err, ErrMemory) { // of a window
			err = nil
		}
		return Condensed, w, err
	case Auto:
		if epochs && err == nil && x.condenses(job, w, total) {
			return Condensed, w, nil
		}
	}
	if ok, err := x.spills(job, w, total, err); ok {
		return Spilled, w, err
	}
	return Windows, w, err
}

// condenses says whether condensed layers fit, and take no more sweeps than windows.
func (x *Executor) condenses(job *sample.Job, w Window, total uint64) bool {
	if x.opt.Window > 0 || len(x.rows.tables()) > 0 {
		return false
	}
	sizes, limit, once := x.layerSizes(job), x.layerLimit(job, w), int64(0)
	for _, size := range sizes {
		once += size
	}
	each := job.EpochBatches(x.sampler.SeedWidth())
	all := epochs(job, each, total)
	together := x.together(sizes, limit, all)
	return once <= limit && (all+together-1)/together <= (total+w.Batches-1)/w.Batches
}

// runByDesign runs a job by the design that the options name, or that reads least.
func runByDesign[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (sample.Stats, error) {
	design, w, err := x.design(ctx, &job, batches.Len())
	if err != nil {
		return sample.Stats{}, err
	}
	x.forecast = x.foretell(design, &job, w, batches.Len())
	switch {
	case design == Spilled:
		return runSpilled(ctx, x, job, batches, w, newOut, encode, sink)
	case design != Condensed:
		return runWindows(ctx, x, job, batches, w, newOut, encode, sink)
	}
	stats, err := runCondensed(ctx, x, job, batches, w, newOut, encode, sink)
	if x.opt.Design == Condensed || !errors.Is(err, errLayers) {
		return stats, err
	}
	// The samples of an epoch are more than was reckoned: windows go on.
	job.From += stats.Batches
	if batches, err = x.sampler.Batches(&job); err != nil {
		return stats, err
	}
	if w, err = x.windowOf(ctx, &job, batches.Len()); err != nil {
		return stats, err
	}
	rest, err := runWindows(ctx, x, job, batches, w, newOut, encode, sink)
	stats.Add(rest)
	return stats, err
}
