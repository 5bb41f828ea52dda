package pack

import (
	"testing"

	"pgregory.net/rapid"
)

// Mixes deal every graph once and keep the limits, whatever they leave to a search;
// one that is told what would be too many packs has fewer, or nothing.
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

// Graphs are drawn in proportion to what is left of them.
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
