package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Run is a run of the submitter.
type Run struct {
	FS         vfs.FS
	Dir        string // the work folder, made by Make
	Engine     stages.Engine
	Store      *store.Store
	Writer     *store.Writer // of the output
	Assignment *assign.Assignment
	Options    dispatch.Options
	// Segment is the weight of a segment, as in dispatch.Count; 0 chooses.
	Segment int
	// Work has the version, the store and the identity of the assignment. Make fills in the rest.
	Work Work
	// Overwrite lets a run remove the parts that a run of another Work finished. Without it they are an error. A run of the same Work goes on from
	// its parts.
	Overwrite bool
	// Ship copies the store into the work folder, for workers that cannot reach it. Shipped, if not nil, is called with the
	// bytes of each part that is copied.
	Ship    bool
	Shipped func(bytes int)
	// Stalled, if not nil, is called with a text where nothing has happened for a while, or where the disk is small.
	Stalled func(text string)
	// Tell, if not nil, is called with the counts of all workers, about twice per second.
	Tell func(Counts)
}

// Make makes the parts in the output. It leaves the work folder, with the parts that are finished, to the caller: until the output has its name, a run continues from it.
func (r *Run) Make(ctx context.Context) (_ *dispatch.Report, err error) {
	release, err := workfolder.Hold(r.FS, r.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := r.Engine.Free(ctx, r.Dir); err != nil {
		return nil, err
	}
	// Workers of an interrupted run may still read the lists of that run, so this one makes its own.
	r.Work.Lists = listsPrefix + workfolder.Unique()
	lists := filepath.Join(r.Dir, r.Work.Lists)
	if err := r.FS.MkdirAll(lists); err != nil {
		return nil, err
	}
	if r.Ship {
		from := r.Work.Store
		r.Work.Store = filepath.Join(r.Dir, shippedDir)
		if err := store.CopyOnce(ctx, r.FS, from, r.Work.Store, r.Work.StoreSum, r.Shipped); err != nil {
			return nil, err
		}
	}
	plan, err := dispatch.Count(ctx, r.FS, r.Store, r.Assignment, r.Writer, r.Options, lists, r.Segment, r.Engine.Workers())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	if err := r.prepare(plan.Places()); err != nil {
		return nil, err
	}
	list, err := r.check(plan)
	if err != nil {
		return nil, err
	}
	if list != nil {
		if err := stages.RunJob(ctx, r.Engine, r.FS, r.Dir, list, r.watch()); err != nil {
			return nil, err
		}
	}
	return plan.Collect(ctx, filepath.Join(r.Dir, r.Work.partsDir()), func(part int) (files map[string]store.ManifestFor, err error) {
		err = workfolder.ReadJSON(r.FS, r.Work.sumsFile(r.Dir, part), &files)
		return files, err
	})
}

// prepare makes the work folder. It keeps the parts of a run that it continues, if their Work was the same.
func (r *Run) prepare(places *dispatch.Places) error {
	w := &r.Work
	w.Format, w.Parts, w.Trainers, w.Method, w.Segments = workFormat, r.Assignment.Parts, r.Assignment.Trainers, r.Assignment.Method, places.Segments
	w.set(r.Options)
	same, differ, err := r.same()
	if err != nil {
		return err
	}
	if !same {
		n, err := Finished(r.FS, r.Dir)
		if err == nil && n > 0 && !r.Overwrite {
			err = workfolder.Kept(n, "parts", r.Dir, differ)
		}
		if err != nil {
			return err
		}
		w.ID = workfolder.Unique()
		if err := workfolder.Clear(r.FS, r.Dir, r.Work.Lists, shippedDir); err != nil {
			return err
		}
	}
	err = errors.Join(r.FS.MkdirAll(filepath.Join(r.Dir, r.Work.partsDir())), r.FS.MkdirAll(filepath.Join(r.Dir, r.Work.sumsDir())), r.FS.MkdirAll(filepath.Join(r.Dir, makingDir)), workfolder.Reset(r.FS, r.Dir))
	if err != nil || same {
		return err
	}
	if err := w.save(r.FS, r.Dir, r.Assignment, places); err != nil {
		return fmt.Errorf("cannot save the work: %w", err)
	}
	return nil
}

// Finished is the number of whole parts and tasks in a work folder, of this run and of earlier ones.
func Finished(fsys vfs.FS, dir string) (int, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	n := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partsPrefix) {
			parts, unknown := workfolder.Whole(fsys, filepath.Join(dir, e.Name()))
			n, err = n+parts, errors.Join(err, unknown)
		}
		if strings.HasPrefix(e.Name(), recordsPrefix) {
			tasks, unknown := stages.Finished(fsys, dir, e.Name())
			n, err = n+tasks, errors.Join(err, unknown)
		}
	}
	return n, err
}

