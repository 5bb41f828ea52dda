package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ends is the commands that write an output folder OUT, by name. They run in a folder of inputs, which endInputs makes.
var ends = map[string]string{
	"import":        "import tables --out OUT",
	"changed":       "import edges.csv --self-loops drop --both --out OUT",
	"collection":    "import ids/random.tfrecord@1 --schema ids/schema.pbtxt --out OUT",
	"generate":      "generate rmat --scale 4 --edge-factor 2 --out OUT",
	"sample":        "sample g.store --fanout 2 --batch-size 8 --out OUT",
	"records":       "sample g.store --fanout 2 --scope seed --format tfrecord --limit-seeds 5 --out OUT",
	"stream":        "sample g.store --fanout 2 --batch-size 8 --executor stream --memory 64MiB --out OUT",
	"unigraph":      "sample --graph_schema uni/schema.pbtxt --sampling_spec spec.pbtxt --output_samples OUT/x.tfrecord@2",
	"partition":     "partition g.store --parts 2 --out OUT",
	"dispatch":      "dispatch g.store --assignment cut --out OUT",
	"dispatch hash": "dispatch g.store --parts 2 --resume --out OUT",
	"graph":         "partition-graph g.store --parts 2 --out OUT",
	"pack":          "pack g.coll --limit num_nodes=40 --limit num_edges=60 --out OUT",
	"pack stream":   "pack g.coll --stream --limit num_nodes=40 --limit num_edges=60 --out OUT",
	"fill":          "pack fill plan g.coll --epochs 2 --out OUT",
	"materialise":   "pack materialise plan g.coll --out OUT",
	"export":        "export g.coll --to tfrecord --out OUT",
	"chunk":         "chunk g.store --out OUT",
	"walk":          "walk g.store --length 4 --walks 2 --out OUT",
	"from-store":    "tfgnn from-store g.store --out OUT",
	"convert":       "tfgnn convert uni/schema.pbtxt --to csv --out OUT",
	"random":        "tfgnn random uni/schema.pbtxt --count 3 --out OUT",
}

