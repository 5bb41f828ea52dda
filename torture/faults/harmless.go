package faults

import (
	"path/filepath"

	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// harmlessFaults are the faults that a run may survive with status 0, each with the reason.
var harmlessFaults = []struct {
	ops    []string
	path   string // a pattern of filepath.Match for the base name
	errnos []string
	reason string
}{
	{ops: []string{"map"}, reason: "the run does not read the page"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "cgroup", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "memory.*", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "meminfo", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"statfs"}, reason: "the free space is not known, so the run begins without a check"},
	{ops: []string{"lock"}, errnos: []string{"ENOLCK", "ENOSYS"}, reason: "the file system has no locks"},
	{ops: []string{"syncdir"}, errnos: []string{"EINVAL", "ENOSYS"}, reason: "the file system does not sync folders"},
	{ops: []string{"direct"}, reason: "the file system does not bypass the page cache"},
}

// harmless is the reason why a run may go on after a fault, or empty.
func harmless(w workloads.Workload, b broken) string {
	has := func(list []string, s string) bool {
		for _, x := range list {
			if x == s {
				return true
			}
		}
		return len(list) == 0
	}
	for _, h := range harmlessFaults {
		if match, _ := filepath.Match(h.path, filepath.Base(b.path)); (match || h.path == "") && has(h.ops, b.op) && has(h.errnos, b.errno) {
			return h.reason
		}
	}
	return ""
}
