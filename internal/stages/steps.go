package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Steps implements Engine by processes that something else starts, each with an index (Step): a scheduler of indexed jobs, or a shell.
// What they share is the work folder alone.
type Steps struct {
	FS        vfs.FS
	Operation string // of the works
	Build     string // identity of the program, which every process must have
	Processes int
	// NoWait ends a run that steps are needed for, with ErrPlanned, once they can begin.
	NoWait bool
}

// planned is the contents of workfolder.StepsFile.
type planned struct {
	ID        string  `json:"id"` // of this run of the submitter
	Operation string  `json:"operation"`
	Build     string  `json:"build"`
	Stages    []Stage `json:"stages"`
}

// ErrPlanned is the kind of the error of a run that has planned a job and does not wait for its steps.
var ErrPlanned = errors.New("the steps have not run")

// Workers implements Engine.
func (s *Steps) Workers() int { return max(s.Processes, 1) }

// Free implements Engine. Steps of an earlier run do the tasks of this one, if the work is the same, and else find no file.
func (s *Steps) Free(_ context.Context, dir string) error {
	err := s.FS.Remove(filepath.Join(dir, workfolder.StepsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Run implements Engine: it tells steps of the job, and waits until the last stage is whole.
func (s *Steps) Run(ctx context.Context, dir string, list []Stage) error {
	b, err := json.Marshal(planned{workfolder.Unique(), s.Operation, s.Build, list})
	if err != nil {
		return err
	}
	name := filepath.Join(dir, workfolder.StepsFile)
	if err := s.FS.RemoveAll(filepath.Join(dir, endedFile)); err != nil {
		return err
	}
	if err := vfs.WriteFile(s.FS, name, b); err != nil {
		return err
	}
	if s.NoWait {
		var names []string
		for _, stage := range list {
			names = append(names, fmt.Sprintf("%s (%d tasks)", stage.Name, stage.Tasks))
		}
		return tagged.Errorf(ErrPlanned, "planned the stages %s in %s: run `graphmill-beam step` there, and then the same command again", strings.Join(names, ", "), dir)
	}
	for wait := newPause(); ; {
		ended, err := vfs.Exists(s.FS, filepath.Join(dir, endedFile))
		if err != nil {
			return err
		}
		if ended {
			return s.FS.Remove(name)
		}
		if !wait.next(ctx) {
			return errors.Join(context.Cause(ctx), s.FS.Remove(name))
		}
	}
}

// endedFile is the file of a work folder that says that the last stage of its job is whole.
const endedFile = "steps.ended"

// pause waits longer and longer for what other processes do.
type pause struct{ d time.Duration }

func newPause() *pause { return &pause{10 * time.Millisecond} }

// next waits. It is false when ctx is done.
func (p *pause) next(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(p.d):
		p.d = min(p.d*3/2, 2*time.Second)
		return true
	}
}

// Step is one of the processes of Steps. The process that finds a stage whole ends it.
type Step struct {
	FS    vfs.FS
	Dir   string // the work folder of the run; works of jobs that come first lie in folders below it
	Build string
	// Index is the number of the process, below Of: it runs the tasks with these numbers modulo Of.
	Index, Of int64
	// Stage is the name of the one stage to run; empty: all of them, one after the other, and of all jobs of the run.
	Stage string
	// Wait is the time to wait for other processes without any progress; then the error is ErrNotWhole.
	Wait    time.Duration
	Threads int // tasks at a time
	// Open opens the work of a folder.
	Open func(ctx context.Context, operation, dir string) (Site, error)

	found bool // a job
	// site is the open work of the plan with ID siteOf: what it holds in memory may be dear to read again after each wait.
	site   Site
	siteOf string
}

// errWait is the reason of waiting.
type errWait struct{ what string }

func (e errWait) Error() string { return e.what }

// Run runs the tasks of the process.
func (s *Step) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.closeSite()) }()
	if s.Index < 0 || s.Index >= s.Of {
		return fmt.Errorf("found index %d of %d processes, expected one from 0 to %d", s.Index, s.Of, s.Of-1)
	}
	wait, since, last := newPause(), time.Now(), ""
	for {
		done, at, err := s.once(ctx)
		var waits errWait
		switch {
		case err == nil && done:
			return nil
		case err != nil && !errors.As(err, &waits):
			return err
		}
		if at != last { // something went on
			wait, since, last = newPause(), time.Now(), at
		}
		if time.Since(since) > s.Wait {
			return tagged.Errorf(ErrNotWhole, "%s; give `Wait` to wait for it, or try again later", waits.what)
		}
		if !wait.next(ctx) {
			return context.Cause(ctx)
		}
	}
}

// once runs what can be run now. done says that the process has no more to do. at says how far the run is; the error is an errWait where others have to go on first.
func (s *Step) once(ctx context.Context) (done bool, at string, err error) {
	dir, plan, err := s.find()
	if err != nil {
		return false, "", err
	}
	if plan == nil {
		ended, err := vfs.Exists(s.FS, filepath.Join(s.Dir, endedFile))
		if err == nil && !ended && s.found {
			ended, err = s.gone()
		}
		if ended || err != nil {
			return true, "", err
		}
		return false, "", errWait{fmt.Sprintf("%s: found no job that waits for steps, expected one that a command with the runner steps planned; the run may have ended", s.Dir)}
	}
	s.found = true
	if plan.Build != s.Build {
		return false, "", fmt.Errorf("%s: found the job of build %s, expected %s, as this program; use the same program on all machines", dir, plan.Build, s.Build)
	}
	done, at, err = s.open(ctx, dir, plan)
	if err == nil || errors.As(err, new(errWait)) {
		return done, at, err
	}
	// A submitter that ends, or plans its job anew, removes files that were read here.
	if _, now, unknown := s.find(); unknown == nil && (now == nil || now.ID != plan.ID) {
		return false, at, errWait{fmt.Sprintf("%s: found a job that ended, expected another one: %v", dir, err)}
	}
	if ctx.Err() == nil {
		workfolder.Fail(s.FS, dir, err)
	}
	return false, at, err
}

