package pack

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// wide draws graphs that rarely have equal sizes.
func wide(graphs int) *Problem {
	f := family{"wide", graphs, []int{4000, 10_000}, func(r *rand.Rand, s []int) {
		s[0] = 1 + r.IntN(2000)
		s[1] = s[0] + int(float64(s[0])*3*r.Float64())
	}}
	return f.problem()
}

// Very many shapes are packed in seconds, nearly as well as few. A time budget ends every stage, and then there
// is a packing that is not one graph per pack.
func TestManyShapes(t *testing.T) {
	p := wide(45_000)
	if len(p.Counts) <= manyShapes {
		t.Fatalf("found %d shapes, expected more than %d", len(p.Counts), manyShapes)
	}
	var mu sync.Mutex
	stages := map[string]int64{}
	r, err := Solve(context.Background(), p, Options{Effort: 0.05, Threads: 2, Progress: func(stage string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if stages[stage] = max(stages[stage], done); done < 0 || done > total {
			t.Errorf("%s: found %d of %d", stage, done, total)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packs, bound %d, by %s, %v", r.Packs(), r.LowerBound, r.By, r.Elapsed)
	if r.Gap() > 0.035 {
		t.Errorf("found %d packs and bound %d by %s, expected a gap of at most 3.5 %%", r.Packs(), r.LowerBound, r.By)
	}
	if stages["search"] == 0 || stages["improve"] == 0 {
		t.Errorf("found the stages %v, expected search and improve", stages)
	}
	r, err = Solve(context.Background(), p, Options{TimeBudget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if 2*r.Packs() > p.Graphs() {
		t.Errorf("found %d packs of %d graphs, expected at least two graphs per pack", r.Packs(), p.Graphs())
	}
}

// A time budget ends the slow parts, which without it would take an hour.
func TestTimeBudget(t *testing.T) {
	for _, c := range []family{
		{"kinds", 3000, same(100, 4), kinds(900)},     // a row per shape
		{"kinds", 9000, same(100, 6), kinds(3000)},    // a row per group
		{"two", 20_000, []int{300, 300}, kinds(3000)}, // a table
	} {
		r, err := Solve(context.Background(), c.problem(), Options{TimeBudget: 2 * time.Second, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if r.Elapsed > 6*time.Second {
			t.Errorf("%s in %d components: took %v, expected little more than two seconds", c.name, len(c.limits), r.Elapsed)
		}
	}
}

// A context ends the packing in every stage.
func TestCancelStages(t *testing.T) {
	p := wide(6000)
	for _, stage := range []string{"search", "improve"} {
		ctx, cancel := context.WithCancel(context.Background())
		var once sync.Once
		var at time.Time
		_, err := Solve(ctx, p, Options{Threads: 2, Effort: 100, Progress: func(s string, _, _ int64) {
			if s == stage {
				once.Do(func() { at = time.Now(); cancel() })
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %v, expected %v", stage, err, context.Canceled)
		}
		if took := time.Since(at); took > time.Minute { // against a hang
			t.Errorf("%s: ended %v after the context", stage, took)
		}
	}
}

// The graphs of coarse shapes are dealt once each, in few patterns.
func TestDealt(t *testing.T) {
	got := dealt([]Pattern{{[]Part{{0, 2}, {1, 1}}, 5}, {[]Part{{0, 3}}, 1}}, [][]int{{0, 1}, {2}}, []int64{7, 6, 5})
	packing := tidy(got)
	if n := packing.Packs(); n != 6 {
		t.Errorf("found %d packs, expected 6: %v", n, packing.Patterns)
	}
	dealtTo := make([]int64, 3)
	for _, x := range packing.Patterns {
		for _, p := range x.Parts {
			dealtTo[p.Shape] += int64(p.Copies) * x.Packs
		}
	}
	if dealtTo[0] != 7 || dealtTo[1] != 6 || dealtTo[2] != 5 {
		t.Errorf("found %v, expected each graph once", dealtTo)
	}
}
