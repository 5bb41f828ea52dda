package predictions

import (
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The sum of products is within the bound of its error, exact for small integers, and the same for equal rows.
func TestDot(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 600).Draw(r, "n")
		a, b := make([]float64, n), make([]float64, n)
		var exact, sizes float64
		for i := range n {
			a[i], b[i] = float64(rapid.IntRange(-1000, 1000).Draw(r, "a")), float64(rapid.IntRange(-1000, 1000).Draw(r, "b"))
			exact += a[i] * b[i]
		}
		if got := dot(a, b); got != exact || math.Signbit(got) && got == 0 {
			r.Errorf("found %v, expected %v", got, exact)
		}
		exact = 0
		for i := range n {
			a[i] /= 3
			exact = math.FMA(a[i], b[i], exact)
			sizes += math.Abs(a[i] * b[i])
		}
		if got := dot(a, b); math.Abs(got-exact) > sizes*float64(n)*0x1p-51 {
			r.Errorf("found %v, expected about %v", got, exact)
		}
	})
}

// The heap has the first k of all items in their order.
func TestBest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scores := rapid.SliceOf(rapid.Float64Range(-2, 2)).Draw(r, "scores")
		few := rapid.Bool().Draw(r, "few values")
		b := best{k: rapid.IntRange(1, 20).Draw(r, "k")}
		var all []scored
		for i, x := range scores {
			if few {
				x = math.Round(x)
			}
			all = append(all, scored{uint64(i), x})
			if b.wants(x) {
				b.offer(all[i])
			}
		}
		b.sort()
		slices.SortStableFunc(all, func(x, y scored) int {
			switch {
			case x.score > y.score:
				return -1
			case x.score < y.score:
				return 1
			}
			return 0
		})
		if all = all[:min(b.k, len(all))]; !slices.Equal(all, b.items) {
			r.Errorf("found %v, expected %v", b.items, all)
		}
	})
}