// open runs what can be run now of a job.
func (s *Step) open(ctx context.Context, dir string, plan *planned) (done bool, at string, err error) {
	if s.siteOf != plan.ID {
		if err := s.closeSite(); err != nil {
			return false, "", err
		}
		if s.site, err = s.Open(ctx, plan.Operation, dir); err != nil {
			s.site = nil
			return false, "", err
		}
		s.siteOf = plan.ID
	}
	j := *s.site.Job()
	j.Work = "" // once tells of errors
	done, at, err = s.share(ctx, dir, &j)
	if err != nil && !errors.As(err, new(errWait)) {
		err = errors.Join(err, s.closeSite())
	}
	return done, at, err
}

// closeSite closes the open work, if there is one.
func (s *Step) closeSite() error {
	site := s.site
	s.site, s.siteOf = nil, ""
	if site == nil {
		return nil
	}
	return site.Close()
}

// share runs the tasks of the process in a job.
func (s *Step) share(ctx context.Context, dir string, j *Job) (done bool, at string, err error) {
	for stage, x := range j.Stages {
		if s.Stage != "" && x.Name != s.Stage {
			continue
		}
		at = fmt.Sprint(dir, " ", stage)
		if final, _ := workfolder.Failures(s.FS, dir); len(final) > 0 {
			return false, at, errors.New(strings.Join(final, "\n"))
		}
		whole, err := j.Whole(stage)
		if err != nil {
			return false, at, err
		}
		if !whole {
			err := j.RunShare(ctx, stage, s.Index, s.Of, s.Threads)
			if err == nil {
				err = j.Finish(stage)
			}
			switch {
			case errors.Is(err, ErrNotWhole) && s.Stage != "" && s.shareWhole(j, stage):
				return true, at, nil // another process ends the stage
			case errors.Is(err, ErrNotWhole):
				return false, fmt.Sprint(at, " ", err), errWait{err.Error()} // which names the first task that is not whole
			case err != nil:
				return false, at, err
			}
		}
		if stage == len(j.Stages)-1 {
			told, err := s.end(dir)
			if err != nil {
				return false, at, err
			}
			if !told && s.Stage == "" { // a submitter that looked before the stage was whole plans the job again, and waits to be told
				return false, at, errWait{dir + ": found a job that nobody waits for, expected its submitter to end, or to plan it again"}
			}
		}
	}
	return s.Stage != "" || dir == s.Dir, at + " ended", nil
}

// Begin forgets that an earlier run ended (End).
func Begin(fsys vfs.FS, dir string) error { return fsys.RemoveAll(filepath.Join(dir, endedFile)) }

// End notes that a run whose jobs lie in folders below dir needs no more steps.
func End(fsys vfs.FS, dir string) error {
	return vfs.WriteWhole(fsys, filepath.Join(dir, endedFile), func(vfs.File) error { return nil })
}

// end notes that the last stage of a job is whole. told is false where no submitter waits for the note: the last one was killed, or has all that it needs.
func (s *Step) end(dir string) (told bool, err error) {
	if planned, err := vfs.Exists(s.FS, filepath.Join(dir, workfolder.StepsFile)); !planned || err != nil {
		return false, err
	}
	err = vfs.WriteWhole(s.FS, filepath.Join(dir, endedFile), func(vfs.File) error { return nil })
	if errors.Is(err, fs.ErrNotExist) { // the submitter has removed the folder
		return false, nil
	}
	return err == nil, err
}

// shareWhole says whether the tasks of the process in a stage are whole.
func (s *Step) shareWhole(j *Job, stage int) bool {
	for task := s.Index; task < j.Stages[stage].Tasks; task += s.Of {
		if there, err := j.done(stage, task); !there || err != nil {
			return false
		}
	}
	return true
}

// gone says whether the submitter has removed the folder, as at the end of a run. One that begins anew empties the folder and does not remove it (workfolder.Clear); in an object store, where
// an empty folder is none, its lock stays, or the lock of the one before.
func (s *Step) gone() (bool, error) {
	there, err := vfs.Exists(s.FS, s.Dir)
	if !there && err == nil && vfs.SenderOf(s.FS, s.Dir) != nil {
		there, err = vfs.Exists(s.FS, s.Dir+vfs.LockSuffix)
	}
	return !there, err
}

// find is the folder of a job that waits for steps, and what is planned there; nil where there is none.
func (s *Step) find() (dir string, plan *planned, err error) {
	dirs := []string{s.Dir}
	entries, err := s.FS.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(s.Dir, e.Name()))
		}
	}
	for _, dir := range dirs {
		b, err := vfs.ReadFile(s.FS, filepath.Join(dir, workfolder.StepsFile), 1<<24)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		var p planned
		if err := json.Unmarshal(b, &p); err != nil {
			return "", nil, fmt.Errorf("%s: %w; give the command that planned the job again", filepath.Join(dir, workfolder.StepsFile), err)
		}
		if s.Stage != "" && !slices.ContainsFunc(p.Stages, func(x Stage) bool { return x.Name == s.Stage }) {
			continue
		}
		ended, err := vfs.Exists(s.FS, filepath.Join(dir, endedFile))
		if err != nil {
			return "", nil, err
		}
		if !ended {
			return dir, &p, nil
		}
	}
	return "", nil, nil
}
