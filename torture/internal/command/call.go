package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Call is one run of a program.
type Call struct {
	Program string
	Args    []string
	Dir     string
	Env     []string // more variables, NAME=VALUE
	Stdin   io.Reader
	// Limit is the longest that the run may take; 0 is two minutes. A run that takes longer is killed, with all processes that it
	// started.
	Limit time.Duration
	// Started is called once with the id of the process, which leads a process group of its own.
	Started func(pid int)
}

// Result is how a run ended.
type Result struct {
	Call           Call
	Status         int            // exit status; -1 where a signal ended the program
	Signal         syscall.Signal // which signal; 0 for none
	Late           bool           // Limit passed
	Stdout, Stderr string
	Peak           int64         // bytes of the resident set at its largest
	CPU            time.Duration // processor time, user and system
	Took           time.Duration // from the start of the process to its end
	Read           int64         // bytes that the disk gave the process
}

// Run runs the program to its end.
func (c Call) Run(tb testing.TB) Result {
	tb.Helper()
	r, err := c.Do()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Do runs the program to its end. The error says why it could not be started.
func (c Call) Do() (Result, error) {
	if c.Limit == 0 {
		c.Limit = 2 * time.Minute
	}
	r := Result{Call: c}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, append(os.Environ(), c.Env...), c.Stdin, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 10 * time.Second // for a child that keeps the output open
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	stop := time.AfterFunc(c.Limit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	if c.Started != nil {
		c.Started(cmd.Process.Pid)
	}
	err := cmd.Wait()
	r.Late, r.Took = !stop.Stop(), time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return r, err
	}
	r.Stdout, r.Stderr, r.Status = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	if w, is := cmd.ProcessState.Sys().(syscall.WaitStatus); is && w.Signaled() {
		r.Signal = w.Signal()
	}
	if u, is := cmd.ProcessState.SysUsage().(*syscall.Rusage); is {
		r.Peak, r.Read = u.Maxrss<<10, u.Inblock*512
	}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r, nil
}

// String has the line that repeats the run, and how it ended.
func (r Result) String() string {
	var b strings.Builder
	b.WriteString(r.Call.String())
	switch {
	case r.Late:
		fmt.Fprintf(&b, "\nkilled after %s", r.Call.Limit)
	case r.Signal != 0:
		fmt.Fprintf(&b, "\nsignal %d (%s)", int(r.Signal), r.Signal)
	default:
		fmt.Fprintf(&b, "\nexit status %d", r.Status)
	}
	for _, s := range []struct{ name, text string }{{"stdout", r.Stdout}, {"stderr", r.Stderr}} {
		if s.text != "" {
			fmt.Fprintf(&b, "\n%s: %s", s.name, strings.TrimRight(clip(s.text), "\n"))
		}
	}
	return b.String()
}

func clip(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// String is the line for a shell that repeats the run.
func (c Call) String() string {
	words := make([]string, 0, len(c.Args)+len(c.Env)+4)
	if c.Dir != "" {
		words = append(words, "cd", quote(c.Dir), "&&")
	}
	for _, e := range c.Env {
		words = append(words, quote(e))
	}
	words = append(words, quote(c.Program))
	for _, a := range c.Args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:@+%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Crashed reports whether the text has the trace of a panic or of a fatal error of Go.
func Crashed(stderr string) bool {
	for _, s := range []string{"goroutine ", "panic: ", "fatal error: ", "SIGBUS", "SIGSEGV"} {
		if strings.Contains(stderr, s) {
			return true
		}
	}
	return false
}
