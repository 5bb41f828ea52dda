package outofcore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// runKept runs a job and returns what it made until it ended or, where sinks is not negative, until it had made that number of
// batches.
func runKept(t *testing.T, fsys vfs.FS, s *store.Store, plan *sample.Plan, job sample.Job, opt Options, sinks int) (made []string, batches uint64, counts Counts, err error) {
	t.Helper()
	x, err := Open(t.Context(), fsys, s, plan, opt)
	if err != nil {
		return nil, 0, Counts{}, err
	}
	_, err = Run(context.Background(), x, job, newLines, encodeLine, func(out *lines) error {
		if sinks == 0 {
			return errKilled
		}
		sinks--
		batches++
		made, out.list = append(made, out.list...), out.list[:0]
		return nil
	})
	counts = x.Counts()
	return made, batches, counts, errors.Join(err, x.Close())
}

var errKilled = errors.New("killed")

// keptSpill makes a few windows of a very small job.
var keptSpill = spillSizes{extent: 16 << 10, run: 4, group: 2, window: 3, sort: 5000}

// quick does not wait for the disk.
var quick = vfs.Unsynced{FS: vfs.OS}

// TestSpilledGoesOn checks that, after a run that was killed at any call or between any batches, another run makes the
// rest of the same subgraphs and does not take the steps again that were kept.
func TestSpilledGoesOn(t *testing.T) {
	s := typedStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 300) // two epochs of 5 batches
	want, _ := memory(t, s, plan, job, Options{})
	opt := spilled(t)
	opt.spill = &keptSpill
	opt.Scratch, opt.Keep = "", filepath.Join(t.TempDir(), "kept")
	count := &vfs.Fault{FS: quick}
	_, _, whole, err := runKept(t, count, s, plan, job, opt, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(opt.Keep); err == nil {
		t.Error("found the folder after a run without an error, expected it to be removed")
	}
	finish := func(t *testing.T, made []string, batches uint64) Counts {
		t.Helper()
		rest := job
		rest.From = batches
		second, _, counts, err := runKept(t, quick, s, plan, rest, opt, -1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(append(made, second...), want) {
			t.Errorf("found other subgraphs after %d batches of the first run", batches)
		}
		return counts
	}
	saved := false
	for i := int64(1); i < count.Calls(); i += max(1, count.Calls()/12) {
		f := &vfs.Fault{FS: quick, FailAt: i, Err: errKilled, Dead: true}
		made, batches, _, err := runKept(t, f, s, plan, job, opt, -1)
		if err == nil && f.Calls() < i {
			break // the number of reads that measure the disk varies
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("call %d: found error %v, expected that of the call", i, err)
		}
		saved = finish(t, made, batches).Sweeps < whole.Sweeps || saved
	}
	if !saved {
		t.Errorf("found all %d sweeps after each kill, expected fewer after some", whole.Sweeps)
	}
	// Windows of 3, 3, 2 and 2 batches, also across the end of an epoch.
	for sinks, sweeps := range map[int]int64{0: 9, 2: 9, 3: 6, 9: 0} {
		made, batches, _, err := runKept(t, quick, s, plan, job, opt, sinks)
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if got := finish(t, made, batches).Sweeps; got != sweeps {
			t.Errorf("found %d sweeps after %d batches, expected %d", got, batches, sweeps)
		}
	}
}

// TestKeptOfAnother checks that a run uses nothing that another job kept, and nothing that is damaged.
func TestKeptOfAnother(t *testing.T) {
	s := typedStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 300)
	opt := spilled(t)
	opt.spill = &keptSpill
	opt.Keep = filepath.Join(t.TempDir(), "kept")
	for name, change := range map[string]func(t *testing.T, job *sample.Job){
		"seed":       func(_ *testing.T, job *sample.Job) { job.Seed++ },
		"epoch":      func(_ *testing.T, job *sample.Job) { job.Epoch++ },
		"seeds":      func(_ *testing.T, job *sample.Job) { job.Seeds = job.Seeds[1:] },
		"batch size": func(_ *testing.T, job *sample.Job) { job.BatchSize++ },
		"order":      func(_ *testing.T, job *sample.Job) { job.Shuffle = false },
		"rank":       func(_ *testing.T, job *sample.Job) { job.Ranks = 2 },
		"epochs":     func(_ *testing.T, job *sample.Job) { job.Epochs, job.From = 1, 4 },
		"manifest":   func(t *testing.T, _ *sample.Job) { flip(t, filepath.Join(opt.Keep, keptFile), 100) },
		"no extents": func(t *testing.T, _ *sample.Job) {
			if err := os.Remove(filepath.Join(opt.Keep, keptExtents)); err != nil {
				t.Fatal(err)
			}
		},
		"cut": func(t *testing.T, _ *sample.Job) {
			if err := os.Truncate(filepath.Join(opt.Keep, keptExtents), 4096); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, _, err := runKept(t, quick, s, plan, job, opt, 0); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			other := job
			change(t, &other)
			want, _ := memory(t, s, plan, other, Options{})
			got, _, _, err := runKept(t, quick, s, plan, other, opt, -1)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("found error %v, or other subgraphs", err)
			}
		})
	}
	t.Run("extents", func(t *testing.T) {
		if _, _, _, err := runKept(t, quick, s, plan, job, opt, 0); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		for at := int64(0); at < 1<<20; at += 4096 {
			flip(t, filepath.Join(opt.Keep, keptExtents), at)
		}
		if _, _, _, err := runKept(t, quick, s, plan, job, opt, -1); !errors.Is(err, errScratch) {
			t.Errorf("found error %v, expected one of the file", err)
		}
		want, _ := memory(t, s, plan, job, Options{})
		if got, _, _, err := runKept(t, quick, s, plan, job, opt, -1); err != nil || !slices.Equal(got, want) {
			t.Errorf("found error %v, or other subgraphs, expected what is damaged to be given up", err)
		}
	})
}

// A disk that does not say whether steps are kept does not lose them.
func TestKeptUnknown(t *testing.T) {
	dir := t.TempDir()
	for _, errno := range []error{syscall.EIO, syscall.EMFILE} {
		if err := os.WriteFile(filepath.Join(dir, keptFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fault := &vfs.Fault{FS: vfs.OS, FailAt: 1, Err: errno}
		if kept, err := Kept(fault, dir); kept || !errors.Is(err, errno) {
			t.Errorf("found %v, %v", kept, err)
		}
		k := &keeper{fsys: &vfs.Fault{FS: vfs.OS, FailAt: 1, Err: errno}, dir: dir}
		if err := k.end(errKilled); !errors.Is(err, errno) {
			t.Errorf("the end gives %v", err)
		}
		if kept, err := Kept(vfs.OS, dir); !kept || err != nil {
			t.Errorf("the steps are gone: %v", err)
		}
	}
}

// flip changes a byte, if the file has it.
func flip(t *testing.T, name string, at int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if at >= int64(len(b)) {
		return
	}
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
