package graphar

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
)

// column is a column to write.
type column struct {
	field parquet.Field
	typ   string // of GraphAr
	of    string // for errors
	rows  func(from, to int) (parquet.Rows, error)
}

// numbers is a column of int64 that a function makes.
func numbers(name string, _ int, value func(row int) int64) *column {
	return &column{field: parquet.Field{Name: name, Type: parquet.Int64}, typ: "int64", of: name, rows: func(from, to int) (parquet.Rows, error) {
		r := parquet.Rows{N: to - from}
		for row := from; row < to; row++ {
			r.Data = binary.LittleEndian.AppendUint64(r.Data, uint64(value(row)))
		}
		return r, nil
	}}
}

// columns are those that fit into GraphAr.
func (x *exporter) columns(owner string, all []*graph.Column) (out []*column) {
	for _, c := range all {
		if blank.Told(c, all, indices(c.Rows)) {
			continue // the nulls of its column tell the same
		}
		if k, ok := x.column(owner, c, all); ok {
			out = append(out, k)
		} else {
			x.r.Left = append(x.r.Left, owner+"."+c.Name)
		}
	}
	return out
}

// indices are the rows of a column.
func indices(rows int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for row := range rows {
			if !yield(row) {
				return
			}
		}
	}
}

// written is how a dtype is written: as a type of Parquet and of GraphAr.
var written = map[graph.DType]struct {
	typ  parquet.Type
	name string
}{
	graph.Bool: {parquet.Bool, "bool"}, graph.String: {parquet.Bytes, "string"},
	graph.Int8: {parquet.Int32, "int32"}, graph.Int16: {parquet.Int32, "int32"}, graph.Int32: {parquet.Int32, "int32"}, graph.Uint8: {parquet.Int32, "int32"}, graph.Uint16: {parquet.Int32, "int32"},
	graph.Uint32: {parquet.Int64, "int64"}, graph.Int64: {parquet.Int64, "int64"}, graph.Uint64: {parquet.Int64, "int64"},
	graph.Float32: {parquet.Float32, "float"}, graph.Float64: {parquet.Float64, "double"},
}

// column makes a column; false: it does not fit.
func (x *exporter) column(owner string, c *graph.Column, all []*graph.Column) (*column, bool) {
	w, ok := written[c.DType]
	if !ok || len(c.Shape) > 1 || len(c.Shape) == 1 && (c.Unit != "" || c.Categories != nil || c.DType == graph.Bool) {
		return nil, false
	}
	k := &column{field: parquet.Field{Name: c.Name, Type: w.typ}, typ: w.name, of: owner + "." + c.Name}
	switch {
	case c.Categories != nil:
		k.field.Type, k.field.Nullable, k.typ = parquet.Bytes, true, "string"
	case c.Unit == graph.Seconds || c.Unit == graph.Milliseconds:
		k.field.Unit, k.field.Nullable, k.typ = "ms", true, "timestamp"
	case c.Unit != "":
		k.field.Nullable = true
		x.r.Changed = append(x.r.Changed, fmt.Sprintf("%s, times in %s, as int64", k.of, c.Unit))
	case len(c.Shape) == 1:
		k.field.Lists, k.typ = 1, "list<"+w.name+">"
	}
	rows := blank.Of(c, all)
	if rows.Marked() {
		k.field.Nullable = true
	}
	if k.typ != "string" && k.typ != "timestamp" && rows.Any(c.Rows) {
		x.r.Nulls = append(x.r.Nulls, k.of)
	}
	k.rows = func(from, to int) (parquet.Rows, error) {
		r, err := rowsOf(c, from, to)
		if err == nil && rows.Marked() {
			markNulls(&r, rows, from)
		}
		return r, err
	}
	return k, true
}

// markNulls makes rows without a value null, whose numbers package parquet wants as 0.
func markNulls(r *parquet.Rows, rows blank.Rows, from int) {
	r.Null = make([]bool, r.N)
	for i := range r.Null {
		if r.Null[i] = rows.Has(from + i); r.Null[i] && r.Ends == nil {
			size := len(r.Data) / r.N
			clear(r.Data[i*size : (i+1)*size])
		}
	}
}

// rowsOf are rows of a column as Parquet takes them.
func rowsOf(c *graph.Column, from, to int) (r parquet.Rows, err error) {
	r.N = to - from
	first, last := c.Span(from, to)
	if len(c.Shape) == 1 {
		lengths := make([]uint32, 0, r.N)
		for row := from; row < to; row++ {
			a, b := c.Span(row, row+1)
			lengths = append(lengths, uint32(b-a))
		}
		r.Lengths = [][]uint32{lengths}
	}
	if c.DType == graph.String {
		for i := first; i < last; i++ {
			r.Data = append(r.Data, c.Text(i)...)
			r.Ends = append(r.Ends, uint32(len(r.Data)))
		}
		return r, nil
	}
	if c.Categories != nil {
		for _, code := range graph.View[int32](c.Values)[first:last] {
			r.Null = append(r.Null, code < 0)
			if code >= 0 {
				r.Data = append(r.Data, c.Categories.Text(int(code))...)
			}
			r.Ends = append(r.Ends, uint32(len(r.Data)))
		}
		return r, nil
	}
	if c.Unit != "" {
		return timesOf(c, first, last)
	}
	size := c.DType.Size()
	for _, b := range slices.Collect(slices.Chunk(c.Values[first*size:last*size], size)) {
		switch c.DType {
		case graph.Int8:
			r.Data = binary.LittleEndian.AppendUint32(r.Data, uint32(int32(int8(b[0]))))
		case graph.Uint8:
			r.Data = binary.LittleEndian.AppendUint32(r.Data, uint32(b[0]))
		case graph.Int16:
			r.Data = binary.LittleEndian.AppendUint32(r.Data, uint32(int32(int16(binary.LittleEndian.Uint16(b)))))
		case graph.Uint16:
			r.Data = binary.LittleEndian.AppendUint32(r.Data, uint32(binary.LittleEndian.Uint16(b)))
		case graph.Uint32:
			r.Data = binary.LittleEndian.AppendUint64(r.Data, uint64(binary.LittleEndian.Uint32(b)))
		case graph.Uint64:
			if v := binary.LittleEndian.Uint64(b); v > math.MaxInt64 {
				return r, fmt.Errorf("found %d, expected at most %d, as GraphAr has no uint64; leave the column out", v, math.MaxInt64)
			}
			r.Data = append(r.Data, b...)
		default:
			r.Data = append(r.Data, b...)
		}
	}
	return r, nil
}

// timesOf are times, of which those in seconds become milliseconds.
func timesOf(c *graph.Column, first, last int) (r parquet.Rows, err error) {
	r.N = last - first
	for _, v := range graph.View[int64](c.Values)[first:last] {
		missing := v == graph.NoTime
		r.Null = append(r.Null, missing)
		switch {
		case missing:
			v = 0
		case c.Unit == graph.Seconds && (v > math.MaxInt64/1000 || v < math.MinInt64/1000):
			return r, fmt.Errorf("found a time of %d seconds, which 64 bits do not hold in milliseconds, expected one within 292 million years; correct the time", v)
		case c.Unit == graph.Seconds:
			v *= 1000
		}
		r.Data = binary.LittleEndian.AppendUint64(r.Data, uint64(v))
	}
	return r, nil
}
