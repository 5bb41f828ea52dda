package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Interruptible returns a context that ends at SIGINT, SIGTERM or SIGHUP. A signal that the process was started with as
// ignored stays ignored: SIGHUP under nohup, SIGINT of a job in the background of a script. A second signal ends the process
// at once, even if it waits for stdin.
//
// A write to a pipe without a reader becomes an error, also on stdout and stderr: by default it ends the process, in the
// middle of an output.
func Interruptible() (ctx context.Context, stop func()) {
	var ends []os.Signal
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			ends = append(ends, s)
		}
	}
	ctx, release := context.WithCancel(context.Background())
	if len(ends) > 0 { // no signals would stand for all of them
		ctx, release = signal.NotifyContext(context.Background(), ends...)
	}
	context.AfterFunc(ctx, release)
	// NotifyContext gives the signal's name as the cause. An operation that returns the cause would then not be known to have ended by its
	// context, so the cause is context.Canceled.
	stopped, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, cancel)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return stopped, func() {
		signal.Stop(pipes)
		release()
		cancel()
	}
}

// Stdout is the standard output of a command. It remembers the first error of a write, because a command does not look at
// each, and then stops the command: nobody gets what it would print. It is safe for concurrent use.
type Stdout struct {
	w    io.Writer
	stop func()

	mu      sync.Mutex
	err     error
	written int64
}

// NewStdout returns a Stdout that writes to w and, when that fails, calls stop.
func NewStdout(w io.Writer, stop func()) *Stdout { return &Stdout{w: w, stop: stop} }

// Write implements io.Writer.
func (s *Stdout) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.written += int64(n)
	if err != nil {
		s.err = err
		s.stop()
	}
	return n, err
}

// Written is the number of bytes that were written.
func (s *Stdout) Written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// Err is the first error of a write.
func (s *Stdout) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ExitPipe is the exit status of a command whose stdout is a pipe that its reader closed, as head does. A
// program that SIGPIPE ends has the same status. The command prints nothing.
const ExitPipe = 128 + int(syscall.SIGPIPE)

// Failed returns the exit status and the error to print of a command whose stdout failed: ExitPipe and nil where its reader
// closed it and nothing else failed. err is the error of the command. It must not be called if Err is nil.
func (s *Stdout) Failed(err error, failed int) (status int, told error) {
	failure := s.Err()
	switch {
	case errors.Is(failure, syscall.EPIPE) && (err == nil || tagged.Only(err, context.Canceled, syscall.EPIPE)):
		return ExitPipe, nil
	case errors.Is(err, failure):
		return failed, err
	}
	return failed, &os.PathError{Op: "write", Path: "stdout", Err: pathless(failure)}
}

// pathless is an error without the path that it names.
func pathless(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
