package outofcore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// drawSpill is sizes so small that streams have many extents, runs of blocks have several parts, and epochs have
// several windows.
func drawSpill(t *rapid.T) *spillSizes {
	return &spillSizes{
		extent: 4096 * rapid.IntRange(1, 2).Draw(t, "extent"), run: uint32(rapid.IntRange(1, 3).Draw(t, "run")),
		group: uint64(rapid.IntRange(1, 4).Draw(t, "group")), window: uint64(rapid.IntRange(1, 60).Draw(t, "window")),
		sort: rapid.SampledFrom([]int{500, 3000, 100_000}).Draw(t, "sort"),
	}
}

// TestSpilledEqualsMemory checks that spilled epochs give the subgraphs of the memory executor.
func TestSpilledEqualsMemory(t *testing.T) {
	s, scratch := typedStore(t), t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		p := sampletest.Plan(r, s.Graph)
		sampletest.AddMessages(r, s.Graph, p)
		job := sampletest.Job(r, s.Graph, p)
		opt := Options{Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0,
			Design: Spilled, Scratch: scratch, spill: drawSpill(r)}
		checkEqual(t, r, s, p, job, opt)
	})
}

// TestSpilledBudget checks that a budget divides the memory, and changes no subgraph.
func TestSpilledBudget(t *testing.T) {
	s := plainStore(t)
	for _, scope := range []sample.Scope{sample.ScopeEpoch, sample.ScopeBatch, sample.ScopeSeed} {
		plan, job := fanout(t, s, scope, 2000)
		want, _ := memory(t, s, plan, job, Options{})
		for _, budget := range []int64{0, 52 << 20} {
			got, _, counts := streamed(t, s, plan, job, Options{Threads: 2, Memory: budget, Design: Spilled, Scratch: t.TempDir()})
			if !slices.Equal(got, want) {
				t.Errorf("scope %s: found other subgraphs with %d bytes", scope, budget)
			}
			if counts.Written == 0 {
				t.Errorf("scope %s: found nothing written with %d bytes, expected what is spilled", scope, budget)
			}
		}
		err := runStream(t.Context(), vfs.OS, s, plan, job, Options{Threads: 2, Memory: 28 << 20, Design: Spilled, Scratch: t.TempDir()}, func(*lines) error { return nil })
		if !errors.Is(err, ErrMemory) {
			t.Errorf("found error %v with 28 MiB, expected one of memory", err)
		}
	}
	plan, job := fanout(t, s, sample.ScopeBatch, 500)
	if err := runStream(t.Context(), vfs.OS, s, plan, job, Options{Design: Spilled}, func(*lines) error { return nil }); err == nil {
		t.Error("found no error without a folder")
	}
}

