package faults

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/trace"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

var numbers = map[string]unix.Errno{"EIO": unix.EIO, "ENOSPC": unix.ENOSPC, "EACCES": unix.EACCES, "EMFILE": unix.EMFILE, "ENOLCK": unix.ENOLCK, "EINVAL": unix.EINVAL}

// TestSystemCalls fails system calls on files in the product's own binary from outside, one in each run. A short read or write is not an
// error for a program: it goes on with the rest.
//
// TORTURE_FAULT="at=12 errno=EIO" with -run TestSystemCalls/NAME repeats one.
func TestSystemCalls(t *testing.T) {
	graphmill := command.Build(t, "graphmill")
	below := func(r *workloads.Run) string { return r.Place() }
	sweep{
		test: "TestSystemCalls",
		record: func(t *testing.T, r *workloads.Run, log string) command.Result {
			_, got := trace.Run(t, r.Call(t, graphmill), trace.Options{Below: below(r), Log: log})
			return got
		},
		attempt: func(t *testing.T, r *workloads.Run, f fault, _ string) (command.Result, *broken) {
			o, got := trace.Run(t, r.Call(t, graphmill), trace.Options{Below: below(r), At: f.at, Errno: numbers[f.errno], Short: f.short})
			if o.Hit == nil {
				return got, nil
			}
			// Only reads and writes can be short; with threads another call may have the number.
			if f.short && o.Hit.Op != "read" && o.Hit.Op != "write" {
				return got, nil
			}
			path := o.Hit.Path
			if rel, err := filepath.Rel(r.Dir, path); err == nil {
				path = rel
			}
			return got, &broken{op: o.Hit.Op, path: path, legal: f.short, beyond: o.Hit.Beyond, outside: true}
		},
		workloads: 40, each: 5,
	}.run(t)
}
