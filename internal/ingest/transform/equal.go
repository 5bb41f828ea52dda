package transform

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/graphmill/graphmill/graph"
)

// compareRows orders rows of columns: it returns 0 where their values are equal. Columns of the product's own, such as the position in
// the input, do not count.
func compareRows(columns []*graph.Column, i, j int) int {
	for _, c := range columns {
		if c.Name[0] == '#' {
			continue
		}
		if r := compareRow(c, i, j); r != 0 {
			return r
		}
	}
	return 0
}

// compareRow orders two rows of a column, first by the lengths of their lists, then by their values.
func compareRow(c *graph.Column, i, j int) int {
	if len(c.Offsets) == 0 && c.DType != graph.String {
		return compareValues(c.DType, c.Row(i), c.Row(j))
	}
	from, to := [2]int{i, j}, [2]int{i + 1, j + 1}
	k := 0
	for _, d := range c.Shape {
		if d != -1 {
			for x := range from {
				from[x], to[x] = from[x]*d, to[x]*d
			}
			continue
		}
		offsets := &c.Offsets[k]
		for n := range to[0] - from[0] {
			var length [2]uint64
			for x := range length {
				length[x] = offsets.At(from[x]+n+1) - offsets.At(from[x]+n)
			}
			if r := cmp.Compare(length[0], length[1]); r != 0 {
				return r
			}
		}
		for x := range from {
			from[x], to[x] = int(offsets.At(from[x])), int(offsets.At(to[x]))
		}
		k++
	}
	if c.DType != graph.String {
		size := c.DType.Size()
		return compareValues(c.DType, c.Values[from[0]*size:to[0]*size], c.Values[from[1]*size:to[1]*size])
	}
	for n := range to[0] - from[0] {
		if r := bytes.Compare(c.Text(from[0]+n), c.Text(from[1]+n)); r != 0 {
			return r
		}
	}
	return 0
}

// compareValues orders equally many values. 0 equals -0, and all NaN are equal.
func compareValues(d graph.DType, a, b []byte) int {
	if !d.IsFloat() || bytes.Equal(a, b) {
		return bytes.Compare(a, b)
	}
	for size := d.Size(); len(a) > 0; a, b = a[size:], b[size:] {
		if r := cmp.Compare(plainBits(d, a), plainBits(d, b)); r != 0 {
			return r
		}
	}
	return 0
}

// plainBits is the first value of floats as bits, which are equal for equal values, and for all NaN.
func plainBits(d graph.DType, b []byte) uint64 {
	le := binary.LittleEndian
	var bits, sign, infinite uint64
	switch d {
	case graph.Float64:
		bits, sign, infinite = le.Uint64(b), 1<<63, math.Float64bits(math.Inf(1))
	case graph.Float32:
		bits, sign, infinite = uint64(le.Uint32(b)), 1<<31, uint64(math.Float32bits(float32(math.Inf(1))))
	case graph.BFloat16:
		bits, sign, infinite = uint64(le.Uint16(b)), 1<<15, 0x7f80
	default: // float16
		bits, sign, infinite = uint64(le.Uint16(b)), 1<<15, 0x7c00
	}
	switch {
	case bits == sign:
		return 0
	case bits&^sign > infinite:
		return infinite + 1
	}
	return bits
}
