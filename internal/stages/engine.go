package stages

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Engine runs the stages of jobs on workers.
type Engine interface {
	// Run opens the work of a folder in the workers (Site), and runs all tasks of each stage, once all tasks of the stage before have
	// ended, with Finish after each. It returns at the end of the last stage, or with the error of the job. When ctx is done, it ends the job.
	Run(ctx context.Context, dir string, list []Stage) error
	// Free returns an error where the job of an earlier submitter may still work in the folder.
	Free(ctx context.Context, dir string) error
	// Workers is the number of tasks that the engine runs at the same time.
	Workers() int
}

// RunJob runs a job of a work folder on an engine. tell is called now and then, and at the end. An error of a worker after which trying again cannot help ends the job.
func RunJob(ctx context.Context, e Engine, fsys vfs.FS, dir string, list []Stage, tell func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx, dir, list) }()
	tick := time.NewTicker(workfolder.BeatOf(fsys, dir))
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			tell()
			if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
				err = cause
			}
			return workfolder.Explain(fsys, dir, err)
		case <-tick.C:
			tell()
			if final, _ := workfolder.Failures(fsys, dir); len(final) > 0 {
				cancel(errors.New(strings.Join(final, "\n")))
			}
		}
	}
}

// Site is the work of a folder on one machine. It is safe for concurrent use.
type Site interface {
	Job() *Job
	Close() error
}

// Finished is the number of whole tasks of a job that a later run can continue from: its records lie in a folder of the work folder work. It is 0 where there is none, and after an error with which every
// run of the same work ends.
func Finished(fsys vfs.FS, work, dir string) (n int, err error) {
	if workfolder.Hopeless(fsys, work) {
		return 0, nil
	}
	dir = filepath.Join(work, dir)
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".whole") {
			n++
		} else if e.IsDir() {
			whole, unknown := workfolder.Whole(fsys, filepath.Join(dir, e.Name()))
			n, err = n+whole, errors.Join(err, unknown)
		}
	}
	return n, err
}

// Tasks is the number of tasks of a stage that reads a number of bytes, where each of as many tasks of the stage before gives it a part: so many that each part has
// about 1 MiB, and at least four for each worker. There are no more than most.
func Tasks(bytes int64, workers int, most int64) int64 {
	n := int64(4 * max(workers, 1))
	for n*n < bytes>>20 {
		n++
	}
	return max(min(n, most), 1)
}
