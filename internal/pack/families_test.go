package pack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// family is a seeded synthetic data set of graphs in several components, with limits.
type family struct {
	name   string
	graphs int
	limits []int
	draw   func(r *rand.Rand, shape []int)
}

func (f *family) problem() *Problem {
	r := rand.New(rand.NewPCG(uint64(len(f.limits)), uint64(f.graphs)))
	h := &Histogram{Components: []string{"a", "b", "c", "d", "e", "f"}[:len(f.limits)]}
	shape := make([]int, len(f.limits))
	for range f.graphs {
		f.draw(r, shape)
		for j, l := range f.limits {
			shape[j] = min(shape[j], l)
		}
		h.Add(1, shape...)
	}
	if err := h.Normalise(); err != nil {
		panic(err)
	}
	return &Problem{Histogram: h, Limits: f.limits}
}

// kinds draws graphs of n kinds, each with its own sizes: one to three fit into a pack, and which ones depends
// on all components.
func kinds(n int) func(r *rand.Rand, shape []int) {
	return func(r *rand.Rand, shape []int) {
		kind := rand.New(rand.NewPCG(uint64(r.IntN(n)), 7))
		for j := range shape {
			shape[j] = 10 + kind.IntN(60)
		}
	}
}

func same(limit, components int) []int {
	out := make([]int, components)
	for i := range out {
		out[i] = limit
	}
	return out
}

// The linear program bounds packings in three to six components within 1 %. The bounds of single components
// are 4 to 17 % below.
func TestBoundInManyComponents(t *testing.T) {
	for k := 3; k <= 6; k++ {
		f := family{fmt.Sprintf("kinds %d", k), 3000, same(100, k), kinds(60)}
		for _, most := range []int{0, 2} {
			p := f.problem()
			p.MaxGraphs = most
			r, err := Solve(context.Background(), p, Options{Effort: 0.3, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, at most %d: %d packs, bound %d (simple %d), by %s, %v", f.name, most, r.Packs(), r.LowerBound, bound(context.Background(), p), r.By, r.Elapsed)
			if r.Gap() > 0.01 {
				t.Errorf("%s, at most %d graphs: found %d packs and bound %d, expected a gap of at most 1 %%", f.name, most, r.Packs(), r.LowerBound)
			}
		}
	}
}
