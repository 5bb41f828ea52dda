package pack

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Swaps deal every graph once and keep the limits, with no more packs than before and no fewer than the bound.
func TestSwaps(t *testing.T) {
	never := func() bool { return false }
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if err := p.Normalise(); err != nil {
			t.Fatal(err)
		}
		least := p.continuous()
		before := nextFitBySize(p)
		was := packsOf(before)
		after, steps := newInstance(p).swapped(before, least, 20_000, random(), never)
		if err := tidy(after).Check(p); err != nil {
			t.Fatal(err)
		}
		if n := packsOf(after); n > was || n < least || steps > 20_000+40*was*p.Graphs() {
			t.Fatalf("found %d packs after %d steps, expected at most the %d of before", n, steps, was)
		}
	})
}

// Swaps fill packs in four components nearly completely, where a search leaves 3 %.
func TestSwapsFill(t *testing.T) {
	f := family{"quarters", 400, same(100, 4), func(r *rand.Rand, s []int) {
		for j := range s {
			s[j] = 15 + r.IntN(20)
		}
	}}
	p := f.problem()
	in := newInstance(p)
	x := newSearch(in, 8)
	x.loadAll(in.count)
	before := x.bins(fill{budget: 300, frac: 1, average: true})
	after, _ := in.swapped(before, p.continuous(), 4_000_000, random(), func() bool { return false })
	t.Logf("%d packs, then %d, bound %d", packsOf(before), packsOf(after), p.continuous())
	if 100*packsOf(after) > 102*p.continuous() {
		t.Errorf("found %d packs of %d, expected at most 2 %% more than the bound %d", packsOf(after), packsOf(before), p.continuous())
	}
}
