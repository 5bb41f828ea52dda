// Package csvtext appends fields of CSV files: texts in quotes where they need them, and numbers that keep their digits.
package csvtext

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// quoted are the bytes that require a field to be in quotes. They include all possible delimiters, since a reader
// guesses the delimiter from the first line.
var quoted = [256]bool{'"': true, ',': true, '\r': true, '\n': true, '\t': true, ';': true, '|': true}

// AppendField appends a field as in RFC 4180: in quotes if necessary. An empty field gets quotes too, so that a line
// of one empty field is not an empty line.
func AppendField(b, text []byte) []byte {
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

// AppendNumber appends number i of the values v as the shortest text that reads back as the same number. A bool is 1 or 0.
func AppendNumber(b []byte, d graph.DType, v []byte, i int) []byte {
	le := binary.LittleEndian
	switch d {
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
