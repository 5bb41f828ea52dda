package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Stage is a stage of a job.
type Stage struct {
	Name  string `json:"name"`
	Tasks int64  `json:"tasks"` // at least 1
	// Inputs are the records that the stage reads; empty for the first stage alone.
	Inputs []Input `json:"inputs,omitempty"`
}

// Input is the records that the tasks of stage From gave to stage For. For is the stage that reads them, or an earlier one with as many tasks.
type Input struct {
	From int `json:"from"`
	For  int `json:"for"`
}

// Emit takes a record for a key of a later stage. It copies the bytes.
type Emit func(to int, key int64, record []byte)

// Func is the function of a job: it does the work of a stage (from 0) for a key. records gives the records of the key, one after the other; their
// bytes stay as they are until the end of the call. A stage emits to the stages that name it in their inputs.
type Func func(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit Emit) error

// ErrNotWhole is the kind of the error of a task whose inputs are not there yet.
var ErrNotWhole = errors.New("an earlier stage is not whole")

// Job is a job in a folder that all workers reach. It is safe for concurrent use if Do is.
type Job struct {
	FS  vfs.FS
	Dir string // of the records
	// Work is the work folder (package workfolder) in which errors are saved for the submitter; empty for none.
	Work   string
	Stages []Stage
	Do     Func
	// Memory bounds the records that a task holds as input, and those that it holds as output; 0 is 64 MiB.
	Memory int64
}

const defaultMemory = 64 << 20

// taskOf is the task that has a key, of a stage with a number of tasks. Keys from 0 on have a task each, as far as there are tasks; multiples of the golden ratio spread the
// others, and any arithmetic progression of them, evenly.
func taskOf(key, tasks int64) int64 {
	if key >= 0 && key < tasks {
		return key
	}
	task, _ := bits.Mul64(uint64(key)*0x9E3779B97F4A7C15, uint64(tasks))
	return int64(task)
}

func (j *Job) stageDir(stage int) string { return filepath.Join(j.Dir, fmt.Sprintf("%02d", stage)) }

func (j *Job) taskFile(stage int, task int64) string {
	return filepath.Join(j.stageDir(stage), fmt.Sprintf("%08d", task))
}

func (j *Job) wholeFile(stage int) string { return j.stageDir(stage) + ".whole" }

// Prepare makes the folders of a job. It keeps what is there.
func (j *Job) Prepare() error {
	for stage := range j.Stages {
		if err := j.FS.MkdirAll(j.stageDir(stage)); err != nil {
			return err
		}
	}
	return nil
}

// Whole says whether all tasks of a stage are whole.
func (j *Job) Whole(stage int) (bool, error) { return vfs.Exists(j.FS, j.wholeFile(stage)) }

// Task runs a task of a stage, unless it is whole. The stages that it reads must be whole; else the error is ErrNotWhole.
func (j *Job) Task(ctx context.Context, stage int, task int64) (err error) {
	defer func() { j.tell(err) }()
	defer guard.Catch(&err)()
	if stage < 0 || stage >= len(j.Stages) || task < 0 || task >= j.Stages[stage].Tasks {
		return fmt.Errorf("found task %d of stage %d, expected one of the %d stages of the job; use the same version on all machines", task, stage, len(j.Stages))
	}
	if done, err := j.done(stage, task); done || err != nil {
		return err
	}
	if err = j.run(ctx, stage, task); err == nil {
		return nil
	}
	// Another worker has done the task meanwhile, and its inputs are gone: its error says nothing.
	if done, err := j.done(stage, task); done && err == nil {
		return nil
	}
	return err
}

// tell saves an error for the submitter. That a stage is not whole yet is no error of the job.
func (j *Job) tell(err error) {
	if err != nil && j.Work != "" && !errors.Is(err, ErrNotWhole) {
		workfolder.Fail(j.FS, j.Work, err)
	}
}

// done says whether a task is whole.
func (j *Job) done(stage int, task int64) (bool, error) {
	if there, err := vfs.Exists(j.FS, j.taskFile(stage, task)); there || err != nil {
		return there, err
	}
	return j.Whole(stage)
}

func (j *Job) run(ctx context.Context, stage int, task int64) (err error) {
	memory := int(j.Memory)
	if memory == 0 {
		memory = defaultMemory
	}
	in := &sorter{fs: j.FS, dir: j.Dir, memory: memory}
	out := &sorter{fs: j.FS, dir: j.Dir, memory: memory}
	defer func() { err = errors.Join(err, in.close(), out.close()) }()
	segments := j.segments(stage)
	var failed error // of emit
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	emit := func(to int, key int64, record []byte) {
		if failed != nil {
			return
		}
		if first, n := segments.of(to); n == 0 {
			failed = fmt.Errorf("stage %s: found a record for stage %d, expected one for a stage that reads this one", j.Stages[stage].Name, to)
		} else {
			failed = out.take(uint32(first+taskOf(key, n)), key, record)
		}
		if failed != nil {
			cancel(failed)
		}
	}
	if stage == 0 {
		if err := j.Do(ctx, 0, task, none, emit); err != nil || failed != nil {
			return cmp.Or(failed, err)
		}
	} else {
		if err := j.read(ctx, in, stage, task); err != nil {
			return err
		}
		if err := j.each(ctx, in, stage, emit, &failed); err != nil {
			return err
		}
	}
	records, err := out.sorted()
	if err != nil {
		return err
	}
	if err := vfs.WriteWhole(j.FS, j.taskFile(stage, task), func(f vfs.File) error { return writeFile(f, records, segments.count) }); err != nil {
		return err
	}
	return j.dropLate(stage, task)
}

