package faults

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// broken is a call that failed.
type broken struct {
	op    string // as vfs.Fault names it
	path  string // of the file, from the working folder
	errno string
	page  bool // of a map
	short bool // the call did half of its work first
	legal bool // it did so without an error, as the kernel may
	// beyond is a read at or after the end of the file.
	beyond bool
	// outside is a system call that failed, which may be one of the Go library's own.
	outside bool
}

// verdict is how a run with a fault was judged.
type verdict struct {
	harmless string // the reason why status 0 is right
	bad      []string
}

func (v *verdict) add(format string, args ...any) {
	v.bad = append(v.bad, fmt.Sprintf(format, args...))
}

// judge judges a run that met a fault, and runs the command of the same binary once more without. want is what a run without fault leaves.
func judge(t *testing.T, r *workloads.Run, got command.Result, b broken, graphmill string, want workloads.Outputs, stdout string) verdict {
	t.Helper()
	var v verdict
	text := got.Stdout + got.Stderr
	switch {
	case got.Late:
		v.add("did not end")
	case got.Signal != 0 || command.Crashed(got.Stderr):
		v.add("crashed")
	case got.Status == 0:
		if v.harmless = harmless(r.Workload, b); v.harmless == "" {
			v.add("succeeded in silence")
		}
		if len(r.Visible(t)) != len(r.Workload.Out) {
			v.add("succeeded without its outputs")
		}
		if r.Workload.Python != "" && got.Stdout != stdout {
			v.add("succeeded with other batches")
		}
	case got.Status == 1 || got.Status == 3 && strings.HasPrefix(r.Workload.Name, "verify"):
		if !namesFile(text, b.path) {
			v.add("the message does not name %s", b.path)
		}
	default:
		v.add("ended with status %d", got.Status)
	}
	if damaged := r.Damaged(t, want); damaged != "" {
		v.add("%s", damaged)
	}
	visible := r.Visible(t)
	if got.Status != 0 && len(visible) > 0 && len(visible) == len(r.Workload.Out) && len(r.Workload.Copy) == 0 && !says(text) {
		v.add("failed, and the output is there without a word that it is whole")
	}
	beside := r.Beside(t)
	replaced := strings.Contains(text, "the output that it replaced is left in")                                                          // it goes only after the new name is durable
	if len(beside) > 0 && !cleaning(b) && !replaced && !(got.Status != 0 && (r.Workload.Resumes || strings.Contains(text, "--resume"))) { // checkpoints and finished parts are kept
		v.add("left %v", beside)
	}
	if len(beside) > 0 || len(visible) > 0 && got.Status != 0 {
		v.bad = append(v.bad, r.Again(t, graphmill, want)...)
	}
	return v
}

// namesFile reports whether a text names a file: its base name, without the dot and the ending of a partial output.
func namesFile(text, path string) bool {
	base := filepath.Base(path)
	if base == "." || base == ".." { // the working folder, or one above it
		return true
	}
	return strings.Contains(text, base)
}

// says reports whether a message of a failed run says that the output is whole or there.
func says(text string) bool {
	for _, words := range []string{"is whole", "are whole", "is complete"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// cleaning reports whether a fault keeps a run from removing what it gives up: an unfinished output, or the folder of its messages or
// of its lines.
func cleaning(b broken) bool {
	within := func(ending string) bool { return strings.Contains(b.path+"/", ending+"/") }
	return b.op == "remove" || (b.op == "readdir" || b.op == "open") && (within(".partial") || within(".messages") || within(".lines") || b.path == ".")
}
