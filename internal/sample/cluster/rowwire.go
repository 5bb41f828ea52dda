package cluster

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
)

// A row travels as the lengths of its variable dimensions, the outermost first, and its values. A length, also of a
// string, is a varint.

// appendRow appends row r of a column, whose offsets must be valid.
func appendRow(b []byte, c *graph.Column, r int) []byte {
	from, to, k := r, r+1, 0
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		x := c.Offsets[k]
		for i := from; i < to; i++ {
			b = binary.AppendUvarint(b, x.At(i+1)-x.At(i))
		}
		from, to = int(x.At(from)), int(x.At(to))
		k++
	}
	if c.DType != graph.String {
		size := c.DType.Size()
		return append(b, c.Values[from*size:to*size]...)
	}
	for i := from; i < to; i++ {
		text := c.Text(i)
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return b
}

// emptyLike is a column without rows, to which readRow adds rows like the rows of c.
func emptyLike(c *graph.Column) *graph.Column {
	e := &graph.Column{Name: c.Name, DType: c.DType, Shape: c.Shape}
	for range c.Offsets {
		e.Offsets = append(e.Offsets, graph.Index{U64: []uint64{0}})
	}
	if c.DType == graph.String {
		e.StringOffsets.U64 = []uint64{0}
	}
	return e
}

// readRow adds a row to a column of emptyLike, and returns what follows it.
func readRow(c *graph.Column, b []byte) ([]byte, error) {
	n, k := uint64(1), 0
	for _, d := range c.Shape {
		if d != -1 {
			n *= uint64(d)
			continue
		}
		x := &c.Offsets[k]
		last, next := x.U64[len(x.U64)-1], uint64(0)
		for range n {
			length, used := binary.Uvarint(b)
			if used <= 0 || length > math.MaxInt32 {
				return nil, errRecord("rows")
			}
			b = b[used:]
			next += length
			x.U64 = append(x.U64, last+next)
		}
		n = next
		k++
	}
	c.Rows++
	if c.DType != graph.String {
		size := uint64(c.DType.Size())
		if n > uint64(len(b))/size {
			return nil, errRecord("rows")
		}
		c.Values = append(c.Values, b[:n*size]...)
		return b[n*size:], nil
	}
	for range n {
		length, used := binary.Uvarint(b)
		if used <= 0 || length > uint64(len(b)-used) {
			return nil, errRecord("rows")
		}
		c.Values = append(c.Values, b[used:used+int(length)]...)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
		b = b[used+int(length):]
	}
	return b, nil
}

// checkRow refuses a row whose offsets do not lead to its values, so that appendRow need not check.
func checkRow(c *graph.Column, r int) error {
	if r >= c.Rows {
		return fmt.Errorf("column %q: found a request for row %d, expected less than %d", c.Name, r, c.Rows)
	}
	from, to, k := uint64(r), uint64(r)+1, 0
	bad := func() error {
		return fmt.Errorf("column %q: found offsets that do not lead to the values of row %d; graphmill verify names the damage", c.Name, r)
	}
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*uint64(d), to*uint64(d)
			continue
		}
		if k == len(c.Offsets) || to >= uint64(c.Offsets[k].Len()) {
			return bad()
		}
		x := c.Offsets[k]
		for i := from; i < to; i++ {
			if x.At(int(i)) > x.At(int(i)+1) {
				return bad()
			}
		}
		from, to = x.At(int(from)), x.At(int(to))
		k++
	}
	if c.DType != graph.String {
		if to > uint64(len(c.Values)/c.DType.Size()) {
			return bad()
		}
		return nil
	}
	if to >= uint64(c.StringOffsets.Len()) {
		return bad()
	}
	for i := from; i < to; i++ {
		if c.StringOffsets.At(int(i)) > c.StringOffsets.At(int(i)+1) || c.StringOffsets.At(int(i)+1) > uint64(len(c.Values)) {
			return bad()
		}
	}
	return nil
}
