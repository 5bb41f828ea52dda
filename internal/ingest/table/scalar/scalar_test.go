package scalar

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// Short numbers are rounded as strconv rounds them.
func TestShortFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,9}\.?[0-9]{0,9}`).Draw(t, "text")
		for d, width := range map[graph.DType]int{graph.Float32: 32, graph.Float64: 64} {
			got, ok := shortFloat([]byte(text), d)
			want, err := strconv.ParseFloat(text, width)
			if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
				t.Fatalf("%q as %s is %v, want %v (%v)", text, d, got, want, err)
			}
		}
	})
	for _, text := range []string{"0.25", "-17", "1234567", "5.", ".5", "-0"} {
		if _, ok := shortFloat([]byte(text), graph.Float32); !ok {
			t.Errorf("%q takes the slow way", text)
		}
	}
}

// Halves are rounded to nearest, ties to even: every half gives itself, and a number between two neighbours gives the
// nearer one.
func TestHalves(t *testing.T) {
	for _, f := range []struct {
		d   graph.DType
		inf uint16
		as  func(uint16) float64
	}{
		{graph.Float16, 0x7c00, func(h uint16) float64 { return Float([]byte{byte(h), byte(h >> 8)}, graph.Float16) }},
		{graph.BFloat16, 0x7f80, func(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }},
	} {
		var b [2]byte
		half := func(v float64) (uint16, bool) {
			ok := PutFloat(b[:], f.d, v)
			return uint16(b[0]) | uint16(b[1])<<8, ok
		}
		for h := uint16(0); h < f.inf; h++ {
			v := f.as(h)
			if got, ok := half(v); got != h || !ok {
				t.Fatalf("%s: %v is %#x, want %#x", f.d, v, got, h)
			}
			if h+1 == f.inf {
				break
			}
			next := f.as(h + 1)
			middle := v + (next-v)/2
			even := h + h&1
			if got, _ := half(middle); got != even {
				t.Fatalf("%s: %v is %#x, want %#x", f.d, middle, got, even)
			}
			if got, _ := half(math.Nextafter(middle, math.Inf(1))); got != h+1 {
				t.Fatalf("%s: above %v is %#x, want %#x", f.d, middle, got, h+1)
			}
			if got, _ := half(-math.Nextafter(middle, 0)); got != h|0x8000 {
				t.Fatalf("%s: below %v is %#x, want %#x", f.d, -middle, got, h|0x8000)
			}
		}
		if _, ok := half(f.as(f.inf-1) * 1.5); ok {
			t.Fatalf("%s: took a number beyond its range", f.d)
		}
	}
}
