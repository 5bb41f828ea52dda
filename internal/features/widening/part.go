package widening

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
)

// Part is a column whose numbers stand beside the numbers of others in a row.
type Part struct {
	Column string
	// Piece is the piece of a feature of DType whose numbers the column holds; nil takes the values of the column as they are.
	Piece *features.Piece
	DType graph.DType
}

// Place says where the numbers of a part are written: from number At on, in rows of so many Values of a dtype.
type Place struct {
	DType      graph.DType
	At, Values int
}

// Write writes the numbers of some rows into rows of dst, whose other numbers stay. dst begins at a multiple of the size of a number.
type Write func(dst []byte, rows graph.Index)

// Range writes the rows [from, to), of width bytes each, to dst.
func (w Write) Range(dst []byte, width, from, to int) {
	var rows [512]uint64
	for from < to {
		n := min(len(rows), to-from)
		for i := range n {
			rows[i] = uint64(from + i)
		}
		w(dst[:n*width], graph.Index{U64: rows[:n]})
		dst, from = dst[n*width:], from+n
	}
}

// Widens says whether the values of the column are not the numbers of the feature.
func (p *Part) Widens() bool {
	return p.Piece != nil && (p.Piece.Kind == features.PieceOneHot || p.Piece.Kind == features.PieceMultiHot || p.Piece.Kind == features.PieceLowBit)
}

// LowBit says whether the column has codes of few bits, whose numbers Writer looks up in Numbers.
func (p *Part) LowBit() bool { return p.Piece != nil && p.Piece.Kind == features.PieceLowBit }

// Check refuses a column that is not as the piece says.
func (p *Part) Check(c *graph.Column) error {
	if p.Piece == nil {
		return nil
	}
	if dtype, shape := p.Piece.Stored(p.DType); c.DType != dtype || !slices.Equal(c.Shape, shape) {
		return fmt.Errorf("found %s rows of shape %v, expected %s of shape %v for a feature; graphmill verify finds damage", c.DType, c.Shape, dtype, shape)
	}
	return nil
}

// Joins is the dtype of the numbers of a part.
func (p *Part) Joins(c *graph.Column) graph.DType {
	if p.Widens() {
		return p.DType
	}
	return c.DType
}

// Numbers is how many numbers a row of a part has.
func (p *Part) Numbers(c *graph.Column) int {
	if p.Widens() {
		return p.Piece.Width
	}
	return c.RowValues()
}

// Writer returns the function that writes the numbers of rows of a column of which values returns the values: those of c, or a copy of
// them. numbers may be shared by writers.
func (p *Part) Writer(c *graph.Column, values func() []byte, numbers *Numbers, to Place) Write {
	switch {
	case !p.Widens():
		return copied(c, values, to)
	case p.LowBit():
		return lowBit(p, values, numbers, to)
	}
	return hot(p, c, values, to)
}

// hot writes numbers of which a column holds which ones are 1, among so many that are 0.
func hot(p *Part, c *graph.Column, values func() []byte, place Place) Write {
	size := place.DType.Size()
	one := make([]byte, size)
	switch place.DType {
	case graph.Float64:
		binary.LittleEndian.PutUint64(one, math.Float64bits(1))
	case graph.Float16:
		binary.LittleEndian.PutUint16(one, 0x3c00)
	case graph.BFloat16:
		binary.LittleEndian.PutUint16(one, 0x3f80)
	default:
		binary.LittleEndian.PutUint32(one, math.Float32bits(1))
	}
	width := c.RowBytes()
	return func(dst []byte, rows graph.Index) {
		all := values()
		for i := range rows.Len() {
			to, from := dst[(i*place.Values+place.At)*size:][:p.Piece.Width*size], all[int(rows.At(i))*width:][:width]
			clear(to)
			if p.Piece.Kind == features.PieceMultiHot {
				for b, x := range from {
					for ; x != 0; x &= x - 1 {
						setNumber(to, 8*b+bits.TrailingZeros8(x), one)
					}
				}
				continue
			}
			at := int(from[0])
			if width == 2 {
				at = int(binary.LittleEndian.Uint16(from))
			}
			setNumber(to, at, one)
		}
	}
}

// setNumber sets a number of a row, which a damaged store may not have.
func setNumber(row []byte, place int, number []byte) {
	if at := place * len(number); at < len(row) {
		copy(row[at:], number)
	}
}

// copied writes the values of a column, converted if they have another dtype.
func copied(c *graph.Column, values func() []byte, to Place) Write {
	switch {
	case c.DType == to.DType:
		size, width := to.DType.Size(), c.RowBytes()
		return func(dst []byte, rows graph.Index) {
			all := values()
			for i := range rows.Len() {
				copy(dst[(i*to.Values+to.At)*size:][:width], all[int(rows.At(i))*width:])
			}
		}
	case to.DType == graph.Float64:
		return converted[float64](c, values, to)
	}
	return converted[float32](c, values, to)
}

func converted[D float32 | float64](c *graph.Column, values func() []byte, to Place) Write {
	switch c.DType {
	case graph.Bool, graph.Uint8:
		return spread(c, values, to, func(x uint8) D { return D(x) })
	case graph.Int8:
		return spread(c, values, to, func(x int8) D { return D(x) })
	case graph.Int16:
		return spread(c, values, to, func(x int16) D { return D(x) })
	case graph.Int32:
		return spread(c, values, to, func(x int32) D { return D(x) })
	case graph.Int64:
		return spread(c, values, to, func(x int64) D { return D(x) })
	case graph.Uint16:
		return spread(c, values, to, func(x uint16) D { return D(x) })
	case graph.Uint32:
		return spread(c, values, to, func(x uint32) D { return D(x) })
	case graph.Uint64:
		return spread(c, values, to, func(x uint64) D { return D(x) })
	case graph.Float16:
		return spread(c, values, to, func(x uint16) D { return D(example.Float16(x)) })
	case graph.BFloat16:
		return spread(c, values, to, func(x uint16) D { return D(example.BFloat16(x)) })
	case graph.Float64:
		return spread(c, values, to, func(x float64) D { return D(x) })
	}
	return spread(c, values, to, func(x float32) D { return D(x) })
}

func spread[S graph.Numbers, D float32 | float64](c *graph.Column, values func() []byte, place Place, convert func(S) D) Write {
	width := c.RowValues()
	return func(dst []byte, rows graph.Index) {
		src, to := graph.View[S](values()), graph.View[D](dst)
		for i := range rows.Len() {
			for k, x := range src[int(rows.At(i))*width:][:width] {
				to[i*place.Values+place.At+k] = convert(x)
			}
		}
	}
}
