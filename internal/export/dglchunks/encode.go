package dglchunks

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
)

// encoder holds the buffers of a worker.
type encoder struct {
	pages  *parquet.PageEncoder // nil before the first page
	values []byte
	column []byte
	wide   []byte
	order  []int // offsets of records in sorted order
	counts []int32
}

// encode makes segments of rows and appends them to out. first is the number of the first row in the type. data holds
// the values in the column's dtype.
func (e *encoder) encode(s *series, first uint64, rows int, data []byte, out []segment) ([]segment, error) {
	if s.column != nil && s.column.DType != s.dtype {
		var bad int
		if e.wide, bad = widen(e.wide[:0], data, s.column.DType); bad >= 0 {
			return out, fmt.Errorf("%s: row %d: %w", s.of, first+uint64(bad/s.values()), errOver)
		}
		data = e.wide
	}
	// Find the chunk of the first row, and the rows left in it.
	var chunk int
	var left uint64
	for end := uint64(0); ; chunk++ {
		if end += s.chunks[chunk]; end > first {
			left = end - first
			break
		}
	}
	width := s.values() * s.dtype.Size()
	out = out[:0]
	for rows > 0 {
		n := int(min(left, uint64(rows)))
		if len(out) == cap(out) {
			out = append(out, segment{})
		} else {
			out = out[:len(out)+1]
		}
		g := &out[len(out)-1]
		g.rows, g.bytes, g.pages = n, g.bytes[:0], g.pages[:0]
		if err := e.segment(s, g, data[:n*width]); err != nil {
			return out, err
		}
		data, rows = data[n*width:], rows-n
		if chunk++; rows > 0 {
			left = s.chunks[chunk]
		}
	}
	return out, nil
}

func (e *encoder) segment(s *series, g *segment, data []byte) error {
	switch s.format {
	case dglchunks.Numpy:
		g.bytes = append(g.bytes, data...)
	case dglchunks.CSV:
		b := g.bytes
		for i := 0; i < len(data); i += 16 {
			b = strconv.AppendUint(b, binary.LittleEndian.Uint64(data[i:]), 10)
			b = append(b, delimiter[0])
			b = strconv.AppendUint(b, binary.LittleEndian.Uint64(data[i+8:]), 10)
			b = append(b, '\n')
		}
		g.bytes = b
	default:
		if e.pages == nil {
			var err error
			if e.pages, err = parquet.NewPageEncoder(); err != nil {
				return err
			}
		}
		fields := s.fields()
		ends := make([]int, len(fields))
		g.pages = slices.Grow(g.pages, len(fields))[:len(fields)]
		for k := range fields {
			r := parquet.Rows{N: g.rows, Data: e.gather(data, s.dtype, k, len(fields))}
			var err error
			if g.bytes, g.pages[k], err = e.pages.Append(g.bytes, &fields[k], &r); err != nil {
				return err
			}
			ends[k] = len(g.bytes)
		}
		from := 0
		for k, end := range ends {
			g.pages[k].Bytes = g.bytes[from:end]
			from = end
		}
	}
	return nil
}

// gather returns value k of each row of n values. Integers get at least 32 bits.
func (e *encoder) gather(data []byte, d graph.DType, k, n int) []byte {
	size := d.Size()
	e.column = e.column[:0]
	for at := k * size; at < len(data); at += n * size {
		v := data[at : at+size]
		switch d {
		case graph.Int8:
			e.column = binary.LittleEndian.AppendUint32(e.column, uint32(int8(v[0])))
		case graph.Uint8:
			e.column = binary.LittleEndian.AppendUint32(e.column, uint32(v[0]))
		default:
			e.column = append(e.column, v...)
		}
	}
	return e.column
}

// widen appends numbers in the dtype that replaces theirs. bad is the index of the first that does not fit, or -1.
func widen(b, data []byte, d graph.DType) (_ []byte, bad int) {
	le := binary.LittleEndian
	switch d {
	case graph.Bool:
		return append(b, data...), -1
	case graph.Int16:
		for i := 0; i < len(data); i += 2 {
			b = le.AppendUint32(b, uint32(int16(le.Uint16(data[i:]))))
		}
	case graph.Uint16:
		for i := 0; i < len(data); i += 2 {
			b = le.AppendUint32(b, uint32(le.Uint16(data[i:])))
		}
	case graph.Uint32:
		for i := 0; i < len(data); i += 4 {
			b = le.AppendUint64(b, uint64(le.Uint32(data[i:])))
		}
	case graph.BFloat16:
		for i := 0; i < len(data); i += 2 {
			b = le.AppendUint32(b, math.Float32bits(example.BFloat16(le.Uint16(data[i:]))))
		}
	default:
		for i := 0; i < len(data); i += 8 {
			v := le.Uint64(data[i:])
			if v > maxInt64 {
				return b, i / 8
			}
			b = le.AppendUint64(b, v)
		}
	}
	return b, -1
}
