package outofcore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// runSpilled runs a job one epoch or several at a time, through a scratch file.
func runSpilled[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, d *division, newOut func() T,
	encode func(ctx context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	total := batches.Len()
	disk := spillBudget{d.budget}
	sizes, share, err := disk.sizes(d.Window, total)
	if err != nil {
		return stats, err
	}
	var k *keeper
	var found *kept
	begin := uint64(0) // first batch of the run that is emitted
	if x.opt.Keep != "" {
		if k, err = x.newKeeper(&job); err != nil {
			return stats, err
		}
		defer func() { err = errors.Join(err, k.end(err)) }()
		if found, err = k.find(&job, total, sizes, len(d.waves)); err != nil {
			return stats, err
		}
	}
	if found != nil {
		sizes.group, begin, job.From = found.Group, job.From-found.First, found.First
		if batches, err = d.sampler.Batches(&job); err != nil {
			return stats, err
		}
		total += begin
		sizes.window = max(sizes.window, found.Batches)
	}
	p, err := x.newPipeline(&job, batches, share, d.emitters)
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
		if slices.ContainsFunc(vfs.DiskFull, func(e error) bool { return errors.Is(err, e) }) {
			err = fmt.Errorf("%w; what is spilled takes about %s there", err, human.Bytes(int64(disk.disk(d.Window)*float64(min(total, sizes.window)))))
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
		for len(s.steps) < len(d.waves) {
			if err := s.step(ctx, k); err != nil {
				return stats, err
			}
		}
		if err := s.each(ctx, len(d.waves), begin, func(ctx context.Context, _ int, w *window) error {
			return e.emit(ctx, w, max(begin, w.first), &stats)
		}); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

// openScratch is a file for extents: the one that found describes, or an empty one.
func (x *Executor) openScratch(k *keeper, found *kept) (*direct.Scratch, error) {
	if k != nil {
		return k.open(found)
	}
	return direct.NewScratch(x.fsys, x.opt.Scratch)
}

// step takes all batches through their next step, and keeps it where there is a keeper.
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
