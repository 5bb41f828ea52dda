package operation

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Kinds of errors. Test for them with errors.Is.
var (
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
	// ErrContinues is an ErrResumable of a run on a cluster, which continues without Resume.
	ErrContinues = tagged.Errorf(ErrResumable, "the same command continues from there")
)

// Usagef is an error about options, of the kind option.ErrUsage.
func Usagef(format string, a ...any) error { return tagged.Errorf(option.ErrUsage, format, a...) }

// mostThreads bounds Run.Threads.
const mostThreads = 4096

// CheckRun refuses values that no operation takes, and fills in the default number of threads.
func CheckRun(o *option.Run) error {
	if o.Threads == 0 {
		o.Threads = min(runtime.GOMAXPROCS(0), mostThreads)
	}
	switch {
	case o.Threads < 1 || o.Threads > mostThreads:
		return Usagef("found `Threads` %d, expected 1 to %d", o.Threads, mostThreads)
	case o.Memory < 0:
		return Usagef("found `Memory` %d, expected a number of bytes", o.Memory)
	}
	return nil
}

// Warn tells a warning to Run.Warn.
func Warn(o *option.Run, format string, a ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Sprintf(format, a...))
	}
}

// Note tells a note to Run.Note.
func Note(o *option.Run, format string, a ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, a...))
	}
}

// NewReport makes the report of an operation.
func NewReport(o *option.Run, command, title string) *report.Report {
	line := make([]string, len(o.CommandLine))
	for i, arg := range o.CommandLine {
		line[i] = database.Redact(arg)
	}
	rep := report.New(command, title, Version(), line)
	rep.Threads, rep.MemoryBudget = o.Threads, o.Memory
	return rep
}

// Meter counts the progress of a stage and passes it to Run.Progress. A nil meter does nothing.
type Meter struct {
	tell func(option.Progress)
	mu   sync.Mutex
	at   option.Progress
	last time.Time
}

// between is the least time between two calls of Run.Progress for a stage.
const between = 100 * time.Millisecond

// NewMeter begins a stage. The caller must end it.
func NewMeter(o *option.Run, stage string, total int64, unit string) *Meter {
	if o.Progress == nil {
		return nil
	}
	return &Meter{tell: o.Progress, at: option.Progress{Stage: stage, Total: total, Unit: unit}, last: time.Now()}
}

// Add counts n more units. It is safe for concurrent use.
func (m *Meter) Add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at.Done += n
	m.pass()
}

// set sets the number of units that are done, which never falls, and their total.
func (m *Meter) set(done, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at.Done, m.at.Total = max(done, m.at.Done), total
	m.pass()
}

// pass calls Run.Progress if the last call is long enough ago.
func (m *Meter) pass() {
	if now := time.Now(); now.Sub(m.last) >= between {
		m.last = now
		m.tell(m.at)
	}
}

// End ends the stage. Calling it again does nothing.
func (m *Meter) End() {
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

// stages passes the progress of an operation that names its own stages to Run.Progress, each as a meter.
type stages struct {
	run *option.Run
	mu  sync.Mutex
	now *Meter // of the last stage; nil before the first one
}

// NewStages passes on the progress of stages that a stage names itself. The caller ends it.
func NewStages(o *option.Run) *stages { return &stages{run: o} }

// Update sets the progress of a stage. A new stage ends the previous one. It is safe for concurrent use.
func (s *stages) Update(stage string, done, total int64, unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.now.at.Stage != stage {
		s.now.End()
		s.now = NewMeter(s.run, stage, total, unit)
	}
	s.now.set(done, total)
}

// End ends the last stage.
func (s *stages) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.End()
}

// CloseWith joins the error of a close to the error that a function returns.
func CloseWith(err *error, f func() error) { *err = errors.Join(*err, f()) }

// SetDefault replaces a zero value by a default.
func SetDefault[T comparable](p *T, value T) {
	if *p == *new(T) {
		*p = value
	}
}
