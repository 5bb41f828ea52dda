package sample

import (
	"math"

	"github.com/graphmill/graphmill/draw"
)

// exponential is a number with the exponential distribution of mean 1 out of 64 random bits: -ln(u).
func exponential(bits uint64) float64 { return -logarithm(draw.Unit(bits)) }

// logarithm is ln(x) of a positive number, as a series whose steps round one by one, so that it is the same on every machine: with
// x = m * 2^e and s = (m - 1) / (m + 1), ln(x) is e * ln(2) + 2 (s + s³/3 + s⁵/5 + ...).
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 1.0 / 21
	for i := 19; i > 0; i -= 2 {
		sum = float64(sum*z) + 1/float64(i)
	}
	return float64(float64(e)*math.Ln2) + float64(float64(2*s)*sum)
}
