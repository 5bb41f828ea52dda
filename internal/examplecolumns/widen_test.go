package examplecolumns_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

// Every float32 is restored with its bits, including NaNs.
func TestWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0x7f800001, 0x7fffffff), rapid.Uint32Range(0xff800001, 0xffffffff)).Draw(t, "bits")
		f := math.Float32frombits(bits)
		wide := examplecolumns.Widen(f)
		if f == f && math.Float64frombits(wide) != float64(f) {
			t.Fatalf("%x: found %x", bits, wide)
		}
		if got := math.Float32bits(examplecolumns.Shorten(wide)); got != bits {
			t.Fatalf("found %x, expected %x", got, bits)
		}
	})
	if got := examplecolumns.Shorten(0x7ff0000000000001); got == got {
		t.Errorf("found %v of a NaN, expected a NaN", got)
	}
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{nil, false},
		{[]float64{0, -0.5, 1 << 24, math.NaN(), math.Inf(1), math.MaxFloat32}, false},
		{[]float64{0, 0.1}, true},
		{[]float64{1<<24 + 1}, true},
		{[]float64{1e300}, true}, // becomes an infinity
		{[]float64{5e-324}, true},
	} {
		col := &graph.Column{DType: graph.Float64, Rows: len(c.values), Values: graph.Bytes(c.values)}
		if got := examplecolumns.Rounds(col); got != c.want {
			t.Errorf("%v: found %v", c.values, got)
		}
	}
	if examplecolumns.Rounds(&graph.Column{DType: graph.Int64, Rows: 1, Values: graph.Bytes([]float64{0.1})}) {
		t.Error("an integer is rounded")
	}
}
