package feed

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
)

// Joined is columns of a type that batches have side by side, as one column. Its rows are the values of all columns in their
// order, flat. It has the dtype of the columns if they share one; else float64 if one of them has it, and float32 if not.
type Joined struct {
	// Type is a node type, or an edge type as "src:rel:dst".
	Type, Name string
	Columns    []widening.Part
}

// Names are the names of the columns.
func (j *Joined) Names() []string {
	names := make([]string, len(j.Columns))
	for i, p := range j.Columns {
		names[i] = p.Column
	}
	return names
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
	dtype, width := graph.Invalid, 0
	for i := range j.Columns {
		p := &j.Columns[i]
		c, err := columnToJoin(columns, j.Type, p)
		if err != nil {
			return column{}, err
		}
		switch of := p.Joins(c); {
		case len(from) == 0 || dtype == of:
			dtype = of
		case dtype == graph.Float64 || of == graph.Float64:
			dtype = graph.Float64
		default:
			dtype = graph.Float32
		}
		from = append(from, c)
		width += p.Numbers(c)
	}
	if len(from) == 0 {
		return column{}, fmt.Errorf("found no columns of %s to join, expected at least one", j.Type)
	}
	// Three dtypes of which the last is the common one of the first two must not depend on their order.
	wide := false
	for i, c := range from {
		if j.Columns[i].Joins(c) != dtype && dtype != graph.Float64 {
			dtype = graph.Float32
		}
		wide = wide || j.Columns[i].Widens()
	}
	out := &joined{rows: count, width: width * dtype.Size()}
	offset := 0
	for i, c := range from {
		p := &j.Columns[i]
		values := func() []byte { return c.Values }
		if p.LowBit() { // the numbers of whole rows, for which a faster copy pays
			values = tabs.of(c.Values).values
		}
		out.parts = append(out.parts, p.Writer(c, values, tabs.numbers, widening.Place{DType: dtype, At: offset, Values: width}))
		offset += p.Numbers(c)
	}
	switch {
	case wide: // a table of all numbers is what the store avoids
	case len(from) > 1:
		tabs.joined = append(tabs.joined, out)
	default:
		tab := tabs.of(from[0].Values)
		out.parts[0] = func(dst []byte, rows graph.Index) { gatherAway(dst, tab.values(), out.width, rows) }
	}
	return column{ColumnInfo{Name: at + "x/" + Escaped(j.Name), DType: dtype.String(), Shape: []int{width}}, out.width,
		func(m *made) int { return ids(m).Len() },
		func(dst []byte, m *made) { out.write(dst, ids(m)) }, most,
	}, nil
}

// columnToJoin finds the column of a part, and refuses one whose values are no numbers.
func columnToJoin(columns []*graph.Column, typ string, p *widening.Part) (*graph.Column, error) {
	c := graph.FindColumn(columns, p.Column)
	switch {
	case c == nil:
		return nil, fmt.Errorf("found no column %q of %s to join, expected one of %s; name one of these, or import the column", p.Column, typ, columnNames(columns))
	case c.DType == graph.String || c.Ragged():
		return nil, fmt.Errorf("column %q of %s: found %s rows of shape %v, expected numbers of a fixed shape to join; import it with a dtype and shape such as float32[3], or texts as categories", p.Column, typ, c.DType, c.Shape)
	case c.Categories != nil:
		return nil, fmt.Errorf("column %q of %s: found categories, whose codes are no quantities, expected numbers to join; take it as a column of its own", p.Column, typ)
	case c.Unit != "":
		return nil, fmt.Errorf("column %q of %s: found times, expected numbers to join; take it as a column of its own", p.Column, typ)
	}
	if err := p.Check(c); err != nil {
		return nil, fmt.Errorf("column %q of %s: %w", p.Column, typ, err)
	}
	return c, nil
}

// NumberBytes is the most memory that the numbers of codes take.
func (f *Features) NumberBytes() (n int64) {
	for _, c := range f.Links {
		n += c.NumberBytes()
	}
	for _, j := range f.Joined {
		for i := range j.Columns {
			n += j.Columns[i].NumberBytes()
		}
	}
	return n
}
