package trace

import (
	"encoding/json"
	"os"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// Options say what to do at which call.
type Options struct {
	Below string     // the folder below which calls count
	At    int64      // the number of the call, from 1; 0 is none
	Errno unix.Errno // fail the call
	Short bool       // let it read or write half of the bytes
	// Signal is sent before the call: SIGKILL to the program and all that it started, others to the program alone. 0 is none.
	Signal unix.Signal
	After  bool // send it after the call instead
	// Cut, if not nil, is the size to which File is cut after the call, if the call is on it, while the thread that made it is stopped.
	Cut  *int64
	File string
	Log  string // with At 0: a file that gets a line for each call, NUMBER OP PATH
}

// Call is a system call on a file.
type Call struct {
	Number int64
	Op     string // as package vfs names it: open, create, read, ...
	Path   string
	// Beyond is a read from an offset at or after the end of the file, which brings nothing.
	Beyond bool
}

// Outcome is what the tracer saw.
type Outcome struct {
	Calls int64
	Hit   *Call // the call At; nil if the program made fewer
	// Error says why the tracer itself failed.
	Error string
}

// spec is what the tracer process is started with.
type spec struct {
	Options
	Program string
	Result  string // a file for the Outcome
}

const variable = "TORTURE_TRACER"

func init() {
	s := os.Getenv(variable)
	if s == "" {
		return
	}
	_ = os.Unsetenv(variable)
	var p spec
	if err := json.Unmarshal([]byte(s), &p); err != nil {
		panic(err)
	}
	status, outcome := tracer(p)
	b, err := json.Marshal(outcome)
	if err == nil {
		err = os.WriteFile(p.Result, b, 0o644)
	}
	if err != nil {
		panic(err)
	}
	if status.Signaled() {
		// The test sees the signal as if it had come from the program.
		signal.Reset(status.Signal())
		_ = unix.Kill(os.Getpid(), status.Signal())
		select {}
	}
	os.Exit(status.ExitStatus())
}

// Run runs a program under the tracer.
func Run(tb testing.TB, c command.Call, o Options) (Outcome, command.Result) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	result, err := os.CreateTemp(tb.TempDir(), "trace-")
	if err != nil {
		tb.Fatal(err)
	}
	_ = result.Close() // written by the tracer
	b, err := json.Marshal(spec{o, c.Program, result.Name()})
	if err != nil {
		tb.Fatal(err)
	}
	traced := c
	traced.Program, traced.Env = self, append(append([]string{}, c.Env...), variable+"="+string(b))
	r := traced.Run(tb)
	r.Call = c
	var outcome Outcome
	if b, err = os.ReadFile(result.Name()); err != nil {
		tb.Fatal(err)
	}
	if err := os.Remove(result.Name()); err != nil {
		tb.Fatal(err)
	}
	if r.Late {
		return outcome, r
	}
	if err := json.Unmarshal(b, &outcome); err != nil {
		tb.Fatalf("the tracer ended without a result: %v\n%s", err, r)
	}
	if outcome.Error != "" {
		tb.Fatalf("the tracer failed: %s; ptrace needs kernel.yama.ptrace_scope of at most 2 and a container that permits it", outcome.Error)
	}
	return outcome, r
}