// TestSpills checks that design Auto spills a job where windows read so much more that it pays.
func TestSpills(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 6400)
	job.Epochs = 1
	few := fmt.Errorf("a batch: %w", ErrMemory)
	for name, test := range map[string]struct {
		opt    Options
		window Window
		failed error
		want   bool
	}{
		// A sweep reads 6 MB. An edge that is spilled costs as much as 200 bytes.
		"many windows":     {Options{Memory: 1 << 30, Scratch: "x"}, Window{1, 1000}, nil, true},
		"kept":             {Options{Memory: 1 << 30, Keep: "x"}, Window{1, 1000}, nil, true},
		"many edges":       {Options{Memory: 1 << 30, Scratch: "x"}, Window{1, 50_000}, nil, false},
		"few windows":      {Options{Memory: 1 << 30, Scratch: "x"}, Window{50, 1000}, nil, false},
		"no whole batch":   {Options{Memory: 1 << 30, Scratch: "x"}, Window{0, 1000}, few, true},
		"no folder":        {Options{Memory: 1 << 30}, Window{1, 1000}, nil, false},
		"no bound":         {Options{Scratch: "x"}, Window{1, 1000}, nil, false},
		"windows":          {Options{Memory: 1 << 30, Scratch: "x", Design: Windows}, Window{1, 1000}, nil, false},
		"a window's size":  {Options{Memory: 1 << 30, Scratch: "x", Window: 1}, Window{1, 1000}, nil, false},
		"forced":           {Options{Design: Spilled}, Window{100, 1000}, nil, true},
		"forced, no batch": {Options{Design: Spilled}, Window{0, 1000}, few, true},
	} {
		x, err := Open(t.Context(), vfs.OS, s, plan, test.opt)
		if err != nil {
			t.Fatal(err)
		}
		b := spillBudget{x.budget(&job, demand{})}
		if got, _ := b.pays(test.window, 100, test.failed); got != test.want {
			t.Errorf("%s: found %t, expected %t", name, got, test.want)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// smallSpill makes many extents, parts, groups and windows of a small job.
var smallSpill = spillSizes{extent: 4096, run: 2, group: 3, window: 8, sort: 2000}

func spilled(t *testing.T) Options {
	return Options{Threads: 2, Design: Spilled, Scratch: t.TempDir(), spill: &smallSpill}
}

// TestSpilledCallsFail checks that a call that fails ends the run with its error, and leaves no file.
func TestSpilledCallsFail(t *testing.T) {
	s := typedStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 600)
	job.Epochs = 1
	opt := spilled(t)
	discard := func(out *lines) error { out.list = out.list[:0]; return nil }
	count := &vfs.Fault{FS: vfs.OS}
	if err := runStream(t.Context(), count, s, plan, job, opt, discard); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	calls := count.Calls()
	for i := int64(1); i <= calls; i += max(1, calls/15) {
		f := &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}
		// The number of reads that measure the disk varies, so the last calls may not be made.
		if err := runStream(t.Context(), f, s, plan, job, opt, discard); !errors.Is(err, broken) && (err != nil || f.Calls() >= i) {
			t.Fatalf("call %d of %d: found error %v, expected that of the call", i, calls, err)
		}
	}
	if left, err := os.ReadDir(opt.Scratch); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v in the scratch folder, expected nothing", left, err)
	}
}

// fullDisk fails writes to unnamed files.
type fullDisk struct{ vfs.FS }

type fullFile struct{ vfs.File }

func (d fullDisk) Temp(dir string) (vfs.File, error) {
	f, err := d.FS.Temp(dir)
	return fullFile{f}, err
}

func (fullFile) WriteAt([]byte, int64) (int, error) { return 0, syscall.ENOSPC }

// TestSpilledDiskFull checks that the error of a full disk has the folder and the bytes that are needed there.
func TestSpilledDiskFull(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 600)
	opt := spilled(t)
	err := runStream(t.Context(), fullDisk{vfs.OS}, s, plan, job, opt, func(*lines) error { return nil })
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), opt.Scratch) || !strings.Contains(err.Error(), "takes about") {
		t.Errorf("found error %v, expected the folder and what an epoch takes there", err)
	}
}

// TestSpilledEnds checks that a run ends, with all its goroutines (TestMain), wherever its context ends.
func TestSpilledEnds(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 2000)
	for _, calls := range []int64{200, 700, 1200} {
		ctx, cancel := context.WithCancel(t.Context())
		err := runStream(ctx, &callCanceler{FS: vfs.OS, at: calls, cancel: cancel}, s, plan, job, spilled(t), func(out *lines) error { out.list = out.list[:0]; return nil })
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d calls: found error %v, expected that of the context", calls, err)
		}
	}
}

// callCanceler cancels a context at a call on the scratch file.
type callCanceler struct {
	vfs.FS
	at     int64
	cancel func()
	calls  atomic.Int64
}

type cancelFile struct {
	vfs.File
	c *callCanceler
}

func (c *callCanceler) Temp(dir string) (vfs.File, error) {
	f, err := c.FS.Temp(dir)
	return cancelFile{f, c}, err
}

func (c *callCanceler) call() {
	if c.calls.Add(1) == c.at {
		c.cancel()
	}
}

func (f cancelFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.call()
	return f.File.ReadAt(p, off)
}
func (f cancelFile) WriteAt(p []byte, off int64) (int, error) {
	f.c.call()
	return f.File.WriteAt(p, off)
}
