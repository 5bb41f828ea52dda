package report

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Bins ascend, hold every number, and are few.
func TestBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(Histogram)
		for _, n := range rapid.SliceOfN(sizes(), 1, 40).Draw(t, "numbers") {
			h.AddN(n, rapid.Uint64Range(1, 1000).Draw(t, "times"))
		}
		b, ok := chooseBins([]Series{{"a", h}}, []role{roleSeries0})
		if !ok {
			t.Fatal("found no bins for some numbers")
		}
		for i, e := range b.edges {
			if i > 0 && e <= b.edges[i-1] {
				t.Fatalf("found edge %v after %v", e, b.edges[i-1])
			}
		}
		lo, hi := b.ends()
		if first := float64(h.Min()); lo > first && !(b.zero && first == 0) || hi < float64(h.Max()) {
			t.Fatalf("found bins from %v to %v for %d to %d", lo, hi, h.Min(), h.Max())
		}
		if n := len(b.edges); n < 2 || n > 2*mostBins+2 {
			t.Fatalf("found %d edges", n)
		}
		sum := 0.0
		for _, s := range b.shares(h) {
			if s < 0 {
				t.Fatalf("found the share %v", s)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("found shares that sum to %v", sum)
		}
	})
}

// The first logarithmic bin holds the smallest number, also just below a power of 2, where logarithms round.
func TestLogBinsBegin(t *testing.T) {
	for exponent := 1; exponent <= 53; exponent++ {
		power := math.Ldexp(1, exponent)
		for _, lo := range []float64{power - 1, power} {
			if b := logBins(lo, 9*lo); b.edges[0] > lo || 2*b.edges[0] <= lo {
				t.Errorf("found bins from %v for the smallest number %v, expected the power of 2 at or below it", b.edges[0], lo)
			}
		}
	}
}

// Few numbers are never divided: each of 8 parts is an eighth.
func TestBinsKeepFewNumbersWhole(t *testing.T) {
	h := new(Histogram)
	for _, n := range []uint64{0, 0, 30_000, 80_500, 80_900, 86_300, 91_600, 354_000} {
		h.Add(n)
	}
	b, _ := chooseBins([]Series{{"a", h}}, []role{roleSeries0})
	for i, s := range b.shares(h) {
		if s*8 != math.Trunc(s*8) {
			t.Errorf("bin %s: found the share %v", b.name(i), s)
		}
	}
}

func TestBinNames(t *testing.T) {
	b := logBins(0, 9)
	if b.name(0) != "0" || b.name(1) != "1" || b.name(2) != "2 to 3" || b.name(4) != "8 to 15" {
		t.Errorf("found %q, %q, %q, %q", b.name(0), b.name(1), b.name(2), b.name(4))
	}
	b = linearBins(3, 6, mostBins)
	if b.name(0) != "3" || b.name(2) != "5" {
		t.Errorf("found %q and %q", b.name(0), b.name(2))
	}
}
