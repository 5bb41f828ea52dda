package transform

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestShares compares shares with its law: each share is rounded down or up, rows and columns add up, and no division that keeps to this is nearer
// to the unrounded shares. All divisions of a few classes are tried for it.
func TestShares(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 4).Draw(rt, "sizes")
		ratios := drawRatios(rt)
		total := 0
		for _, n := range sizes {
			total += n
		}
		s := Split{Ratios: ratios}
		want := s.sizes(total)
		got := shares(sizes, ratios, want, rapid.Uint64().Draw(rt, "key"))
		var have counts
		for c, row := range got {
			sum := 0
			for p, n := range row {
				sum += n
				have[p] += n
				if x := share(sizes[c], ratios, p); float64(n) <= x-1 || float64(n) >= x+1 {
					rt.Fatalf("class %d of %v has %v by %v, expected each share rounded down or up", c, sizes, row, ratios)
				}
			}
			if sum != sizes[c] {
				rt.Fatalf("class %d of %v has %v rows, expected all", c, sizes, row)
			}
		}
		if have != want {
			rt.Fatalf("found the sizes %v of %v, expected %v", have, got, want)
		}
		if best, mine := leastCost(sizes, ratios, want), costOf(got, sizes, ratios); mine > best+1e-6 {
			rt.Fatalf("found %v of %v by %v, whose cost is %v, expected %v", got, sizes, ratios, mine, best)
		}
	})
}

// drawRatios draws ratios of hundredths with a sum of at most 1.
func drawRatios(rt *rapid.T) []float64 {
	a := rapid.IntRange(0, 100).Draw(rt, "train")
	b := rapid.IntRange(0, 100-a).Draw(rt, "valid")
	c := rapid.SampledFrom([]int{100 - a - b, (100 - a - b) / 2, 0}).Draw(rt, "test")
	if a+b+c == 0 {
		a = 100
	}
	return []float64{float64(a) / 100, float64(b) / 100, float64(c) / 100}
}

// share is the unrounded share of a part.
func share(size int, ratios []float64, part int) float64 {
	if part < len(ratios) {
		return float64(size) * ratios[part]
	}
	return float64(size) * max(0, 1-ratios[0]-ratios[1]-ratios[2])
}

func costOf(division []counts, sizes []int, ratios []float64) (cost float64) {
	for c, row := range division {
		for p, n := range row {
			d := float64(n) - share(sizes[c], ratios, p)
			cost += d * d
		}
	}
	return cost
}

// leastCost tries all divisions.
func leastCost(sizes []int, ratios []float64, want counts) float64 {
	best := math.Inf(1)
	var try func(c, p int, division []counts, have counts)
	try = func(c, p int, division []counts, have counts) {
		if c == len(sizes) {
			if have == want {
				best = min(best, costOf(division, sizes, ratios))
			}
			return
		}
		row := &division[c]
		if p == len(row) {
			if row[0]+row[1]+row[2]+row[3] == sizes[c] {
				try(c+1, 0, division, have)
			}
			return
		}
		x := share(sizes[c], ratios, p)
		for n := int(math.Floor(x + 1e-9)); float64(n) < x+1-1e-9; n++ {
			row[p] = n
			next := have
			next[p] += n
			try(c, p+1, division, next)
		}
		row[p] = 0
	}
	try(0, 0, make([]counts, len(sizes)), counts{})
	return best
}
