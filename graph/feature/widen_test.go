package feature_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph/feature"
)

// Every float32 comes back with its bits, NaNs too.
func TestWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0x7f800001, 0x7fffffff), rapid.Uint32Range(0xff800001, 0xffffffff)).Draw(t, "bits")
		f := math.Float32frombits(bits)
		wide := feature.Widen(f)
		if f == f && math.Float64frombits(wide) != float64(f) {
			t.Fatalf("%x: found %x", bits, wide)
		}
		if got := math.Float32bits(feature.Shorten(wide)); got != bits {
			t.Fatalf("found %x, expected %x", got, bits)
		}
	})
	if got := feature.Shorten(0x7ff0000000000001); got == got {
		t.Errorf("found %v of a NaN, expected a NaN", got)
	}
}
