package examplecolumns

import (
	"math"

	"github.com/graphmill/graphmill/graph"
)

// Widen returns the bits of the float64 with the same value. A NaN keeps its bits, which a conversion by the
// processor might change, so that Shorten restores them.
func Widen(f float32) uint64 {
	if f == f {
		return math.Float64bits(float64(f))
	}
	b := math.Float32bits(f)
	return uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&0x7fffff)<<29
}

// Shorten returns the float32 nearest to the float64 of the given bits. A NaN keeps the high bits of its payload.
func Shorten(bits uint64) float32 {
	f := math.Float64frombits(bits)
	if f == f {
		return float32(f)
	}
	carried := uint32(bits>>29) & 0x7fffff
	if carried == 0 { // would be an infinity
		carried = 1 << 22
	}
	return math.Float32frombits(uint32(bits>>63)<<31 | 0x7f800000 | carried)
}

// Rounds says whether a column has a value that Examples round: a float64 that is not a float32.
func Rounds(c *graph.Column) bool {
	if c.DType != graph.Float64 {
		return false
	}
	for _, v := range graph.View[float64](c.Values) {
		if v == v && float64(float32(v)) != v {
			return true
		}
	}
	return false
}
