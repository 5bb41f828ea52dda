package pack

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Limits are aligned and below the ceiling, and hold the largest graph. No candidate of the front has a
// cheaper one that is as full. Efficiencies belong to the packs.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if err := p.Normalise(); err != nil {
			t.Fatal(err)
		}
		k := len(p.Components)
		tune := Tune{MaxGraphs: p.MaxGraphs, Tries: rapid.IntRange(1, 20).Draw(t, "tries")}
		for range k {
			tune.Align = append(tune.Align, rapid.SampledFrom([]int{1, 1, 4, 7}).Draw(t, "align"))
			tune.Cost = append(tune.Cost, rapid.SampledFrom([]float64{1, 0.5, 24}).Draw(t, "cost"))
		}
		all, front, err := Search(context.Background(), p.Histogram, tune)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 || len(all) > tune.Tries || len(front) == 0 {
			t.Fatalf("found %d limits, %d on the front, expected 1 to %d", len(all), len(front), tune.Tries)
		}
		for _, c := range all {
			cost := 0.0
			for j, l := range c.Limits {
				cost += float64(l) * tune.Cost[j]
				if l%tune.Align[j] != 0 || l < p.Max(j) {
					t.Fatalf("found limits %v, expected multiples of %v that hold the largest graph", c.Limits, tune.Align)
				}
				if c.Efficiency[j] != p.Efficiency(j, c.Packs, l) {
					t.Fatalf("found efficiency %v of %+v, expected %v", c.Efficiency[j], c, p.Efficiency(j, c.Packs, l))
				}
			}
			if math.Abs(cost-c.Cost) > 1e-9*cost || c.Packs < c.LowerBound {
				t.Fatalf("found %+v, expected cost %v and no fewer packs than the bound", c, cost)
			}
			if !slices.ContainsFunc(front, func(f Candidate) bool { return f.Cost <= c.Cost && f.Mean >= c.Mean }) {
				t.Fatalf("found %+v, which nothing on the front is as good as", c)
			}
		}
		for i, f := range front[1:] {
			if f.Cost < front[i].Cost || f.Mean <= front[i].Mean {
				t.Fatalf("found %+v behind %+v, expected the dearer one to be fuller", f, front[i])
			}
		}
	})
}

// Sizes near the largest possible one: limits stay below 2^31.
func TestSearchOfHugeSizes(t *testing.T) {
	h := &Histogram{Components: []string{"n", "e"}, Sizes: []int{1_500_000_000, 1_500_000_000}, Counts: []int64{3}}
	all, _, err := Search(context.Background(), h, Tune{Tries: 10})
	if err != nil {
		t.Fatal(err)
	}
	grid, err := Grid(context.Background(), h, 0, 4, 2, func() {})
	if err != nil || len(grid) == 0 {
		t.Fatalf("found %d limits and error %v, expected a grid", len(grid), err)
	}
	for _, c := range append(all, grid...) {
		if slices.Max(c.Limits) > maxSize || c.Packs != 3 {
			t.Errorf("found %+v, expected 3 packs and limits below 2^31", c)
		}
	}
}

func TestSearchRefusals(t *testing.T) {
	h := &Histogram{Components: []string{"n"}, Sizes: []int{2_000_000_000}, Counts: []int64{3}}
	for name, tune := range map[string]Tune{
		"alignment":       {Align: []int{1 << 30}},
		"ceiling":         {Ceiling: 5},
		"no ceiling":      {Ceiling: math.NaN()},
		"no cost":         {Cost: []float64{0}},
		"cost of another": {Cost: []float64{1, 1}},
	} {
		if _, _, err := Search(context.Background(), h, tune); !errors.Is(err, ErrLimits) {
			t.Errorf("%s: found error %v, expected %v", name, err, ErrLimits)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Search(ctx, h, Tune{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v, expected %v", err, context.Canceled)
	}
}
