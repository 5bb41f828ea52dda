package outofcore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// runSpilled runs a job an epoch or some at a time, through a scratch file.
func runSpilled[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, w Window, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	total := batches.Len()
	sizes, err := x.spillSizes(&job, w, total)
	if err != nil {
		return stats, err
	}
	var k *keeper
	var found *kept
	begin := uint64(0) // batch of the run that is the first to be made
	if x.opt.Keep != "" {
		if k, err = x.newKeeper(&job); err != nil {
			return stats, err
		}
		defer func() { err = errors.Join(err, k.end(err)) }()
		if found, err = k.find(&job, total, sizes, len(x.waves)); err != nil {
			return stats, err
		}
	}
	if found != nil {
		sizes.group, begin, job.From = found.Group, job.From-found.First, found.First
		if batches, err = x.sampler.Batches(&job); err != nil {
			return stats, err
		}
		total += begin
		sizes.window = max(sizes.window, found.Batches)
	}
	p, err := x.newPipeline(&job, batches)
	if err != nil {
		return stats, err
	}
	defer p.close()
	e := newEmitter(p, newOut, encode, sink)
	scratch, err := x.openScratch(k, found)
	if err != nil {
		return stats, fmt.Errorf("a file for what does not fit in memory: %w", err)
	}
	s, err := newSpill(p, sizes, scratch)
	if err != nil {
		return stats, err
	}
	defer func() {
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			err = fmt.Errorf("%w; what is spilled takes about %s there", err, human.Bytes(int64(x.spillDisk(w)*float64(min(total, sizes.window)))))
		}
		err = errors.Join(err, s.close())
	}()
	for next := uint64(0); next < total; next += s.n {
		if found != nil {
			s.restore(found)
			found = nil
		} else {
			if k != nil {
				if err := k.forget(); err != nil {
					return stats, err
				}
			}
			windows := (total - next + sizes.window - 1) / sizes.window
			s.open(next, (total-next+windows-1)/windows)
		}
		for len(s.steps) < len(x.waves) {
			if err := s.step(ctx, k); err != nil {
				return stats, err
			}
		}
		if err := s.each(ctx, len(x.waves), begin, func(ctx context.Context, _ int, w *window) error {
			return e.emit(ctx, w, max(begin, w.first), &stats)
		}); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

// openScratch is a file for extents.
func (x *Executor) openScratch(k *keeper, found *kept) (*direct.Scratch, error) {
	if k != nil {
		return k.open(found)
	}
	return direct.NewScratch(x.fsys, x.opt.Scratch)
}

// step takes all batches through their next step, and keeps what there is then.
func (s *spill) step(ctx context.Context, k *keeper) error {
	asked, err := s.walk(ctx)
	if err != nil {
		return err
	}
	if err := s.sweep(ctx, asked); err != nil {
		return err
	}
	if k != nil {
		if err := k.keep(s, s.p.job.From); err != nil {
			return err
		}
	}
	s.file.give(s.stale)
	s.stale = nil
	return nil
}

const (
	spillExtent = 64 << 10
	// leastExtent is the extent below which the disk loses more than memory wins.
	leastExtent = 16 << 10
	spillBlocks = 256
	spillGroup  = 16
	spillSort   = 8 << 20
	// spillBytes is what a sampled edge that is spilled costs, as bytes of a sweep that
	// take as long.
	spillBytes = 200
)

// spills says whether a job is to be spilled: it is asked for, or windows w would read
// so often that it takes longer, or not one batch fits a window (failed).
func (x *Executor) spills(job *sample.Job, w Window, total uint64, failed error) (bool, error) {
	few := errors.Is(failed, ErrMemory)
	switch {
	case failed != nil && !few:
		return false, failed
	case x.opt.Design == Spilled:
		return true, nil
	case x.opt.Design != Auto || x.opt.Window > 0 || x.opt.Scratch == "" && x.opt.Keep == "" || x.opt.Memory == 0:
		return false, failed
	case few:
		return true, nil
	case len(x.rows.tables()) > 0: // of which each group of batches takes a pass
		return false, nil
	}
	file, batches, steps := float64(x.size()), float64(total), float64(len(x.waves))
	windows := file * (math.Ceil(batches/float64(w.Batches)) + steps - 1)
	sweeps := steps * math.Ceil(batches/float64(x.spillWindow(job, w, total)))
	return file*sweeps+batches*w.BatchEdges*spillBytes < windows, nil
}

// spillWindow is the batches that are spilled together at most: those of an epoch, or
// more that take no more room on the disk than the neighbours do.
func (x *Executor) spillWindow(job *sample.Job, w Window, total uint64) uint64 {
	most := max(job.EpochBatches(x.sampler.SeedWidth()), uint64(float64(x.size())/max(x.spillDisk(w), 1)))
	return max(1, min(total, most, uint64(math.MaxUint32/2/max(w.BatchEdges, 1))))
}

// spillDisk is about how much room a batch takes.
func (x *Executor) spillDisk(w Window) float64 {
	edges := 9.0
	if x.sampler.Plan().Scope == sample.ScopeSeed {
		edges = 4*askedWords + 8 // each is asked for on its own
	}
	if x.idBytes() > 0 {
		edges += 4
	}
	return edges * w.BatchEdges
}

// spillSizes divides the memory among what a spill holds: buffers of streams, two
// groups or two parts of requests, and some to spare.
func (x *Executor) spillSizes(job *sample.Job, w Window, total uint64) (z spillSizes, err error) {
	if x.opt.spill != nil {
		return *x.opt.spill, nil
	}
	if x.opt.Scratch == "" && x.opt.Keep == "" {
		return z, errors.New("found no folder for what does not fit in memory, expected one for the design spilled")
	}
	z = spillSizes{extent: spillExtent, run: spillBlocks, group: spillGroup, window: x.spillWindow(job, w, total), sort: spillSort}
	edges := max(w.BatchEdges, 1)
	z.group = max(1, min(z.group, uint64(1<<29/edges)))
	if x.opt.Memory == 0 {
		return z, nil
	}
	free := x.reserveRows(job, float64(x.opt.Memory-x.fixed()-x.held)-edges*x.perContext())
	result := 4.0
	if x.idBytes() > 0 {
		result = 8
	}
	halves := free * 5 / 8
	groups := halves / (2 * result * edges)
	if groups < 1 {
		return z, tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs to spill batches of about %s sampled edges; give more `Memory`, smaller batches or fewer `Threads`",
			human.Bytes(x.opt.Memory), human.Bytes(x.opt.Memory+int64((1-groups)*2*result*edges*8/5)), human.Number(edges))
	}
	z.group = min(z.group, uint64(groups))
	z.sort = max(1<<12, min(z.sort, int(halves/16)))
	streams := func() int { return int(free / 4 / float64(z.extent+x.readers()*packWords*4)) }
	for z.extent > leastExtent && streams() < z.buffers(x)+loaders {
		z.extent /= 2
	}
	most := max(1, streams()-loaders-max(x.opt.Threads, x.readers()))
	z.run = max(z.run, (x.blocks+uint32(most)-1)/uint32(most))
	z.window = min(z.window, uint64(most)*z.group)
	return z, nil
}
