package outofcore

import (
	"errors"
	"math"
	"testing"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// near says whether a is within a share of b, or within so much.
func near(a, b, share, much float64) bool { return math.Abs(a-b) <= max(share*b, much) }

// TestForecast holds forecasts against what runs take: sweeps to one, bytes to a tenth.
func TestForecast(t *testing.T) {
	s := plainStore(t)
	for _, c := range []struct {
		design Design
		scope  sample.Scope
		memory int64
	}{
		{Windows, sample.ScopeBatch, 1 << 30},
		{Windows, sample.ScopeBatch, 48 << 20},
		{Windows, sample.ScopeSeed, 48 << 20},
		{Condensed, sample.ScopeEpoch, 256 << 20},
		{Spilled, sample.ScopeBatch, 64 << 20},
	} {
		plan, job := fanout(t, s, c.scope, 20_000)
		x, err := Open(t.Context(), vfs.OS, s, plan, Options{Threads: 2, Memory: c.memory, Design: c.design, Scratch: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		told, err := x.Foretell(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		before := x.Counts().Bytes
		if _, err := Run(t.Context(), x, job, newLines, encodeLine, func(*lines) error { return nil }); err != nil {
			t.Fatal(err)
		}
		got := x.Counts()
		if told.Design != c.design || math.Abs(float64(told.Sweeps-got.Sweeps)) > 1 {
			t.Errorf("%s, scope %s: foretold %d sweeps by %s, found %d", c.design, c.scope, told.Sweeps, told.Design, got.Sweeps)
		}
		if !near(float64(told.Bytes-before), float64(got.Bytes-before), 0.1, 1<<20) || !near(float64(told.Written), float64(got.Written), 0.2, 1<<20) {
			t.Errorf("%s, scope %s: foretold %d bytes and %d written, found %d and %d", c.design, c.scope, told.Bytes-before, told.Written, got.Bytes-before, got.Written)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeast holds that a run does with about the least memory that is foretold, and not
// with less.
func TestLeast(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeEpoch, 20_000)
	open := func(memory int64, d Design) *Executor {
		x, err := Open(t.Context(), vfs.OS, s, plan, Options{Threads: 2, Memory: memory, Design: d, Scratch: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := open(1<<30, Auto)
	told, err := x.Forecasts(t.Context(), job)
	if err = errors.Join(err, x.Close()); err != nil || len(told.Designs) != 3 || told.Chosen == Auto {
		t.Fatalf("found %+v, %v", told, err)
	}
	for _, f := range told.Designs {
		for _, memory := range []int64{f.Least * 11 / 10, f.Least - 3<<20} {
			x := open(memory, f.Design)
			_, err := Run(t.Context(), x, job, newLines, encodeLine, func(*lines) error { return nil })
			if enough := memory > f.Least; enough != (err == nil) || !enough && !errors.Is(err, ErrMemory) {
				t.Errorf("%s: found error %v with %d bytes of a least of %d", f.Design, err, memory, f.Least)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
