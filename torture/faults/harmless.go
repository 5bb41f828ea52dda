package faults

import (
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/torture/internal/workloads"
)

// harmlessFaults are the faults that a run may survive with status 0, each with the reason.
var harmlessFaults = []struct {
	ops       []string
	path      string // a pattern of filepath.Match for the base name
	errnos    []string
	workloads string // the beginning of their names
	short     bool   // only where half of the read came first
	reason    string
}{
	{ops: []string{"hint"}, reason: "a hint to the system about space or the page cache"},
	{ops: []string{"map"}, reason: "the run does not read the page"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "cgroup", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "memory.*", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"open", "read", "close", "stat", "readdir"}, path: "meminfo", reason: "the bound on the memory of the machine is not known"},
	{ops: []string{"statfs"}, reason: "the free space is not known, so the run begins without a check"},
	{ops: []string{"lock"}, errnos: []string{"ENOLCK", "ENOSYS"}, reason: "the file system has no locks"},
	{ops: []string{"syncdir"}, errnos: []string{"EINVAL", "ENOSYS"}, reason: "the file system does not sync folders"},
	{ops: []string{"stat"}, path: ".", reason: "the folder of the output is looked at before it is used; what is made in it fails by itself"},
	{ops: []string{"stat"}, path: ".out.partial", workloads: "export-metis", reason: "what an earlier run left is looked for; making the file fails by itself"},
	{ops: []string{"read"}, path: "far.npy", workloads: "forecast", short: true, reason: "the last page of a file is asked for whole, and all bytes before its end came"},
	{ops: []string{"read"}, path: "*.npy", workloads: "sample-stream", short: true, reason: "the last page of a file is asked for whole, and all bytes before its end came"},
	{ops: []string{"read"}, path: "*.npy", workloads: "sample-messages-stream", short: true, reason: "the last page of a file is asked for whole, and all bytes before its end came"},
	{ops: []string{"direct"}, reason: "the file system does not bypass the page cache"},
	{ops: []string{"close"}, path: "*.csv", workloads: "pack", reason: "the file was read to its end"},
	{ops: []string{"read"}, path: "*.graph", workloads: "import-metis", short: true, reason: "the first line came, which tells the format; the file is read again"},
	{ops: []string{"open", "read", "close", "stat"}, path: "metadata.json", workloads: "partition", reason: "a file that cannot be read is taken for that of a chunked graph, and read again"},
	{ops: []string{"open", "read", "close", "stat"}, path: "metadata.json", workloads: "dispatch", reason: "a file that cannot be read is taken for that of a chunked graph, and read again"},
	{ops: []string{"read"}, path: "*.avro", workloads: "import-iceberg", short: true, reason: "the header came, which is looked at first; the file is read again"},
	{ops: []string{"read"}, path: "*.graph", workloads: "partition-metis", short: true, reason: "the header came, which is looked at first; the file is read again"},
	{ops: []string{"read"}, path: "*.csv.gz", workloads: "import-unigraph", reason: "what is read ahead of the lines that tell the dtypes is not needed; the file is read again"},
	{ops: []string{"open", "stat", "mmap", "close"}, path: "far.npy", workloads: "forecast", errnos: []string{"EACCES"}, reason: "the system does not tell what is in the page cache"},
	{ops: []string{"lstat", "stat"}, path: "manifest.json", reason: "the page of an output has no link to that of an input, or one to a page that is not there"},
	{ops: []string{"lstat", "stat"}, path: "report.html", reason: "the page of an output has no link to that of an input, or one to a page that is not there"},
	{ops: []string{"open", "stat", "lstat"}, workloads: "report", errnos: []string{"EACCES"}, reason: "a folder that may not be read is not searched for inputs"},
	{ops: []string{"seek"}, workloads: "feed", reason: "Python asks where a file that it has opened begins, and takes 0 where nothing says it"},
	{ops: []string{"seek"}, workloads: "events", reason: "Python asks where a file that it has opened begins, and takes 0 where nothing says it"},
	{ops: []string{"seek"}, workloads: "serve", reason: "Python asks where a file that it has opened begins, and takes 0 where nothing says it"},
	{ops: []string{"open", "stat", "read", "close", "lstat"}, workloads: "verify", path: "manifest.json*", reason: "the size of the folder is not known to the progress line; the manifest is read again"},
}

// libraryFaults are faults of system calls that the Go library makes for itself. TestSeam fails the calls of the product that look alike.
var libraryFaults = []struct {
	ops     []string
	outputs bool // only of outputs, not of inputs
	errnos  []string
	reason  string
}{
	{[]string{"stat"}, true, nil, "the Go library looks at a file before it renames, makes or removes it, which then fails by itself"},
	{[]string{"stat"}, false, nil, "the Go library looks at each folder of a path whose links it follows, to link to a page"},
	{[]string{"remove"}, true, nil, "the Go library tries to remove a name as a file and as a folder; the file was not there"},
	{[]string{"close"}, false, nil, "the Go library closes a folder that it has read"},
	{[]string{"open", "readdir"}, true, []string{"EMFILE"}, "a folder that is removed is listed a second time, with one descriptor"},
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
	if b.legal {
		return "a read or write may do a part of its work; the run goes on with the rest"
	}
	if b.beyond {
		return "all bytes of the file came before"
	}
	if b.outside {
		for _, h := range libraryFaults {
			if has(h.ops, b.op) && has(h.errnos, b.errno) && (!h.outputs || !strings.HasPrefix(b.path, "../../in/")) {
				return h.reason
			}
		}
	}
	for _, h := range harmlessFaults {
		if match, _ := filepath.Match(h.path, filepath.Base(b.path)); (match || h.path == "") && has(h.ops, b.op) && has(h.errnos, b.errno) && strings.HasPrefix(w.Name, h.workloads) && (b.short || !h.short) {
			return h.reason
		}
	}
	return ""
}
