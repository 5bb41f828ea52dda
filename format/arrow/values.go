package arrow

import (
	"encoding/binary"
	"math"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/decimal"
)

// values appends the values of k rows, and zeros, empty strings or empty lists for those that are null. It marks rows whose
// value in a dictionary is null.
func (c *cursor) values(k int, out *parquet.Rows, level int, pass bool) error {
	n := c.n
	switch {
	case n.layout == layoutNull:
		for i := range c.null {
			c.null[i] = true
		}
		out.Data = append(out.Data, make([]byte, k)...)
	case n.layout == layoutBits:
		one := make([]bool, k)
		if err := c.bits.next(one, 1); err != nil {
			return err
		}
		for i, v := range one {
			x := byte(0)
			if v && !c.null[i] {
				x = 1
			}
			out.Data = append(out.Data, x)
		}
	case n.layout == layoutFixed:
		b, err := c.data.next(k * n.size)
		if err != nil {
			return err
		}
		if n.values != nil {
			return c.look(b, out)
		}
		c.fixed(b, out)
	case n.layout == layoutList, n.layout == layoutSized:
		return c.lists(k, out, level, pass)
	default:
		return c.strings(k, out)
	}
	return nil
}

// fixed appends values of a fixed size.
func (c *cursor) fixed(b []byte, out *parquet.Rows) {
	n, le := c.n, binary.LittleEndian
	start := len(out.Data)
	switch {
	case n.convert == convertBytes:
		for i := range c.null {
			if !c.null[i] {
				out.Data = append(out.Data, b[i*n.size:(i+1)*n.size]...)
			}
			out.Ends = append(out.Ends, uint32(len(out.Data)))
		}
		return
	case n.convert == convertDigits:
		var big [32]byte
		for i := range c.null {
			if !c.null[i] {
				out.Data = decimal.Digits(out.Data, reversed(&big, b[i*n.size:(i+1)*n.size]))
			}
			out.Ends = append(out.Ends, uint32(len(out.Data)))
		}
		return
	case n.convert == convertDays:
		for ; len(b) > 0; b = b[4:] {
			out.Data = le.AppendUint64(out.Data, uint64(signed(b[:4])*86400))
		}
	case n.convert == convertDecimal || n.convert == convertWhole:
		var big [32]byte
		for ; len(b) > 0; b = b[n.size:] {
			reversed(&big, b[:n.size])
			if n.convert == convertDecimal {
				out.Data = le.AppendUint64(out.Data, math.Float64bits(decimal.Float64(big[:n.size], n.scale)))
			} else {
				v, _ := decimal.Int64(big[:n.size]) // at most 18 digits
				out.Data = le.AppendUint64(out.Data, uint64(v))
			}
		}
	case n.size == n.width:
		out.Data = append(out.Data, b...)
	default: // integers of 8 and 16 bits
		for ; len(b) > 0; b = b[n.size:] {
			v := uint32(signed(b[:n.size]))
			if n.typ >= parquet.Uint8 {
				v &= 1<<(8*n.size) - 1
			}
			out.Data = le.AppendUint32(out.Data, v)
		}
	}
	if c.valid != nil {
		for i, null := range c.null {
			if null {
				clear(out.Data[start+i*n.width : start+(i+1)*n.width])
			}
		}
	}
}

// reversed returns the bytes of a decimal with the highest first.
func reversed(big *[32]byte, b []byte) []byte {
	for i, x := range b {
		big[len(b)-1-i] = x
	}
	return big[:len(b)]
}

