package examplecolumns

import (
	"errors"
	"math"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// errOverflow is wrapped by errors about a finite float64 whose magnitude exceeds the largest float32.
var errOverflow = errors.New("a number beyond the range of float32")

// Fit says how a float64 fits into a float32, apart from the usual rounding.
type Fit uint8

// Underflow: the float32 is 0 or subnormal and differs from the float64, so it has fewer significant digits than
// usual, or none. Overflow: the float32 is an infinity and the float64 is finite.
const (
	Fits Fit = iota
	Underflow
	Overflow
)

// FitOf returns how v fits into a float32.
func FitOf(v float64) Fit {
	// Most numbers are between 2^-126 and 2^127, where every float32 has full precision.
	const low, high = 1023 - 126, 1023 + 127
	if e := math.Float64bits(v) >> 52 & 0x7ff; e-low < high-low {
		return Fits
	}
	f := float64(float32(v))
	switch {
	case f == v || v != v:
		return Fits
	case math.IsInf(f, 0):
		return Overflow
	case math.Abs(f) < 0x1p-126:
		return Underflow
	}
	return Fits
}

// Narrowed counts the losses of float64 values in Examples, whose floats are float32.
type Narrowed struct {
	// Underflows counts the values with Fit Underflow, by feature.
	Underflows map[string]uint64 `json:"underflows,omitempty"`
	over       error
}

// Err returns an error about the first value with Fit Overflow since the last call, or nil.
func (n *Narrowed) Err() error {
	err := n.over
	n.over = nil
	return err
}

// Look counts the values of a feature that underflow, and keeps the first one that overflows for Err.
func (n *Narrowed) Look(feature string, values []float64) {
	small := uint64(0)
	for _, v := range values {
		switch FitOf(v) {
		case Fits:
		case Underflow:
			small++
		case Overflow:
			if n.over == nil {
				n.over = tagged.Errorf(errOverflow, "feature %s: found %v, expected a number that a float32 can hold, as Examples have no other floats; scale the column, or leave it out", feature, v)
			}
		}
	}
	if small > 0 {
		n.Add(map[string]uint64{feature: small})
	}
}

// Add adds underflows to Underflows.
func (n *Narrowed) Add(underflows map[string]uint64) {
	if n.Underflows == nil && len(underflows) > 0 {
		n.Underflows = map[string]uint64{}
	}
	for feature, count := range underflows {
		n.Underflows[feature] += count
	}
}

// doubleWriter returns the function that writes a column of float64 and counts its losses.
func doubleWriter(c *graph.Column, width int) Write {
	values := view[float64](c)
	if c.Ragged() {
		return func(e *Encoder, k example.Key, rows graph.Index) {
			elements := e.flatten(c, rows)
			lookRows(&e.Narrowed, k, values, width, elements)
			example.FloatRows(&e.W, k, values, width, elements, example.Narrow)
		}
	}
	return func(e *Encoder, k example.Key, rows graph.Index) {
		if rows.U64 != nil {
			lookRows(&e.Narrowed, k, values, width, rows.U64)
			example.FloatRows(&e.W, k, values, width, rows.U64, example.Narrow)
			return
		}
		lookRows(&e.Narrowed, k, values, width, rows.U32)
		example.FloatRows(&e.W, k, values, width, rows.U32, example.Narrow)
	}
}

func lookRows[R example.Row](n *Narrowed, k example.Key, values []float64, width int, rows []R) {
	for _, r := range rows {
		row := values[int(r)*width:][:width]
		for _, v := range row {
			if FitOf(v) != Fits {
				n.Look(k.String(), row)
				break
			}
		}
	}
}
