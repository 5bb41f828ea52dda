package examplecolumns_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

// drawDouble draws float64 of all kinds, many of them near the ends of float32.
func drawDouble(t *rapid.T) float64 {
	edge := rapid.SampledFrom([]float64{0, math.SmallestNonzeroFloat32, 0x1p-126, math.MaxFloat32, 0x1p128, math.Inf(1)}).Draw(t, "edge")
	v := rapid.OneOf(
		rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.Map(rapid.Float32(), func(f float32) float64 { return float64(f) }),
		rapid.Map(rapid.Int64Range(-1<<31, 1<<31), func(n int64) float64 { return math.Float64frombits(uint64(max(int64(math.Float64bits(edge))+n, 0))) }),
	).Draw(t, "v")
	if rapid.Bool().Draw(t, "negative") {
		v = -v
	}
	return v
}

// FitOf agrees with the nearest float32 that big.Float gives.
func TestFitOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, want := drawDouble(t), examplecolumns.Fits
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			f, accuracy := big.NewFloat(v).Float32()
			switch {
			case math.IsInf(float64(f), 0):
				want = examplecolumns.Overflow
			case accuracy != big.Exact && math.Abs(float64(f)) < 0x1p-126:
				want = examplecolumns.Underflow
			}
		}
		if got := examplecolumns.FitOf(v); got != want {
			t.Fatalf("%g (%x): found %d, expected %d", v, math.Float64bits(v), got, want)
		}
	})
}

// The values that are written are counted, and the first number beyond float32 is an error. This holds for lists of
// any length, and only for the rows that are written.
func TestNarrowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &graph.Column{Name: "x", DType: graph.Float64}
		var values []float64
		width, offsets := 1, []uint32{0}
		if rapid.Bool().Draw(t, "ragged") {
			c.Shape = []int{-1, 2}
			for range rapid.IntRange(0, 6).Draw(t, "rows") {
				offsets = append(offsets, offsets[c.Rows]+rapid.Uint32Range(0, 2).Draw(t, "length"))
				c.Rows++
			}
			c.Offsets, width = []graph.Index{{U32: offsets}}, 2
		} else {
			c.Rows = rapid.IntRange(0, 6).Draw(t, "rows")
			for i := range c.Rows {
				offsets = append(offsets, uint32(i+1))
			}
		}
		for range int(offsets[c.Rows]) * width {
			values = append(values, drawDouble(t))
		}
		c.Values = graph.Bytes(values)
		var rows []uint32
		var small uint64
		large := math.NaN()
		for r := range c.Rows {
			if !rapid.Bool().Draw(t, "taken") {
				continue
			}
			rows = append(rows, uint32(r))
			for _, v := range values[int(offsets[r])*width : int(offsets[r+1])*width] {
				switch examplecolumns.FitOf(v) {
				case examplecolumns.Underflow:
					small++
				case examplecolumns.Overflow:
					if math.IsNaN(large) {
						large = v
					}
				}
			}
		}
		write, err := examplecolumns.Values(c)
		if err != nil {
			t.Fatal(err)
		}
		var e examplecolumns.Encoder
		e.W.Reset()
		write(&e, example.NewKey("nodes/n.x"), graph.Index{U32: rows})
		if n := e.Underflows["nodes/n.x"]; n != small || len(e.Underflows) > 1 {
			t.Fatalf("found %v underflows, expected %d", e.Underflows, small)
		}
		err = e.Err()
		if math.IsNaN(large) != (err == nil) || err != nil && (!errors.Is(err, examplecolumns.ErrOverflow) || !strings.HasPrefix(err.Error(), "feature nodes/n.x: found ")) {
			t.Fatalf("found error %v, expected one about %v", err, large)
		}
		if err := e.Err(); err != nil {
			t.Fatalf("found the error again: %v", err)
		}
	})
}