// same says whether the folder has the same Work, and else in what they differ.
func (r *Run) same() (same bool, differ []string, err error) {
	if there, err := vfs.Exists(r.FS, filepath.Join(r.Dir, workFile)); !there || err != nil {
		return false, nil, err
	}
	old, err := readWork(r.FS, r.Dir)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return false, nil, err
	} else if err != nil { // no whole work
		return false, []string{"the version"}, nil
	}
	w := r.Work
	w.ID, w.Lists = old.ID, old.Lists
	x, err := json.Marshal(&w)
	y, err2 := json.Marshal(old)
	if err := errors.Join(err, err2); err != nil {
		return false, nil, err
	}
	if string(x) != string(y) {
		return false, workfolder.Differences(x, y), nil
	}
	r.Work.ID, r.Work.Lists = old.ID, old.Lists
	return true, nil, nil
}

// check opens the work as a worker does, so that an error of every worker, and a job that cannot end, are found before the job starts. It returns the stages of the job; nil where all of them are
// whole.
func (r *Run) check(plan *dispatch.Plan) (list []stages.Stage, err error) {
	s, err := Open(r.FS, r.Dir)
	if err != nil {
		return nil, err
	}
	list = s.job.Stages
	whole, err := s.job.Whole(len(list) - 1)
	if whole {
		list = nil
	} else if err == nil {
		if err = r.foresee(list, plan); err == nil {
			err = s.job.Prepare()
		}
	}
	return list, errors.Join(err, s.Close())
}

// foresee refuses a job that cannot run. The parts are linked into the output, so that they are on the disk once; while they are made, the lists of their
// edges are there too, which take about listBytes per edge.
func (r *Run) foresee(list []stages.Stage, plan *dispatch.Plan) error {
	const listBytes = 5
	edges := int64(0)
	for _, e := range r.Store.Graph.Edges {
		edges += int64(e.Count)
	}
	warning, err := stages.Foresee(r.FS, []string{r.Dir, r.Writer.Dir()}, list, stages.Need{Records: listBytes * edges, Pieces: plan.Least()}, 0)
	if warning != "" && r.Stalled != nil {
		r.Stalled(warning)
	}
	return err
}

// stallTime is the time without any progress after which the user is told. Tests lower it.
var stallTime = time.Minute

// watch returns a function that tells the progress, and where there is none.
func (r *Run) watch() func() {
	var last Counts
	since := time.Now()
	return func() {
		var all Counts
		workfolder.Pulses(r.FS, r.Dir, func(c Counts) { all.Cut, all.Finished = all.Cut+c.Cut, all.Finished+c.Finished })
		if r.Tell != nil {
			r.Tell(all)
		}
		if all != last {
			last, since = all, time.Now()
			return
		}
		if quiet := time.Since(since); quiet >= stallTime && r.Stalled != nil {
			since = time.Now()
			r.Stalled(fmt.Sprintf("no worker has told of progress for %s: %d of %d segments are read, and %d of %d parts are made; look at the pages and logs of the engine, or end the job and give the same command later",
				quiet.Round(time.Second), all.Cut, len(r.Work.Segments), all.Finished, r.Work.Parts))
		}
	}
}
