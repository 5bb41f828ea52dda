package unigraph

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// appendHeader writes the names of the columns as a line.
func appendHeader(b []byte, columns []tableColumn) []byte {
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, []byte(c.Name))
	}
	return append(b, '\n')
}

// quoted are the bytes that require a field to be in quotes. They include all possible delimiters, since a reader
// guesses the delimiter from the first line.
var quoted = [256]bool{'"': true, ',': true, '\r': true, '\n': true, '\t': true, ';': true, '|': true}

// appendField writes a field as in RFC 4180: in quotes if necessary. An empty field gets quotes too, so that a line
// of one empty field is not an empty line.
func appendField(b, text []byte) []byte {
	if len(text) > 0 && !slices.ContainsFunc(text, func(c byte) bool { return quoted[c] }) {
		return append(b, text...)
	}
	b = append(b, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		b = append(append(b, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(b, text...), '"')
}

// lines appends rows as lines of a CSV file.
func (e *encoder) lines(b []byte, first uint64, from, to int) ([]byte, error) {
	for r := from; r < to; r++ {
		for i := range e.cols {
			c := &e.cols[i]
			if i > 0 {
				b = append(b, ',')
			}
			if len(c.Shape) == 0 && c.DType != graph.String {
				b = appendNumber(b, c, r)
				continue
			}
			a, z := c.Span(r, r+1)
			quotes := true
			for v := a; c.DType == graph.String && v < z; v++ {
				text := c.Text(v)
				if !utf8.Valid(text) {
					return b, e.w.inexpressible(first+uint64(r), i, strconv.Quote(string(text[:min(len(text), 40)])), "UTF-8, as a CSV file is; write tfrecord or parquet")
				}
				quotes = quotes && (bytes.IndexByte(text, '"') < 0 || bytes.IndexByte(text, '\'') < 0)
			}
			switch {
			case len(c.Shape) == 0:
				b = appendField(b, c.Text(r))
				continue
			case !quotes:
				return b, e.w.inexpressible(first+uint64(r), i, "a string with both kinds of quotes in a vector", "one kind at most, as vectors in a CSV cell have no escapes; write tfrecord or parquet")
			}
			e.raw = appendList(e.raw[:0], c, 0, 0, r, r+1)
			b = appendField(b, e.raw)
		}
		b = append(b, '\n')
	}
	return b, nil
}

// appendList writes the elements [from, to) of dimension dim of a column, whose next variable dimension is number k.
// Each row of a dimension is in brackets, except the rows of a single dimension of numbers.
func appendList(b []byte, c *graph.Column, dim, k, from, to int) []byte {
	if dim == len(c.Shape) {
		for i := from; i < to; i++ {
			if i > from {
				b = append(b, ' ')
			}
			if c.DType != graph.String {
				b = appendNumber(b, c, i)
				continue
			}
			if i > from {
				b[len(b)-1] = ','
			}
			text := c.Text(i)
			quote := byte('\'')
			if slices.Contains(text, quote) {
				quote = '"'
			}
			b = append(append(append(b, quote), text...), quote)
		}
		return b
	}
	bare := len(c.Shape) == 1 && c.DType != graph.String
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ' ')
		}
		if !bare {
			b = append(b, '[')
		}
		if d := c.Shape[dim]; d >= 0 {
			b = appendList(b, c, dim+1, k, i*d, (i+1)*d)
		} else {
			b = appendList(b, c, dim+1, k+1, int(c.Offsets[k].At(i)), int(c.Offsets[k].At(i+1)))
		}
		if !bare {
			b = append(b, ']')
		}
	}
	return b
}

// appendNumber writes value i of a column of numbers as the shortest text that reads back as the same number.
func appendNumber(b []byte, c *graph.Column, i int) []byte {
	v, le := c.Values, binary.LittleEndian
	switch c.DType {
	case graph.Bool, graph.Uint8:
		return strconv.AppendUint(b, uint64(v[i]), 10)
	case graph.Int8:
		return strconv.AppendInt(b, int64(int8(v[i])), 10)
	case graph.Int16:
		return strconv.AppendInt(b, int64(int16(le.Uint16(v[2*i:]))), 10)
	case graph.Uint16:
		return strconv.AppendUint(b, uint64(le.Uint16(v[2*i:])), 10)
	case graph.Int32:
		return strconv.AppendInt(b, int64(int32(le.Uint32(v[4*i:]))), 10)
	case graph.Uint32:
		return strconv.AppendUint(b, uint64(le.Uint32(v[4*i:])), 10)
	case graph.Int64:
		return strconv.AppendInt(b, int64(le.Uint64(v[8*i:])), 10)
	case graph.Uint64:
		return strconv.AppendUint(b, le.Uint64(v[8*i:]), 10)
	case graph.Float16:
		return appendFloat(b, float64(example.Float16(le.Uint16(v[2*i:]))), 32)
	case graph.BFloat16:
		return appendFloat(b, float64(example.BFloat16(le.Uint16(v[2*i:]))), 32)
	case graph.Float32:
		return appendFloat(b, float64(math.Float32frombits(le.Uint32(v[4*i:]))), 32)
	}
	return appendFloat(b, math.Float64frombits(le.Uint64(v[8*i:])), 64)
}

// appendFloat writes a float, with nan and inf as in NumPy and Python.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}
