// Package blank says which rows of a column of a store have no value: missing categories and times, and the empty cells that a column of bools
// NAME_missing marks. Exporters leave these out, or write nulls.
package blank

import (
	"bytes"
	"iter"
	"math"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
)

// Rows are the rows of a column without a value. The zero Rows has none.
type Rows struct{ column, marks *graph.Column }

// Of are the rows of a column with one value per row; of another, none. all are the columns of its type.
func Of(c *graph.Column, all []*graph.Column) Rows {
	if len(c.Shape) > 0 {
		return Rows{}
	}
	r := Rows{column: c}
	if m := graph.FindColumn(all, c.Name+features.MarkSuffix); m != nil && c.Categories == nil && c.Unit == "" && Marks(m) {
		r.marks = m
	}
	return r
}

// Marks says whether a column can mark the empty cells of another.
func Marks(c *graph.Column) bool { return c.DType == graph.Bool && len(c.Shape) == 0 }

// Marked says whether a column of bools marks the rows: their values are no sign of their own.
func (r Rows) Marked() bool { return r.marks != nil }

// Has says whether a row has no value.
func (r Rows) Has(row int) bool {
	switch c := r.column; {
	case c == nil:
		return false
	case c.Categories != nil:
		code := graph.View[int32](c.Values)[row]
		return code < 0 || int(code) >= c.Categories.Rows
	case c.Unit != "":
		return graph.View[int64](c.Values)[row] == graph.NoTime
	case r.marks == nil || r.marks.Values[row] == 0:
		return false
	case c.DType == graph.String:
		return len(c.Text(row)) == 0
	}
	size := r.column.DType.Size()
	return Empty(r.column.DType, r.column.Values[row*size:][:size])
}

// Told says whether a column only marks the rows without a value of another column of the type: a file that leaves these out, or has nulls, needs no
// marks. rows are those that the file has.
func Told(c *graph.Column, all []*graph.Column, rows iter.Seq[int]) bool {
	name, ok := strings.CutSuffix(c.Name, features.MarkSuffix)
	if !ok || !Marks(c) {
		return false
	}
	of := graph.FindColumn(all, name)
	if of == nil || len(of.Shape) > 0 {
		return false
	}
	missing := Of(of, all)
	for row := range rows {
		if (c.Values[row] != 0) != missing.Has(row) {
			return false
		}
	}
	return true
}

// Any says whether any of n rows has no value.
func (r Rows) Any(n int) bool {
	for row := range n {
		if r.Has(row) {
			return true
		}
	}
	return false
}

// Empty says whether a number has the value of an empty cell: 0, or NaN in floats.
func Empty(d graph.DType, value []byte) bool {
	switch d {
	case graph.Float16:
		return bytes.Equal(value, []byte{0x00, 0x7e})
	case graph.BFloat16:
		return bytes.Equal(value, []byte{0xc0, 0x7f})
	case graph.Float32:
		return math.IsNaN(float64(graph.View[float32](value)[0]))
	case graph.Float64:
		return math.IsNaN(graph.View[float64](value)[0])
	}
	return len(bytes.Trim(value, "\x00")) == 0
}
