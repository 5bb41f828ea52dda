package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The moments are those of exact fractions, however the numbers are divided.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Float32(), func(x float32) float64 { return float64(x) }), rapid.Map(rapid.IntRange(-1<<20, 1<<20), func(x int) float64 { return float64(x) }), rapid.Float64Range(-1e3, 1e3), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 1e300, 1e-160, 2.2250738585072014e-308}))
		values := rapid.SliceOfN(number, 1, 50).Draw(t, "values")
		cut, repeat := rapid.IntRange(0, len(values)).Draw(t, "cut"), rapid.IntRange(0, 20).Draw(t, "repeat")
		var a Sums
		a.Repeat(values[0], uint64(repeat))
		a.Add(values[cut:])
		a.Add(values[:cut])
		mean, deviation := a.Moments()
		for range repeat {
			values = append(values, values[0])
		}

		n, sum, squares := new(big.Rat).SetInt64(int64(len(values))), new(big.Rat), new(big.Rat)
		for _, v := range values {
			x := new(big.Rat).SetFloat64(v)
			sum.Add(sum, x)
			squares.Add(squares, new(big.Rat).Mul(x, x))
		}
		sum.Quo(sum, n)
		squares.Quo(squares, n)
		variance, _ := squares.Sub(squares, new(big.Rat).Mul(sum, sum)).Float64()
		if want, _ := sum.Float64(); mean != want || deviation != math.Sqrt(variance) {
			t.Fatalf("found %g and %g, expected %g and %g", mean, deviation, want, math.Sqrt(variance))
		}
		d := a.Deviation()
		square := new(big.Rat).SetFloat64(d)
		if square.Mul(square, square); variance > 1e-300 && variance < 1e300 && math.Abs(d-deviation) > 1e-15*deviation {
			t.Fatalf("found the deviation %g, expected nearly %g", d, deviation)
		}
		if low, _ := new(big.Float).SetRat(square).Float64(); d > 1e-300 && (new(big.Rat).Quo(squares, square).Cmp(big.NewRat(1_000_001, 1_000_000)) > 0 || new(big.Rat).Quo(squares, square).Cmp(big.NewRat(999_999, 1_000_000)) < 0) {
			t.Fatalf("found the deviation %g, whose square %g is not the variance", d, low)
		}
	})
}

func BenchmarkSums(b *testing.B) {
	values := make([]float64, 1<<16)
	for i := range values {
		values[i] = float64(float32(math.Sin(float64(i)) * 1000))
	}
	var s Sums
	b.SetBytes(int64(8 * len(values)))
	for b.Loop() {
		s.Add(values)
	}
}
