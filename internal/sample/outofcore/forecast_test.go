package outofcore

import (
	"errors"
	"math"
	"testing"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// near says whether a differs from b by at most a share of b, or by at most much.
func near(a, b, share, much float64) bool { return math.Abs(a-b) <= max(share*b, much) }

// TestForecast compares forecasts with runs: sweeps may differ by one, bytes by a tenth.
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
		forecast, err := x.Foretell(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		before := x.Counts().Bytes
		if _, err := Run(t.Context(), x, job, newLines, encodeLine, func(*lines) error { return nil }); err != nil {
			t.Fatal(err)
		}
		got := x.Counts()
		if forecast.Design != c.design || math.Abs(float64(forecast.Sweeps-got.Sweeps)) > 1 {
			t.Errorf("%s, scope %s: found a forecast of %d sweeps by %s, expected %d", c.design, c.scope, forecast.Sweeps, forecast.Design, got.Sweeps)
		}
		if !near(float64(forecast.Bytes-before), float64(got.Bytes-before), 0.1, 1<<20) || !near(float64(forecast.Written), float64(got.Written), 0.2, 1<<20) {
			t.Errorf("%s, scope %s: found a forecast of %d bytes and %d written, expected %d and %d", c.design, c.scope, forecast.Bytes-before, forecast.Written, got.Bytes-before, got.Written)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeast checks that a run fits about the least memory of its forecast, and no less.
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
	forecast, err := x.Forecasts(t.Context(), job)
	if err = errors.Join(err, x.Close()); err != nil || len(forecast.Designs) != 3 || forecast.Chosen == Auto {
		t.Fatalf("found %+v, %v", forecast, err)
	}
	for _, f := range forecast.Designs {
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
