package unigraph

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/csvtext"
)

// appendHeader writes the names of the columns as a line.
func appendHeader(b []byte, columns []tableColumn) []byte {
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = csvtext.AppendField(b, []byte(c.Name))
	}
	return append(b, '\n')
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
				b = csvtext.AppendNumber(b, c.DType, c.Values, r)
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
				b = csvtext.AppendField(b, c.Text(r))
				continue
			case !quotes:
				return b, e.w.inexpressible(first+uint64(r), i, "a string with both kinds of quotes in a vector", "one kind at most, as vectors in a CSV cell have no escapes; write tfrecord or parquet")
			}
			e.raw = appendList(e.raw[:0], c, 0, 0, r, r+1)
			b = csvtext.AppendField(b, e.raw)
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
				b = csvtext.AppendNumber(b, c.DType, c.Values, i)
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
