package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

const (
	bytesPerShard = 256 << 20
	// MostShards is the most tasks that write an output.
	MostShards = 1 << 12
)

// outputDir is the folder of the files that workers write for the output.
func outputDir(dir string, w *Work) string { return filepath.Join(dir, "output-"+w.ID) }

// writtenFile is the file about what the task of a share wrote.
func writtenFile(dir string, w *Work, share int) string {
	return filepath.Join(dir, "written-"+w.ID, fmt.Sprintf("%08d", share))
}

// callWriters makes sure that there is a task for each share.
func (s *Site) callWriters(emit stages.Emit) {
	if s.Work.Shards < 2 {
		return
	}
	for share := range s.Work.Shards {
		emit(s.write, int64(share), nil)
	}
}

// writeShare writes the files of a share of the output. The pieces must be there.
func (s *Site) writeShare(ctx context.Context, key int64) error {
	if key < 0 || key >= int64(s.Work.Shards) {
		return fmt.Errorf("found key %d, expected one of %d shares; use the same version on all machines", key, s.Work.Shards)
	}
	share := store.Share{Index: int(key), Of: s.Work.Shards, Least: s.Work.ShardBytes}
	written, err := s.pieces.WriteShare(ctx, s.fs, outputDir(s.Dir, s.Work), share, int(s.Work.Groups()), func(group int) (vfs.File, error) {
		return s.fs.Open(pieceFile(s.Dir, s.Work, uint64(group)))
	})
	if err != nil {
		return err
	}
	if err := workfolder.WriteJSON(s.fs, writtenFile(s.Dir, s.Work, int(key)), written); err != nil {
		return err
	}
	s.counts.written.Add(1)
	return nil
}

// Shares implements output.Elsewhere.
func (r *Run) Shares(job sample.Job) int {
	if job.EpochBatches(r.Sampler.SeedWidth()) == 0 {
		return 1 // there are no groups
	}
	return max(r.Options.Shards, 1)
}

// ChooseShards sets Options.Shards, where it is 0, by the bytes that a forecast expects of the output, not by the number of workers: the files follow from it.
func (r *Run) ChooseShards(job *sample.Job) (err error) {
	if r.Options.Shards != 0 {
		return nil
	}
	defer guard.Catch(&err)()
	n := r.expect(r.Sampler, job).output / bytesPerShard
	r.Options.Shards = int(min(max(n, 1), MostShards))
	if x := r.Work.Records; x != nil {
		r.Options.Shards = min(r.Options.Shards, max(x.Shards, 1))
	}
	return nil
}

// Write implements output.Elsewhere. It leaves the work folder to the caller, as Make does.
func (r *Run) Write(ctx context.Context, job sample.Job, take func(folder string, part *output.Written) error) error {
	if err := r.divide(job); err != nil {
		return err
	}
	return r.hold(ctx, &job, func(ctx context.Context, ended chan jobEnd, cancel func(error)) error {
		if err := r.awaitEnd(ctx, ended, cancel); err != nil {
			return err
		}
		for share := range r.Work.Shards {
			var part output.Written
			if err := workfolder.ReadJSON(r.FS, writtenFile(r.Dir, &r.Work, share), &part); err != nil {
				return err
			}
			if err := take(outputDir(r.Dir, &r.Work), &part); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaitEnd waits for the end of a job. It ends the job when a worker tells an error that trying again cannot help.
func (r *Run) awaitEnd(ctx context.Context, ended chan jobEnd, cancel func(error)) error {
	tick := time.NewTicker(workfolder.BeatOf(r.FS, r.Dir))
	defer tick.Stop()
	watch := r.watch()
	for {
		select {
		case end := <-ended:
			watch(0)
			return workfolder.Explain(r.FS, r.Dir, end.err)
		case <-tick.C:
			watch(0)
			if final, _ := workfolder.Failures(r.FS, r.Dir); len(final) > 0 {
				err := errors.New(strings.Join(final, "\n"))
				cancel(err)
				return workfolder.Explain(r.FS, r.Dir, errors.Join(err, ignoreCancel((<-ended).err)))
			}
		case <-ctx.Done():
			cancel(context.Cause(ctx))
			return workfolder.Explain(r.FS, r.Dir, errors.Join(context.Cause(ctx), ignoreCancel((<-ended).err)))
		}
	}
}

// hold prepares the work folder and starts the job, unless it is whole. fn waits for it; ended gets its end.
func (r *Run) hold(ctx context.Context, job *sample.Job, fn func(ctx context.Context, ended chan jobEnd, cancel func(error)) error) (err error) {
	release, err := workfolder.Hold(r.FS, r.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	from := r.Work.Store
	if r.Options.Ship {
		r.Work.Store = filepath.Join(r.Dir, shippedDir)
	}
	if err := r.prepare(ctx, job); err != nil {
		return err
	}
	if err := r.ship(ctx, from); err != nil {
		return err
	}
	if err := r.dropDamaged(r.Work.groupOf(job.From)); err != nil {
		return err
	}
	list, err := r.check(job)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan jobEnd, 1)
	go func() {
		if list == nil {
			ended <- jobEnd{}
			return
		}
		ended <- jobEnd{r.Engine.Run(ctx, r.Dir, list)}
	}()
	err = guard.Do(func() error { return fn(ctx, ended, cancel) })
	cancel(err)
	return err
}
