package graphmill

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Run holds what all operations have in common. Its zero value is the default.
type Run struct {
	// Threads is the number of worker threads, 1 to 4096; 0 is one per processor. Results do not depend on it.
	Threads int
	// Memory bounds the peak memory of the process, in bytes. 0 is no bound.
	Memory int64
	// Overwrite replaces an output folder that is there, if it is an output of Graphmill.
	Overwrite bool

	// Progress, if not nil, is called at most ten times per second for each stage, and once at its end.
	Progress func(Progress)
	// Warn, if not nil, is called with one line of text about each thing that was dropped, replaced or rounded.
	Warn func(text string)
	// Note, if not nil, is called with one line of text about what was chosen and what the work is expected to take.
	Note func(text string)

	// CommandLine is what the report shows as the command that made the output: the program, then its arguments.
	CommandLine []string
}

// Progress tells how far a stage of an operation has come.
type Progress struct {
	Stage string // such as "sample"
	Done  int64
	Total int64  // 0 is unknown
	Unit  string // of Done and Total, such as "subgraphs"
	End   bool   // the stage has ended
}

// Errors that tell why an operation failed. They are matched by errors.Is.
var (
	// ErrUsage is the kind of an error about the options, as opposed to the data. Its text names fields of the options
	// in backquotes.
	ErrUsage = errors.New("wrong usage")
	// ErrExists is the kind of the error for an output that is there already, without Overwrite.
	ErrExists = store.ErrExists
	// ErrNotStore is the kind of the error for a folder that is neither a store nor a collection.
	ErrNotStore = store.ErrNotStore
	// ErrDamaged is the kind of the error for a store whose files are not what its manifest says.
	ErrDamaged = store.ErrDamaged
	// ErrResumable is the kind of the error of a run that stopped and left something that the same call, with
	// Resume, continues.
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
	rep := report.New(command, title, Version(), o.CommandLine)
	rep.Threads, rep.MemoryBudget = o.Threads, o.Memory
	return rep
}

// meter counts what is done of a stage and passes it on to Run.Progress. A nil meter does nothing.
type meter struct {
	tell func(Progress)
	mu   sync.Mutex
	at   Progress
	last time.Time
}

// between is the least time between two calls of Run.Progress for a stage.
const between = 100 * time.Millisecond

// meter begins a stage. The caller ends it.
func (o *Run) meter(stage string, total int64, unit string) *meter {
	if o.Progress == nil {
		return nil
	}
	return &meter{tell: o.Progress, at: Progress{Stage: stage, Total: total, Unit: unit}, last: time.Now()}
}

// add counts n more. Any goroutine may call it.
func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at.Done += n
	if now := time.Now(); now.Sub(m.last) >= between {
		m.last = now
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
		m.tell(m.at)
	}
}

// stages passes on the progress of an operation that names its stages itself.
type stages struct {
	tell func(Progress)
	mu   sync.Mutex
	at   Progress
	last time.Time
}

func (o *Run) stages() *stages { return &stages{tell: o.Progress} }

// update tells how far a stage has come. A new stage ends the one before. Any goroutine may call it.
func (s *stages) update(stage string, done, total int64, unit string) {
	if s.tell == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Stage != stage {
		s.finish()
		s.at, s.last = Progress{Stage: stage}, time.Time{}
	}
	s.at.Done, s.at.Total, s.at.Unit = max(done, s.at.Done), total, unit
	if now := time.Now(); now.Sub(s.last) >= between {
		s.last = now
		s.tell(s.at)
	}
}

// end ends the last stage.
func (s *stages) end() {
	if s.tell == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
}

func (s *stages) finish() {
	if s.at.Stage != "" && !s.at.End {
		s.at.End = true
		s.tell(s.at)
	}
}

// keeps refuses an output folder that would replace an input (the input itself, or a folder that holds it), or that
// would lie among the checksummed files of an output of Graphmill.
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
			return usagef("found `Out` %s, which is or holds the input %s, expected another folder", out, in)
		}
		if rel, err := filepath.Rel(path, real); err == nil && filepath.IsLocal(rel) {
			if _, err := vfs.OS.Stat(filepath.Join(path, store.ManifestFile)); err == nil {
				return usagef("found `Out` %s, which lies in the input %s, expected a folder outside of it", out, in)
			}
		}
	}
	return nil
}

// realPath is the absolute path, without symbolic links, of what exists or will exist.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, base := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base), nil
	}
	return path, nil
}

// closeWith joins the error of a close to the error that a function returns.
func closeWith(err *error, f func() error) { *err = errors.Join(*err, f()) }