// dropLate removes the file of a task that another worker has done before, if its last reader is whole: Finish may have removed the folder
// while the file was on its way to an object store, which needs no folder.
func (j *Job) dropLate(stage int, task int64) error {
	last := j.lastReader(stage)
	if last == stage || vfs.SenderOf(j.FS, j.taskFile(stage, task)) == nil {
		return nil
	}
	if whole, err := j.Whole(last); !whole || err != nil {
		return err
	}
	return j.FS.RemoveAll(j.taskFile(stage, task))
}

func none() ([]byte, bool) { return nil, false }

// segments are the segments of the files of a stage: one per task of each stage that its records are for.
type segments struct {
	to    []int   // stages
	first []int64 // segment of each
	tasks []int64
	count int64
}

func (j *Job) segments(stage int) (s segments) {
	for to := range j.Stages {
		if !slices.ContainsFunc(j.Stages, func(reader Stage) bool { return slices.Contains(reader.Inputs, Input{stage, to}) }) {
			continue
		}
		s.to, s.first, s.tasks = append(s.to, to), append(s.first, s.count), append(s.tasks, j.Stages[to].Tasks)
		s.count += j.Stages[to].Tasks
	}
	return s
}

// of is the first segment of the tasks of a stage, and the number of these; 0 for a stage that no record is for.
func (s *segments) of(to int) (first, n int64) {
	if i := slices.Index(s.to, to); i >= 0 {
		return s.first[i], s.tasks[i]
	}
	return 0, 0
}

// each calls the function of the job for the keys of a task.
func (j *Job) each(ctx context.Context, in *sorter, stage int, emit Emit, failed *error) error {
	records, err := in.sorted()
	if err != nil {
		return err
	}
	for first := records.first(); first != nil; first = records.first() {
		key := first.key
		next := func() ([]byte, bool) {
			r := records.first()
			if r == nil || r.key != key || *failed != nil {
				return nil, false
			}
			record := r.record
			*failed = records.skip()
			return record, *failed == nil
		}
		if err := j.Do(ctx, stage, key, next, emit); err != nil || *failed != nil {
			return cmp.Or(*failed, err)
		}
		for _, ok := next(); ok; _, ok = next() { // what the function left
		}
		if *failed != nil {
			return *failed
		}
	}
	return nil
}

// Finish ends a stage all of whose tasks are whole: it removes the records that no later stage reads, and what killed tasks left. A task
// that is not whole is an error. It may be called again.
func (j *Job) Finish(stage int) (err error) {
	defer func() { j.tell(err) }()
	if whole, err := j.Whole(stage); whole || err != nil {
		return err
	}
	t, err := j.missing(stage)
	if err != nil {
		return err
	}
	if t >= 0 {
		// Another process has ended the stage meanwhile, and the next one, so that its files are gone.
		if whole, err := j.Whole(stage); whole || err != nil {
			return err
		}
		return fmt.Errorf("stage %s: found no records of task %d after the stage ended, expected those of %d tasks: %w; give the same command again", j.Stages[stage].Name, t, j.Stages[stage].Tasks, ErrNotWhole)
	}
	if err := vfs.WriteWhole(j.FS, j.wholeFile(stage), func(vfs.File) error { return nil }); err != nil {
		return err
	}
	if err := j.removeParts(stage); err != nil {
		return err
	}
	for from := range stage {
		if j.lastReader(from) <= stage {
			if err := j.FS.RemoveAll(j.stageDir(from)); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing is the first task of a stage whose file is not there; -1 where all are. An object store is asked for the list of them, and not for each.
func (j *Job) missing(stage int) (int64, error) {
	there := func(t int64) (bool, error) { return vfs.Exists(j.FS, j.taskFile(stage, t)) }
	if vfs.SenderOf(j.FS, j.stageDir(stage)) != nil {
		entries, err := j.FS.ReadDir(j.stageDir(stage))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		names := map[string]bool{}
		for _, e := range entries {
			names[e.Name()] = true
		}
		there = func(t int64) (bool, error) { return names[filepath.Base(j.taskFile(stage, t))], nil }
	}
	for t := range j.Stages[stage].Tasks {
		if ok, err := there(t); !ok || err != nil {
			return t, err
		}
	}
	return -1, nil
}

// lastReader is the last stage that reads the records of a stage; the stage itself where none does.
func (j *Job) lastReader(from int) (last int) {
	last = from
	for stage, s := range j.Stages {
		if slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.From == from }) {
			last = stage
		}
	}
	return last
}

// removeParts removes the files of a stage that were not renamed, since their tasks were killed.
func (j *Job) removeParts(stage int) error {
	if vfs.SenderOf(j.FS, j.stageDir(stage)) != nil {
		return nil // there are none, and RemoveAll ends uploads
	}
	entries, err := j.FS.ReadDir(j.stageDir(stage))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process has ended the next stage, too
		return err
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".") {
			continue
		}
		if err := j.FS.Remove(filepath.Join(j.stageDir(stage), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Run runs all tasks that are not whole, with a number of goroutines.
func (j *Job) Run(ctx context.Context, threads int) error {
	for stage := range j.Stages {
		if whole, err := j.Whole(stage); err != nil {
			return err
		} else if whole {
			continue
		}
		if err := j.RunShare(ctx, stage, 0, 1, threads); err != nil {
			return err
		}
		if err := j.Finish(stage); err != nil {
			return err
		}
	}
	return nil
}

// RunShare runs the tasks of a stage whose numbers are index modulo n, with a number of goroutines.
func (j *Job) RunShare(ctx context.Context, stage int, index, n int64, threads int) error {
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(max(threads, 1))
	for task := index; task < j.Stages[stage].Tasks && ctx.Err() == nil; task += n {
		g.Go(func() error { return j.Task(ctx, stage, task) })
	}
	return g.Wait()
}