// look appends the values of a dictionary that indices refer to.
func (c *cursor) look(b []byte, out *parquet.Rows) error {
	n, d := c.n, c.dict
	for i := range c.null {
		v := uint64(signed(b[i*n.size : (i+1)*n.size]))
		if n.unsigned && n.size < 8 {
			v &= 1<<(8*n.size) - 1
		}
		switch {
		case c.null[i]:
		case v >= uint64(d.rows.N):
			return corruptf("found index %d, expected one below %d, the number of values of the dictionary; the file is damaged", int64(v), d.rows.N)
		case d.rows.Null != nil && d.rows.Null[v]:
			c.null[i] = true
		case n.width == 0:
			start := uint32(0)
			if v > 0 {
				start = d.rows.Ends[v-1]
			}
			out.Data = append(out.Data, d.rows.Data[start:d.rows.Ends[v]]...)
		default:
			out.Data = append(out.Data, d.rows.Data[int(v)*n.width:int(v+1)*n.width]...)
		}
		if n.width == 0 {
			out.Ends = append(out.Ends, uint32(len(out.Data)))
		} else if c.null[i] {
			out.Data = append(out.Data, make([]byte, n.width)...)
		}
	}
	return nil
}

// strings appends byte strings.
func (c *cursor) strings(k int, out *parquet.Rows) error {
	if err := c.peek(k); err != nil {
		return err
	}
	for i := range k {
		size := c.length(i)
		if size < 0 || size > maxRow {
			return unsupportedf("found a string of %d bytes, expected at most %d", size, maxRow)
		}
		var text []byte
		var err error
		if c.n.layout == layoutView {
			if !c.null[i] {
				text, err = c.view(c.views[16*i:16*i+16], int(size))
			}
		} else {
			text, err = c.data.next(int(size))
		}
		if err != nil {
			return err
		}
		if !c.null[i] {
			out.Data = append(out.Data, text...)
		}
		out.Ends = append(out.Ends, uint32(len(out.Data)))
	}
	c.drop(k)
	return nil
}

// view returns the bytes of a view.
func (c *cursor) view(v []byte, size int) ([]byte, error) {
	if size <= 12 {
		return v[4 : 4+size], nil
	}
	i, at := binary.LittleEndian.Uint32(v[8:]), binary.LittleEndian.Uint32(v[12:])
	if uint64(i) >= uint64(len(c.texts)) || uint64(at)+uint64(size) > uint64(len(c.texts[i])) {
		return nil, corruptf("found a string of %d bytes at byte %d of buffer %d, expected one within %d buffers; the file is damaged", size, at, i, len(c.texts))
	}
	return c.texts[i][at : int(at)+size], nil
}

// lists appends the lengths of k lists, and their elements.
func (c *cursor) lists(k int, out *parquet.Rows, level int, pass bool) error {
	if c.n.layout == layoutList {
		if err := c.peek(k); err != nil {
			return err
		}
	}
	for len(out.Lengths) <= level && !pass {
		out.Lengths = append(out.Lengths, nil)
	}
	run := int64(0) // elements of rows that are not null
	for i := range k {
		size := int64(c.n.size)
		if c.n.layout == layoutList {
			size = c.length(i)
		}
		if size > maxRowLevels {
			return unsupportedf("found a list of %d elements, expected at most %d", size, maxRowLevels)
		}
		length := uint32(size)
		if c.null[i] {
			length = 0
			err := c.elements(run, out, level, pass)
			if err == nil {
				err = c.child.pass(size)
			}
			if err != nil {
				return err
			}
			run = 0
		} else {
			run += size
		}
		if !pass {
			out.Lengths[level] = append(out.Lengths[level], length)
		}
	}
	if c.n.layout == layoutList {
		c.drop(k)
	}
	return c.elements(run, out, level, pass)
}

// elements appends elements of lists.
func (c *cursor) elements(n int64, out *parquet.Rows, level int, pass bool) error {
	if pass {
		return c.child.pass(n)
	}
	start := len(out.Data)
	for n > 0 {
		k, err := c.child.room(int(min(n, 1<<14)), ahead)
		if err == nil {
			err = c.child.take(k, out, level+1, false)
		}
		if err != nil {
			return err
		}
		if len(out.Data)-start > maxRow {
			return unsupportedf("found lists of more than %d bytes, expected fewer", maxRow)
		}
		n -= int64(k)
	}
	return nil
}
