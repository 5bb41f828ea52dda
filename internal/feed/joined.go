package feed

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
)

// Joined is columns of a type that batches have side by side, as one column. Its rows are the values of all columns in their
// order, flat. It has the dtype of the columns if they share one; else float64 if one of them has it, and float32 if not.
type Joined struct {
	// Type is a node type, or an edge type as "src:rel:dst".
	Type, Name string
	Columns    []string
}

// joined writes the rows of a joined column: from a table that has them side by side, once there is one, or else column by
// column.
type joined struct {
	rows, width int // of the table; bytes per row
	parts       []func(dst []byte, rows graph.Index)
	whole       atomic.Pointer[[]byte]
}

func (j *joined) write(dst []byte, rows graph.Index) {
	if whole := j.whole.Load(); whole != nil {
		gatherAway(dst, *whole, j.width, rows)
		return
	}
	for _, part := range j.parts {
		part(dst, rows)
	}
}

// load makes the table, up to the given number of bytes, until ctx ends. It returns its size, and how to free it.
func (j *joined) load(ctx context.Context, memory int64) (int64, func()) {
	const part = 1 << 14
	size := int64(j.rows) * int64(j.width)
	if size == 0 || size > memory {
		return 0, nil
	}
	to, free, err := direct.Array[byte](int(size))
	if err != nil {
		return 0, nil // rows are found column by column
	}
	rows := make([]uint64, 0, part)
	err = guard.Do(func() error {
		for first := 0; first < j.rows && ctx.Err() == nil; first += part {
			rows = rows[:0]
			for r := first; r < min(first+part, j.rows); r++ {
				rows = append(rows, uint64(r))
			}
			for _, p := range j.parts {
				p(to[first*j.width:(first+len(rows))*j.width], graph.Index{U64: rows})
			}
		}
		return ctx.Err()
	})
	if err == nil {
		j.whole.Store(&to)
	}
	return size, free
}

// joinedOf is the column that j names, below at, of a type with the given columns and number of rows.
func joinedOf(tabs *tables, at string, j Joined, columns []*graph.Column, count int, ids func(*made) graph.Index, most func(*bounds) int64) (column, error) {
	var from []*graph.Column
	dtype, values := graph.Invalid, 0
	for _, name := range j.Columns {
		c := graph.FindColumn(columns, name)
		switch {
		case c == nil:
			return column{}, fmt.Errorf("found no column %q of %s to join, expected one of %s; name one of these, or import the column", name, j.Type, columnNames(columns))
		case c.DType == graph.String || c.Ragged():
			return column{}, fmt.Errorf("column %q of %s: found %s rows of shape %v, expected numbers of a fixed shape to join; import it with a dtype and shape such as float32[3], or texts as categories", name, j.Type, c.DType, c.Shape)
		case c.Categories != nil:
			return column{}, fmt.Errorf("column %q of %s: found categories, whose codes are no quantities, expected numbers to join; take it as a column of its own", name, j.Type)
		case c.Unit != "":
			return column{}, fmt.Errorf("column %q of %s: found times, expected numbers to join; take it as a column of its own", name, j.Type)
		case len(from) == 0 || dtype == c.DType:
			dtype = c.DType
		case dtype == graph.Float64 || c.DType == graph.Float64:
			dtype = graph.Float64
		default:
			dtype = graph.Float32
		}
		from = append(from, c)
		values += c.RowValues()
	}
	if len(from) == 0 {
		return column{}, fmt.Errorf("found no columns of %s to join, expected at least one", j.Type)
	}
	// Three dtypes of which the last is the common one of the first two must not depend on their order.
	for _, c := range from {
		if c.DType != dtype && dtype != graph.Float64 {
			dtype = graph.Float32
		}
	}
	out := &joined{rows: count, width: values * dtype.Size()}
	offset := 0
	for _, c := range from {
		out.parts = append(out.parts, partOf(c, dtype, offset, values))
		offset += c.RowValues()
	}
	if len(from) > 1 {
		tabs.joined = append(tabs.joined, out)
	} else {
		tab := tabs.of(from[0].Values)
		out.parts[0] = func(dst []byte, rows graph.Index) { gatherAway(dst, tab.values(), out.width, rows) }
	}
	return column{ColumnInfo{Name: at + "x/" + Escaped(j.Name), DType: dtype.String(), Shape: []int{values}}, out.width,
		func(m *made) int { return ids(m).Len() },
		func(dst []byte, m *made) { out.write(dst, ids(m)) }, most,
	}, nil
}

// partOf writes the rows of a column as values of a dtype, from a value on, into rows of the given number of values.
func partOf(c *graph.Column, dtype graph.DType, at, values int) func(dst []byte, rows graph.Index) {
	switch {
	case c.DType == dtype:
		size, width := dtype.Size(), c.RowBytes()
		return func(dst []byte, rows graph.Index) {
			for i := range rows.Len() {
				copy(dst[(i*values+at)*size:][:width], c.Values[int(rows.At(i))*width:])
			}
		}
	case dtype == graph.Float64:
		return converted[float64](c, at, values)
	}
	return converted[float32](c, at, values)
}

func converted[D float32 | float64](c *graph.Column, at, values int) func(dst []byte, rows graph.Index) {
	switch c.DType {
	case graph.Bool, graph.Uint8:
		return spread(c, at, values, func(x uint8) D { return D(x) })
	case graph.Int8:
		return spread(c, at, values, func(x int8) D { return D(x) })
	case graph.Int16:
		return spread(c, at, values, func(x int16) D { return D(x) })
	case graph.Int32:
		return spread(c, at, values, func(x int32) D { return D(x) })
	case graph.Int64:
		return spread(c, at, values, func(x int64) D { return D(x) })
	case graph.Uint16:
		return spread(c, at, values, func(x uint16) D { return D(x) })
	case graph.Uint32:
		return spread(c, at, values, func(x uint32) D { return D(x) })
	case graph.Uint64:
		return spread(c, at, values, func(x uint64) D { return D(x) })
	case graph.Float16:
		return spread(c, at, values, func(x uint16) D { return D(half(x)) })
	case graph.BFloat16:
		return spread(c, at, values, func(x uint16) D { return D(math.Float32frombits(uint32(x) << 16)) })
	case graph.Float64:
		return spread(c, at, values, func(x float64) D { return D(x) })
	}
	return spread(c, at, values, func(x float32) D { return D(x) })
}

func spread[S graph.Numbers, D float32 | float64](c *graph.Column, at, values int, convert func(S) D) func(dst []byte, rows graph.Index) {
	src, width := graph.View[S](c.Values), c.RowValues()
	return func(dst []byte, rows graph.Index) {
		to := graph.View[D](dst)
		for i := range rows.Len() {
			for k, x := range src[int(rows.At(i))*width:][:width] {
				to[i*values+at+k] = convert(x)
			}
		}
	}
}

// half is the value of the bits of a float16.
func half(x uint16) float32 {
	sign, exponent, fraction := uint32(x>>15)<<31, uint32(x>>10&31), uint32(x&1023)
	switch exponent {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
