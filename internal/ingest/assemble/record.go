package assemble

import (
	"encoding/binary"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// layout is the form of the records of edges in buckets:
//
//	near, far, seq (uint32, or uint64 if wide)
//	the columns of fixed size
//	if there are variable columns: uint32 n, and n bytes of them
//
// seq numbers the edges in input order.
type layout struct {
	wide     bool
	head     int // bytes of near, far and seq
	fixed    int // bytes before the variable part's length
	cols     []column
	variable bool
}

// column is a column of records.
type column struct {
	table.Column
	at    int // offset in the record, of a fixed column
	width int // bytes; 0: variable
}

func newLayout(wide bool, cols []table.Column) layout {
	l := layout{wide: wide, head: 12}
	if wide {
		l.head = 24
	}
	l.fixed = l.head
	for _, c := range cols {
		x := column{Column: c}
		if isVariable(&c) {
			l.variable = true
		} else {
			x.at, x.width = l.fixed, rowBytes(&c)
			l.fixed += x.width
		}
		l.cols = append(l.cols, x)
	}
	return l
}

// least returns the minimum size of a record.
func (l *layout) least() int {
	if l.variable {
		return l.fixed + 4
	}
	return l.fixed
}

// plain says whether records are three 32-bit numbers and nothing else.
func (l *layout) plain() bool { return !l.wide && len(l.cols) == 0 }

// codec returns the codec that packs extents of the records, or nil.
func (l *layout) codec() *extsort.Codec {
	switch {
	case len(l.cols) > 0:
		return nil
	case l.wide:
		return packedWide
	}
	return packedEdges
}

// put writes near, far and seq of a record.
func (l *layout) put(rec []byte, near, far, seq uint64) {
	if l.wide {
		_ = rec[23]
		binary.LittleEndian.PutUint64(rec, near)
		binary.LittleEndian.PutUint64(rec[8:], far)
		binary.LittleEndian.PutUint64(rec[16:], seq)
		return
	}
	_ = rec[11]
	binary.LittleEndian.PutUint32(rec, uint32(near))
	binary.LittleEndian.PutUint32(rec[4:], uint32(far))
	binary.LittleEndian.PutUint32(rec[8:], uint32(seq))
}

// get reads near, far and seq of a record.
func (l *layout) get(rec []byte) (near, far, seq uint64) {
	if l.wide {
		_ = rec[23]
		return binary.LittleEndian.Uint64(rec), binary.LittleEndian.Uint64(rec[8:]), binary.LittleEndian.Uint64(rec[16:])
	}
	_ = rec[11]
	return uint64(binary.LittleEndian.Uint32(rec)), uint64(binary.LittleEndian.Uint32(rec[4:])), uint64(binary.LittleEndian.Uint32(rec[8:]))
}

func (l *layout) near(rec []byte) uint64 {
	if l.wide {
		return binary.LittleEndian.Uint64(rec)
	}
	return uint64(binary.LittleEndian.Uint32(rec))
}

func (l *layout) seq(rec []byte) uint64 {
	if l.wide {
		return binary.LittleEndian.Uint64(rec[16:])
	}
	return uint64(binary.LittleEndian.Uint32(rec[8:]))
}

// size returns the size of the record at the start of b.
func (l *layout) size(b []byte) int {
	if !l.variable {
		return l.fixed
	}
	return l.fixed + 4 + int(binary.LittleEndian.Uint32(b[l.fixed:]))
}

// cursor visits the rows of a variable column of a chunk.
type cursor struct {
	*table.Vector
	shape []int
	size  int   // bytes of a number; 0: strings
	value int   // index of the next value
	at    int   // offset of the next byte in Data
	rows  []int // per variable dimension: index of the next length
}

func newCursor(c *table.Column, v *table.Vector) cursor {
	return cursor{Vector: v, shape: c.Shape, size: c.DType.Size(), rows: make([]int, dimensions(c))}
}

// blob appends the next row in the form that records carry: the lengths of the variable dimensions, the end of each
// string counted from the row's first byte, and the bytes.
func (c *cursor) blob(b []byte) []byte {
	n, k := 1, 0
	for _, d := range c.shape {
		if d > 0 {
			n *= d
			continue
		}
		from := c.rows[k]
		c.rows[k] += n
		n = 0
		for _, length := range c.Lengths[k][from:c.rows[k]] {
			b = binary.LittleEndian.AppendUint32(b, length)
			n += int(length)
		}
		k++
	}
	from, first := c.at, c.value
	c.value += n
	if c.size > 0 {
		c.at += n * c.size
	} else if n > 0 {
		c.at = int(c.Ends[c.value-1])
		for _, e := range c.Ends[first:c.value] {
			b = binary.LittleEndian.AppendUint32(b, e-uint32(from))
		}
	}
	return append(b, c.Data[from:c.at]...)
}

// unblob appends a row that blob wrote to the vector v, and returns the bytes after it.
func unblob(b []byte, c *table.Column, v *table.Vector) []byte {
	if len(v.Lengths) == 0 {
		v.Lengths = make([][]uint32, dimensions(c))
	}
	values, k := 1, 0
	for _, d := range c.Shape {
		if d > 0 {
			values *= d
			continue
		}
		rows := values
		values = 0
		for range rows {
			n := binary.LittleEndian.Uint32(b)
			b = b[4:]
			v.Lengths[k] = append(v.Lengths[k], n)
			values += int(n)
		}
		k++
	}
	size := values * c.DType.Size()
	if c.DType == graph.String {
		from := uint32(len(v.Data))
		size = 0
		for range values {
			size = int(binary.LittleEndian.Uint32(b))
			v.Ends = append(v.Ends, from+uint32(size))
			b = b[4:]
		}
	}
	v.Data = append(v.Data, b[:size]...)
	return b[size:]
}

// skip returns the bytes after the row of column c at the start of b.
func skip(b []byte, c *table.Column) []byte {
	values := 1
	for _, d := range c.Shape {
		if d > 0 {
			values *= d
			continue
		}
		rows := values
		values = 0
		for range rows {
			values += int(binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
	}
	if c.DType != graph.String {
		return b[values*c.DType.Size():]
	}
	if values == 0 {
		return b
	}
	size := binary.LittleEndian.Uint32(b[4*(values-1):])
	return b[4*values+int(size):]
}

// whole says whether the variable part of a record holds a row of each variable column, and nothing else.
func (l *layout) whole(rec []byte) bool {
	if !l.variable {
		return true
	}
	if len(rec) < l.least() {
		return false
	}
	b := rec[l.fixed+4:]
	for i := range l.cols {
		if l.cols[i].width > 0 {
			continue
		}
		size, ok := blobSize(b, &l.cols[i].Column)
		if !ok {
			return false
		}
		b = b[size:]
	}
	return len(b) == 0
}

// blobSize is the number of bytes of the row of column c at the start of b, and false if b has no such row.
func blobSize(b []byte, c *table.Column) (int, bool) {
	values, at := 1, 0
	for _, d := range c.Shape {
		if d > 0 {
			values *= d
			continue
		}
		rows := values
		values = 0
		if rows > (len(b)-at)/4 {
			return 0, false
		}
		for range rows {
			values += int(binary.LittleEndian.Uint32(b[at:]))
			at += 4
		}
		if values > len(b)-at { // each takes a byte or more
			return 0, false
		}
	}
	if c.DType != graph.String {
		size := values * c.DType.Size()
		return at + size, size <= len(b)-at
	}
	if values > (len(b)-at)/4 {
		return 0, false
	}
	size := uint32(0)
	for range values {
		end := binary.LittleEndian.Uint32(b[at:])
		if end < size {
			return 0, false
		}
		size = end
		at += 4
	}
	return at + int(size), int(size) <= len(b)-at
}

// empty removes all rows from a vector and keeps its memory.
func empty(v *table.Vector) {
	v.Data, v.Ends = v.Data[:0], v.Ends[:0]
	for k := range v.Lengths {
		v.Lengths[k] = v.Lengths[k][:0]
	}
}

// u64s returns a view of the values of an id column of numbers.
func u64s(b []byte) []uint64 {
	if len(b) < 8 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}