// endInputs makes the inputs in a folder, and makes it the current one.
func endInputs(t *testing.T) {
	t.Helper()
	library, err := filepath.Abs("../../testdata/library")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("tables", os.DirFS(library)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("edges.csv", []byte("src,dst\n0,1\n1,2\n2,2\n3,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := `seed_op { op_name: "seed" node_set_name: "node" } sampling_ops { op_name: "hop" input_op_names: "seed" edge_set_name: "edge" sample_size: 2 strategy: RANDOM_UNIFORM }`
	if err := os.WriteFile("spec.pbtxt", []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"generate rmat --scale 5 --edge-factor 3 --seed 1 --out g.store",
		"sample g.store --fanout 3 --scope seed --out g.coll",
		"partition g.store --parts 2 --out cut",
		"pack g.coll --limit num_nodes=40 --limit num_edges=60 --out plan",
		"tfgnn from-store g.store --out uni",
		"tfgnn random uni/schema.pbtxt --count 3 --out ids",
	} {
		if status, text := endRun(t.Context(), line); status != exitDone {
			t.Fatalf("%s: status %d: %s", line, status, text)
		}
	}
}

// endRun runs a command in this process, on vfs.OS.
func endRun(ctx context.Context, line string) (int, string) {
	var out, errs bytes.Buffer
	status := execute(ctx, append(append([]string{"graphmill"}, strings.Fields(line)...), "--threads", "1"), &out, &errs)
	return status, errs.String()
}

// on sets the file system of a function. It does not wait for the disk.
func on(fsys vfs.FS, f func()) {
	before := vfs.OS
	defer func() { vfs.OS = before }()
	vfs.OS = fsys
	f()
}

// sealing is a file system that notes the number of the first call of the end of an output.
type sealing struct {
	vfs.FS
	calls func() int64
	at    int64
}

func (s *sealing) Create(name string) (vfs.File, error) {
	base := filepath.Base(name)
	if s.at == 0 && filepath.Base(filepath.Dir(name)) == ".out.partial" && (base == store.MetaFile || base == "made.json" || base == "."+store.ManifestFile+".partial") {
		s.at = s.calls()
	}
	return s.FS.Create(name)
}

// points is the calls that a test tries: all of them in the long form, else the last ones, in which the output gets its name, and one
// of step of the others.
func points(t *testing.T, first, last, step int64) (list []int64) {
	t.Helper()
	for at := first; at <= last; at++ {
		if proof.Long(t) || at%step == 0 || at > last-12 {
			list = append(list, at)
		}
	}
	return list
}

// hidden is the names in the current folder that begin with a dot.
func hidden(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// ended checks that the words and the exit status of a run agree with the disk. want is the manifest's checksum of the whole
// output; old is the checksum of an output that was there before. With dead, the run could neither remove nor say anything.
func ended(t *testing.T, status int, text string, want, old []byte, dead bool) {
	t.Helper()
	sum, err := os.ReadFile("out/" + store.ManifestSumFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	says := strings.Contains(text, "the output is complete")
	switch {
	case err == nil && bytes.Equal(sum, want) && old == nil:
		if status != exitDone && !says {
			t.Fatalf("the output is whole, and the run ends with %d: %s", status, text)
		}
	case old != nil && bytes.Equal(sum, old):
		if status == exitDone || says {
			t.Fatalf("the old output is there, and the run ends with %d: %s", status, text)
		}
	case err == nil && bytes.Equal(sum, want):
		if status != exitDone && !says {
			t.Fatalf("the output is whole, and the run ends with %d: %s", status, text)
		}
	case err == nil || old != nil:
		t.Fatalf("found another output (%s), and status %d: %s", sum, status, text)
	default:
		if _, err := os.Lstat("out"); err == nil {
			t.Fatalf("found half an output, and status %d: %s", status, text)
		}
		if status == exitDone || says {
			t.Fatalf("there is no output, and the run ends with %d: %s", status, text)
		}
	}
	if err == nil {
		if code, text := endRun(context.Background(), "verify out"); code != exitDone || strings.Contains(text, "warning") {
			t.Fatalf("verify ends with %d: %s", code, text)
		}
	}
	if left := hidden(t); len(left) > 0 && !dead {
		for _, name := range left {
			if !strings.Contains(text, name) {
				t.Fatalf("found %v, of which the run does not speak, and status %d: %s", left, status, text)
			}
		}
		if strings.Contains(text, "nothing was left behind") {
			t.Fatalf("found %v: %s", left, text)
		}
	}
}

// again runs a command to its end after one that failed.
func again(t *testing.T, line string, want []byte) {
	t.Helper()
	if status, text := endRun(t.Context(), line); status != exitDone {
		t.Fatalf("the next run ends with %d: %s", status, text)
	}
	if sum, err := os.ReadFile("out/" + store.ManifestSumFile); err != nil || !bytes.Equal(sum, want) {
		t.Fatalf("the next run makes another output (%v)", err)
	}
	if left := hidden(t); len(left) > 0 {
		t.Fatalf("the next run leaves %v", left)
	}
}

// clean removes the output, and what failed runs left.
func clean(t *testing.T) {
	t.Helper()
	for _, name := range append(hidden(t), "out") {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEnds fails each call of the end of an output once, for each command, over a new and over an existing output: what is on
// the disk and the words of the run agree.
func TestEnds(t *testing.T) {
	endInputs(t)
	disk := vfs.Unsynced{FS: vfs.OS}
	for name, line := range ends {
		line = strings.Replace(line, "OUT", "out", 1)
		t.Run(name, func(t *testing.T) {
			on(disk, func() {
				defer clean(t)
				count := &vfs.Fault{FS: disk}
				watch := &sealing{FS: count, calls: count.Calls}
				on(watch, func() {
					if status, text := endRun(t.Context(), line); status != exitDone {
						t.Fatalf("status %d: %s", status, text)
					}
				})
				want, err := os.ReadFile("out/" + store.ManifestSumFile)
				if err != nil || watch.at == 0 {
					t.Fatalf("call %d: %v", watch.at, err)
				}
				for i, at := range points(t, watch.at, count.Calls(), 29) {
					clean(t)
					fault := &vfs.Fault{FS: disk, FailAt: at, Err: syscall.EIO, Short: at%2 == 0, Dead: at%3 == 0}
					var status int
					var text string
					on(fault, func() { status, text = endRun(t.Context(), line) })
					if status != exitDone && !strings.Contains(text, "input/output error") {
						t.Fatalf("call %d: status %d, and the error does not name the fault: %s", at, status, text)
					}
					ended(t, status, text, want, nil, fault.Dead)
					if _, err := os.Lstat("out"); err != nil && (i%5 == 0 || proof.Long(t)) {
						again(t, line, want)
					}
				}
			})
		})
	}
}

// TestEndsOfReplacement is TestEnds for an output that replaces another one.
func TestEndsOfReplacement(t *testing.T) {
	endInputs(t)
	disk := vfs.Unsynced{FS: vfs.OS}
	on(disk, func() {
		const first, line = "generate rmat --scale 4 --edge-factor 2 --seed 2 --out out", "generate rmat --scale 4 --edge-factor 2 --seed 3 --out out --force"
		sum := func(line string) []byte {
			if status, text := endRun(t.Context(), line); status != exitDone {
				t.Fatalf("status %d: %s", status, text)
			}
			b, err := os.ReadFile("out/" + store.ManifestSumFile)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		old := sum(first)
		count := &vfs.Fault{FS: disk}
		var want []byte
		on(count, func() { want = sum(line) })
		if bytes.Equal(old, want) {
			t.Fatal("both outputs are equal")
		}
		for _, at := range points(t, 1, count.Calls(), 4) {
			clean(t)
			sum(first)
			fault := &vfs.Fault{FS: disk, FailAt: at, Err: syscall.EIO, Dead: at%5 == 0}
			var status int
			var text string
			on(fault, func() { status, text = endRun(t.Context(), line) })
			ended(t, status, text, want, old, fault.Dead)
			again(t, line, want)
		}
	})
}

// stopping is a file system that ends a context at a call.
type stopping struct {
	*vfs.Fault
	at   int64
	stop func()
	done atomic.Bool
}

func (s *stopping) check() {
	if s.Calls() >= s.at && s.done.CompareAndSwap(false, true) {
		s.stop()
	}
}

func (s *stopping) Open(name string) (vfs.File, error) { defer s.check(); return s.Fault.Open(name) }
func (s *stopping) Create(name string) (vfs.File, error) {
	defer s.check()
	return s.Fault.Create(name)
}
func (s *stopping) Rename(a, b string) error    { defer s.check(); return s.Fault.Rename(a, b) }
func (s *stopping) Exchange(a, b string) error  { defer s.check(); return s.Fault.Exchange(a, b) }
func (s *stopping) Remove(name string) error    { defer s.check(); return s.Fault.Remove(name) }
func (s *stopping) RemoveAll(name string) error { defer s.check(); return s.Fault.RemoveAll(name) }
func (s *stopping) SyncDir(name string) error   { defer s.check(); return s.Fault.SyncDir(name) }
func (s *stopping) ReadDir(name string) ([]fs.DirEntry, error) {
	defer s.check()
	return s.Fault.ReadDir(name)
}
func (s *stopping) Lstat(name string) (fs.FileInfo, error) {
	defer s.check()
	return s.Fault.Lstat(name)
}
func (s *stopping) Lock(dir string) (func() error, error) { defer s.check(); return s.Fault.Lock(dir) }

// TestStops interrupts each command at each call: the output is whole and the run succeeds, or it says what is left, and the
// next run makes the same bytes.
func TestStops(t *testing.T) {
	endInputs(t)
	disk := vfs.Unsynced{FS: vfs.OS}
	for name, line := range ends {
		line = strings.Replace(line, "OUT", "out", 1)
		t.Run(name, func(t *testing.T) {
			on(disk, func() {
				defer clean(t)
				count := &vfs.Fault{FS: disk}
				on(count, func() {
					if status, text := endRun(t.Context(), line); status != exitDone {
						t.Fatalf("status %d: %s", status, text)
					}
				})
				want, err := os.ReadFile("out/" + store.ManifestSumFile)
				if err != nil {
					t.Fatal(err)
				}
				interrupted := 0
				for i, at := range points(t, 1, count.Calls(), 24) {
					clean(t)
					ctx, cancel := context.WithCancel(t.Context())
					var status int
					var text string
					on(&stopping{Fault: &vfs.Fault{FS: disk}, at: at, stop: cancel}, func() { status, text = endRun(ctx, line) })
					cancel()
					if !slices.Contains([]int{exitDone, exitInterrupted}, status) {
						t.Fatalf("call %d: status %d: %s", at, status, text)
					}
					if status == exitInterrupted {
						interrupted++
					}
					ended(t, status, text, want, nil, false)
					if _, err := os.Lstat("out"); err != nil && (i%5 == 0 || proof.Long(t)) {
						again(t, line, want)
					}
				}
				if interrupted == 0 {
					t.Errorf("none of %d runs was interrupted", count.Calls())
				}
			})
		})
	}
}
