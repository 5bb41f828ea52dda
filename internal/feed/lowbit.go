package feed

import (
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
)

// lowBitOf is partOf for a column of codes of 8 or 4 bits: rows of numbers from a value on, in rows of the given number of values. The numbers of all codes are
// computed once, in the dtype of the batch, which is that of the feature or a wider one.
func lowBitOf(tab *table, p *Part, dtype graph.DType, at, values int) func(dst []byte, rows graph.Index) {
	switch dtype.Size() {
	case 2:
		return codesOf[uint16](tab, p, dtype, at, values)
	case 8:
		return codesOf[uint64](tab, p, dtype, at, values)
	}
	return codesOf[uint32](tab, p, dtype, at, values)
}

// codesOf is lowBitOf for numbers of the size of B.
func codesOf[B uint16 | uint32 | uint64](tab *table, p *Part, dtype graph.DType, at, values int) func(dst []byte, rows graph.Index) {
	if width := p.Widen.Width; p.Widen.Bits == 8 {
		numbers := make([][256]B, width)
		for k := range numbers {
			setNumbers(numbers[k][:], p, k, dtype)
		}
		return func(dst []byte, rows graph.Index) {
			from, to := tab.values(), graph.View[B](dst)
			for i := range rows.Len() {
				widenBytes(to[i*values+at:][:width], from[int(rows.At(i))*width:][:width], numbers)
			}
		}
	}
	width, size := p.Widen.Width, (p.Widen.Width+1)/2
	numbers := make([][16]B, 2*size) // an odd row ends with a half that is no number
	for k := range width {
		setNumbers(numbers[k][:], p, k, dtype)
	}
	return func(dst []byte, rows graph.Index) {
		from, to := tab.values(), graph.View[B](dst)
		for i := range rows.Len() {
			widenHalves(to[i*values+at:][:width], from[int(rows.At(i))*size:][:size], numbers)
		}
	}
}

// widenBytes writes the numbers of codes of a byte each.
func widenBytes[B any](to []B, codes []byte, numbers [][256]B) {
	to, numbers = to[:len(codes)], numbers[:len(codes)]
	for k, code := range codes {
		to[k] = numbers[k][code]
	}
}

// widenHalves writes the numbers of codes of half a byte each, the first in the low half.
func widenHalves[B any](to []B, codes []byte, numbers [][16]B) {
	for k := 0; k < len(to)/2; k++ {
		code := codes[k]
		to[2*k], to[2*k+1] = numbers[2*k][code&15], numbers[2*k+1][code>>4]
	}
	if last := len(to) - 1; last%2 == 0 {
		to[last] = numbers[last][codes[last/2]&15]
	}
}

// setNumbers sets the numbers of all codes at position k of a piece.
func setNumbers[B uint16 | uint32 | uint64](to []B, p *Part, k int, dtype graph.DType) {
	for code := range to {
		x := p.Widen.Number(k, code, p.DType)
		switch dtype {
		case graph.Float16:
			to[code] = B(features.Float16Bits(x))
		case graph.BFloat16:
			to[code] = B(math.Float32bits(float32(x)) >> 16)
		case graph.Float64:
			to[code] = B(math.Float64bits(x))
		default:
			to[code] = B(math.Float32bits(float32(x)))
		}
	}
}
