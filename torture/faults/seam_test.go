package faults

import (
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// TestSeam fails calls of the file system of package vfs and pages of its maps, one in each run. The long form fails every call with every
// error that it can have, the short form one call of each command, operation and kind of file.
//
// TORTURE_FAULT="at=12 errno=EIO" with -run TestSeam/NAME repeats one.
func TestSeam(t *testing.T) {
	graphmill := command.Build(t, "graphmill", "faults")
	sweep{
		test: "TestSeam",
		record: func(t *testing.T, r *workloads.Run, log string) command.Result {
			return r.Call(t, graphmill, "GRAPHMILL_FAULT=log="+log).Run(t)
		},
		attempt: func(t *testing.T, r *workloads.Run, f fault, log string) (command.Result, *broken) {
			got := r.Call(t, graphmill, "GRAPHMILL_FAULT="+f.String()+" log="+log).Run(t)
			return got, readLog(t, log)
		},
		workloads: 105, each: 6,
	}.run(t)
}
