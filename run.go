package graphmill

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Run has the options that all operations share. Its zero value is the default.
type Run struct {
	// Threads is the number of worker threads, 1 to 4096; 0 is one per processor. Results do not depend on it.
	Threads int
	// Memory bounds the peak memory of the process, in bytes; 0 is no bound. A bound that is too small is an error.
	Memory int64
	// Overwrite replaces an existing output folder if Graphmill wrote it. Otherwise an existing output is ErrExists.
	Overwrite bool
	// NoReport leaves report.html and report.json out of the output folder. Verify accepts the folder, and RenderReport
	// has nothing to render.
	NoReport bool

	// Progress, if not nil, is called at most ten times per second for each stage, and once at the end of the stage.
	Progress func(Progress)
	// Warn, if not nil, is called with one line of text for each kind of data that was dropped, replaced or rounded.
	Warn func(text string)
	// Note, if not nil, is called with one line of text about each choice that the operation makes, and with forecasts.
	Note func(text string)

	// CommandLine is the command that the report shows: the program, then its arguments. Of addresses of databases it shows host, port, user and database.
	CommandLine []string

	foreseen *foreseen // the work of the stages, or nil
}

// Progress is the progress of a stage of an operation.
type Progress struct {
	Stage string // name of the stage, such as "sample"
	Done  int64  // work done, in units
	Total int64  // work of the whole stage, in units; 0 is unknown
	Unit  string // unit of Done and Total, such as "subgraphs"
	End   bool   // the stage has ended
	// Share is the share of the whole run that is done, from 0 to 1, by an estimate of the work of all stages. It never falls.
	// It is 0 where the stage is the whole run, and where the work of the stages is not known.
	Share float64
}

// Kinds of errors. Test for them with errors.Is.
var (
	// ErrUsage means that the options are wrong, as opposed to the data. The text names fields of the options in
	// backquotes.
	ErrUsage = errors.New("wrong usage")
	// ErrExists means that the output exists and Overwrite is false.
	ErrExists = store.ErrExists
	// ErrNotStore means that a folder is neither a store nor a collection.
	ErrNotStore = store.ErrNotStore
	// ErrDamaged means that the files of a folder do not match its manifest.
	ErrDamaged = store.ErrDamaged
	// ErrWhole means that the output is complete under its name, although a later step failed, which the text names. Verify
	// accepts the output.
	ErrWhole = store.ErrWhole
	// ErrMemory means that Memory is too small for the operation. The text says how much is enough.
	ErrMemory = limits.ErrMemory
	// ErrResumable means that a run stopped early and left a state from which the same call with Resume continues.
	ErrResumable = errors.New("a run with the same options and `Resume` continues from there")
)

func usagef(format string, a ...any) error { return tagged.Errorf(ErrUsage, format, a...) }

// mostThreads bounds Run.Threads.
const mostThreads = 4096

// check refuses values that no operation takes, and fills in the default number of threads.
func (o *Run) check() error {
	if o.Threads == 0 {
		o.Threads = min(runtime.GOMAXPROCS(0), mostThreads)
	}
	switch {
	case o.Threads < 1 || o.Threads > mostThreads:
		return usagef("found `Threads` %d, expected 1 to %d", o.Threads, mostThreads)
	case o.Memory < 0:
		return usagef("found `Memory` %d, expected a number of bytes", o.Memory)
	}
	return nil
}

func (o *Run) warn(format string, a ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Sprintf(format, a...))
	}
}

func (o *Run) note(format string, a ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, a...))
	}
}

// begin makes the report of an operation.
func (o *Run) begin(command, title string) *report.Report {
	line := make([]string, len(o.CommandLine))
	for i, arg := range o.CommandLine {
		line[i] = database.Redact(arg)
	}
	rep := report.New(command, title, Version(), line)
	rep.Threads, rep.MemoryBudget = o.Threads, o.Memory
	return rep
}

// meter counts the progress of a stage and passes it to Run.Progress. A nil meter does nothing.
type meter struct {
	tell func(Progress)
	run  *foreseen
	mu   sync.Mutex
	at   Progress
	last time.Time
}

// between is the least time between two calls of Run.Progress for a stage.
const between = 100 * time.Millisecond

// meter begins a stage. The caller must end it.
func (o *Run) meter(stage string, total int64, unit string) *meter {
	if o.Progress == nil {
		return nil
	}
	return &meter{tell: o.Progress, run: o.foreseen, at: Progress{Stage: stage, Total: total, Unit: unit}, last: time.Now()}
}

// add counts n more units. It is safe for concurrent use.
func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at.Done += n
	m.pass()
}

// set sets the number of units that are done, which never falls, and their total.
func (m *meter) set(done, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at.Done, m.at.Total = max(done, m.at.Done), total
	m.pass()
}

// pass calls Run.Progress if the last call is long enough ago.
func (m *meter) pass() {
	if now := time.Now(); now.Sub(m.last) >= between {
		m.last = now
		m.at.Share = m.run.share(m.at)
		m.tell(m.at)
	}
}

// end ends the stage. Calling it again does nothing.
func (m *meter) end() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.End {
		m.at.End = true
		m.at.Share = m.run.share(m.at)
		m.tell(m.at)
	}
}

// stages passes the progress of an operation that names its own stages to Run.Progress, each as a meter.
type stages struct {
	run *Run
	mu  sync.Mutex
	now *meter // of the last stage; nil before the first one
}

func (o *Run) stages() *stages { return &stages{run: o} }

// update sets the progress of a stage. A new stage ends the previous one. It is safe for concurrent use.
func (s *stages) update(stage string, done, total int64, unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.now.at.Stage != stage {
		s.now.end()
		s.now = s.run.meter(stage, total, unit)
	}
	s.now.set(done, total)
}

// end ends the last stage.
func (s *stages) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.end()
}

// option is a field of options, and whether it is given.
type option struct {
	name  string
	given bool
}

// firstGiven is the name of the first option that is given, "" for none.
func firstGiven(options ...option) string {
	for _, o := range options {
		if o.given {
			return o.name
		}
	}
	return ""
}

// keeps refuses an output folder that is an input, that holds one, or that lies inside an input folder with a manifest.
func keeps(out string, inputs ...string) error {
	if out == "" {
		return usagef("found no `Out`, expected a folder to write; give `Out`")
	}
	real, err := realPath(out)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		path, err := realPath(in)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) {
			return usagef("found `Out` %s, which is or contains the input %s, expected another folder; give an `Out` beside it", out, in)
		}
		if rel, err := filepath.Rel(path, real); err == nil && filepath.IsLocal(rel) {
			_, err := vfs.OS.Stat(filepath.Join(path, store.ManifestFile))
			switch {
			case err == nil:
				return usagef("found `Out` %s, which lies in the input %s, expected a folder outside it; give an `Out` beside it", out, in)
			case !vfs.Absent(err): // an input that is a file holds none
				return err
			}
		}
	}
	return nil
}

// realPath returns the absolute path, without symbolic links, of a file that exists or will exist.
func realPath(path string) (string, error) {
	if vfs.Scheme(path) != "" {
		return filepath.Clean(path), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !vfs.Absent(err) {
		return real, err
	}
	dir, base := filepath.Split(path)
	real, err = filepath.EvalSymlinks(dir)
	switch {
	case err == nil:
		return filepath.Join(real, base), nil
	case vfs.Absent(err):
		return path, nil
	}
	return "", err
}

// closeWith joins the error of a close to the error that a function returns.
func closeWith(err *error, f func() error) { *err = errors.Join(*err, f()) }
