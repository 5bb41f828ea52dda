package features

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
)

// PieceKind says how a column of the store holds positions of a feature.
type PieceKind string

// The kinds of pieces. A piece of numbers has them as they are. One of low-bit has a code of 8 or 4 bits per number; of two codes in a byte, the first is in the low
// half. One of one-hot has the place of the 1 of each row, as uint8 or uint16, and one of multi-hot a bit per place, the least significant bit of the first byte first. A
// batch has all of them as numbers. A code is the whole feature.
const (
	PieceNumbers  PieceKind = "numbers"
	PieceLowBit   PieceKind = "low-bit"
	PieceOneHot   PieceKind = "one-hot"
	PieceMultiHot PieceKind = "multi-hot"
	PieceCode     PieceKind = "code"
)

// Piece is some of the numbers of a feature, one after another, as a column of the store. A feature of one piece of numbers or codes has a column of its own name.
type Piece struct {
	Column string    `json:"column"`
	Kind   PieceKind `json:"kind"`
	Width  int       `json:"width"` // numbers of a row
	// Bits is the size of a code of PieceLowBit, and Least and Greatest the range of each number: the numbers of the first code and of the last one.
	Bits     int       `json:"bits,omitempty"`
	Least    []float64 `json:"least,omitempty"`
	Greatest []float64 `json:"greatest,omitempty"`
}

// wideAbove is how many numbers a part of one-hot or multi-hot may have as numbers in the store. A wider one is a piece of its own.
const wideAbove = 32

// piecesOf divides the parts of a feature into pieces, which have no ranges yet.
func piecesOf(name string, f *Feature) []Piece {
	if f.Code {
		return []Piece{{Column: name, Kind: PieceCode, Width: 1}}
	}
	var pieces []Piece
	numbers := PieceNumbers
	if f.Bits != 0 {
		numbers = PieceLowBit
	}
	for _, p := range f.Parts {
		kind := numbers
		switch {
		case p.Width <= wideAbove || f.Norm != NormNone: // a norm is of all numbers of a row
		case p.Encode == EncodeOneHot:
			kind = PieceOneHot
		case p.Encode == EncodeMultiHot:
			kind = PieceMultiHot
		}
		if last := len(pieces) - 1; kind == numbers && last >= 0 && pieces[last].Kind == numbers {
			pieces[last].Width += p.Width
			continue
		}
		piece := Piece{Kind: kind, Width: p.Width}
		if kind == PieceLowBit {
			piece.Bits = f.Bits
		}
		pieces = append(pieces, piece)
	}
	for i := range pieces {
		pieces[i].Column = fmt.Sprintf("#%s.%d", name, i)
	}
	if len(pieces) == 1 && pieces[0].Kind == PieceNumbers {
		pieces[0].Column = name
	}
	return pieces
}

// Stored is the dtype and shape of the column of a piece of a feature of a dtype.
func (p *Piece) Stored(d graph.DType) (graph.DType, []int) {
	switch p.Kind {
	case PieceCode:
		return graph.Int32, nil
	case PieceLowBit:
		return graph.Uint8, []int{(p.Width*p.Bits + 7) / 8}
	case PieceMultiHot:
		return graph.Uint8, []int{(p.Width + 7) / 8}
	case PieceOneHot:
		if p.Width <= 1<<8 {
			return graph.Uint8, nil
		}
		return graph.Uint16, nil
	}
	return d, []int{p.Width}
}

// rowBytes is how many bytes a row of the column of a piece has.
func (p *Piece) rowBytes(d graph.DType) int {
	stored, shape := p.Stored(d)
	n := stored.Size()
	for _, x := range shape {
		n *= x
	}
	return n
}

// codes is how many codes a part of a code gives, with 0.
func (s *State) codes() int {
	if s.Encode == EncodeBuckets {
		return s.Width
	}
	return len(s.Categories.Texts) + 1
}

// rounded is a number in the precision of a dtype, ties to even; beyond its range it is an infinity.
func rounded(x float64, d graph.DType) float64 {
	switch d {
	case graph.Float32:
		return float64(float32(x))
	case graph.Float16:
		return roundedTo(x, 11, -14, 65504)
	case graph.BFloat16:
		return roundedTo(x, 8, -126, 0x1.fep127)
	}
	return x
}

// roundedTo is a number with a mantissa of so many bits, whose least exponent of normal numbers and greatest number are given.
func roundedTo(x float64, bits, least int, greatest float64) float64 {
	if x == 0 || x-x != 0 {
		return x
	}
	_, e := math.Frexp(x) // 2^(e-1) <= |x| < 2^e
	unit := max(e-1, least) - (bits - 1)
	y := math.Ldexp(math.RoundToEven(math.Ldexp(x, -unit)), unit)
	if math.Abs(y) > greatest {
		return math.Copysign(math.Inf(1), x)
	}
	return y
}

// Float16Bits are the bits of a number that float16 has.
func Float16Bits(y float64) uint16 {
	sign := uint16(math.Float64bits(y) >> 63 << 15)
	a := math.Abs(y)
	switch {
	case y != y:
		return sign | 0x7e00
	case a > 65504:
		return sign | 0x7c00
	case a < 0x1p-14:
		return sign | uint16(a*0x1p24)
	}
	b := math.Float64bits(a)
	return sign | uint16(int(b>>52)-1023+15)<<10 | uint16(b>>42&0x3ff)
}
