package features

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyNumber draws numbers with those that are treated apart.
func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.Float64Range(-3, 3), rapid.Map(rapid.IntRange(-3, 3), func(x int) float64 { return float64(x) }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324}))
}

// A block of numbers becomes what each of them does, bit by bit.
func TestApplyBlockIsApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finite := anyNumber().Filter(func(x float64) bool { return x-x == 0 })
		n := Numbers{
			Scale:  rapid.SampledFrom([]Scale{"", ScaleStandard, ScaleMinMax, ScaleMinMaxCut, ScaleMaxAbs, ScaleRobust, ScaleLog, ScaleSignedLog, ScaleUniform, ScaleNormal}).Draw(t, "scale"),
			Center: finite.Draw(t, "center"), By: math.Abs(finite.Draw(t, "by")),
			Quantiles: rapid.SliceOfN(finite, 1, 40).Draw(t, "quantiles"),
		}
		slices.Sort(n.Quantiles)
		if rapid.Bool().Draw(t, "guided") {
			n.guide = newGuide(n.Quantiles)
		}
		if rapid.Bool().Draw(t, "filled") {
			fill := finite.Draw(t, "fill")
			n.Fill = &fill
		}
		if rapid.Bool().Draw(t, "clipped") {
			a, b := finite.Draw(t, "a"), finite.Draw(t, "b")
			n.Clip = &[2]float64{min(a, b), max(a, b)}
		}
		if rapid.IntRange(0, 3).Draw(t, "buckets") == 0 {
			n.Buckets, n.Edges = true, slices.Compact(slices.Clone(n.Quantiles))
		}
		in := rapid.SliceOf(rapid.OneOf(anyNumber(), rapid.SampledFrom(n.Quantiles))).Draw(t, "numbers")
		out := make([]float64, len(in)+1)
		n.applyBlock(in, out)
		for i, x := range in {
			if want := n.apply(x); math.Float64bits(out[i]) != math.Float64bits(want) && (out[i] == out[i] || want == want) {
				t.Fatalf("%+v of %g: found %g, expected %g", n, x, out[i], want)
			}
		}
	})
}

// The range of numbers equals what the built-in functions give, also for zeros with signs, and the rows that are kept equal those of a plain loop.
func TestRangeAndRowsOfFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(anyNumber()).Draw(t, "numbers")
		keep := rapid.SliceOfN(rapid.Bool(), len(values), len(values)).Draw(t, "keep")
		kept, want := 0, []float64{}
		least, greatest := math.Inf(1), math.Inf(-1)
		for i, x := range values {
			if !keep[i] {
				continue
			}
			kept++
			if x == x {
				want = append(want, x)
				least, greatest = min(least, x), max(greatest, x)
			}
		}
		rows, known := compact(values, keep)
		if rows != kept || !slices.Equal(values[:known], want) {
			t.Fatalf("found %d rows with %v, expected %d with %v", rows, values[:known], kept, want)
		}
		m := moments{least: math.Inf(1), greatest: math.Inf(-1)}
		m.bound(values[:known])
		if math.Float64bits(m.least) != math.Float64bits(least) || math.Float64bits(m.greatest) != math.Float64bits(greatest) {
			t.Fatalf("found %g to %g, expected %g to %g", m.least, m.greatest, least, greatest)
		}
	})
}
