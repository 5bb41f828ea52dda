package pack

import (
	"testing"

	"pgregory.net/rapid"
)

// Mixes deal every graph once and keep the limits, however much they leave to a search. With a bound on the
// number of packs, they have fewer packs or return nothing.
func TestMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if err := p.Normalise(); err != nil {
			t.Fatal(err)
		}
		in := newInstance(p)
		s := newSearch(in, rapid.SampledFrom([]int{1, 8, 30}).Draw(t, "power"))
		f := fill{budget: rapid.IntRange(1, 300).Draw(t, "budget"), frac: rapid.Int64Range(1, 9).Draw(t, "frac"), average: rapid.Bool().Draw(t, "average")}
		finish := rapid.Float64Range(0, 5).Draw(t, "finish")
		s.loadAll(in.count)
		found := s.mix(f, finish, random())
		if err := tidy(found).Check(p); err != nil {
			t.Fatal(err)
		}
		packs := packsOf(found)
		for _, enough := range []int64{packs, packs + 1} {
			s.enough = enough
			s.loadAll(in.count)
			if again := s.mix(f, finish, random()); enough > packs && again == nil {
				t.Fatalf("found nothing, expected %d packs, fewer than %d", packs, enough)
			}
		}
	})
}

// Packs of very many graphs are drawn in lots.
func TestMixOfTiny(t *testing.T) {
	h := &Histogram{Components: []string{"n", "e"}, Sizes: []int{0, 0, 0, 1, 1, 0, 2, 3}, Counts: []int64{1e9, 1e6, 1e6, 1e6}}
	p := &Problem{Histogram: h, Limits: []int{50_000, 40_000}}
	in := newInstance(p)
	s := newSearch(in, 30)
	s.loadAll(in.count)
	found := s.mix(fill{budget: 300, frac: 1}, 2.5, random())
	if err := tidy(found).Check(p); err != nil {
		t.Fatal(err)
	}
	if n := packsOf(found); n > 103 || len(found) > 200 {
		t.Errorf("found %d packs in %d patterns, expected hardly more than the bound, 100", n, len(found))
	}
	if s.steps > 200*3*maxDraws {
		t.Errorf("found %d steps, expected at most those of the draws", s.steps)
	}
}

// Graphs are drawn in proportion to the remaining counts.
func TestMixerDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 20).Draw(t, "left")
		s := &search{left: left}
		m := &mixer{search: s, random: random()}
		m.count()
		var total int64
		for _, c := range left {
			total += c
		}
		for ; m.total > 0; total-- {
			at := m.any()
			if m.left[at] == 0 || m.total != total {
				t.Fatalf("found place %d of %v and a total of %d, expected one that is left, and %d", at, m.left, m.total, total)
			}
			m.take(at, 1)
		}
		if total != 0 {
			t.Fatalf("found none left, expected %d", total)
		}
	})
}
