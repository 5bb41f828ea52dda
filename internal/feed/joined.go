package feed

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/guard"
)

// Joined is columns of a type that batches have side by side, as one column. Its rows are the values of all columns in their
// order, flat. It has the dtype of the columns if they share one; else float64 if one of them has it, and float32 if not.
type Joined struct {
	// Type is a node type, or an edge type as "src:rel:dst".
	Type, Name string
	Columns    []Part
}

// Part is a column that is joined to others.
type Part struct {
	Column string
	// Widen is the piece of a feature of a dtype whose numbers the column holds; nil joins the values of the column as they are.
	Widen *features.Piece
	DType graph.DType
}

// Names are the names of the columns.
func (j *Joined) Names() []string {
	names := make([]string, len(j.Columns))
	for i, p := range j.Columns {
		names[i] = p.Column
	}
	return names
}

// widens says whether the values of the column are not the numbers of batches.
func (p *Part) widens() bool {
	return p.Widen != nil && (p.Widen.Kind == features.PieceOneHot || p.Widen.Kind == features.PieceMultiHot || p.Widen.Kind == features.PieceLowBit)
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
	for i := range j.Columns {
		p := &j.Columns[i]
		c, err := columnToJoin(columns, j.Type, p)
		if err != nil {
			return column{}, err
		}
		switch of := p.joins(c); {
		case len(from) == 0 || dtype == of:
			dtype = of
		case dtype == graph.Float64 || of == graph.Float64:
			dtype = graph.Float64
		default:
			dtype = graph.Float32
		}
		from = append(from, c)
		values += p.numbers(c)
	}
	if len(from) == 0 {
		return column{}, fmt.Errorf("found no columns of %s to join, expected at least one", j.Type)
	}
	// Three dtypes of which the last is the common one of the first two must not depend on their order.
	wide := false
	for i, c := range from {
		if j.Columns[i].joins(c) != dtype && dtype != graph.Float64 {
			dtype = graph.Float32
		}
		wide = wide || j.Columns[i].widens()
	}
	out := &joined{rows: count, width: values * dtype.Size()}
	offset := 0
	for i, c := range from {
		p := &j.Columns[i]
		switch {
		case !p.widens():
			out.parts = append(out.parts, partOf(c, dtype, offset, values))
		case p.Widen.Kind == features.PieceLowBit:
			out.parts = append(out.parts, lowBitOf(tabs, c, p, dtype, offset, values))
		default:
			out.parts = append(out.parts, widenedOf(c, p, dtype, offset, values))
		}
		offset += p.numbers(c)
	}
	switch {
	case wide: // a table of all numbers is what the store avoids
	case len(from) > 1:
		tabs.joined = append(tabs.joined, out)
	default:
		tab := tabs.of(from[0].Values)
		out.parts[0] = func(dst []byte, rows graph.Index) { gatherAway(dst, tab.values(), out.width, rows) }
	}
	return column{ColumnInfo{Name: at + "x/" + Escaped(j.Name), DType: dtype.String(), Shape: []int{values}}, out.width,
		func(m *made) int { return ids(m).Len() },
		func(dst []byte, m *made) { out.write(dst, ids(m)) }, most,
	}, nil
}

// columnToJoin finds the column of a part, and refuses one whose values are no numbers.
func columnToJoin(columns []*graph.Column, typ string, p *Part) (*graph.Column, error) {
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
	if p.widens() {
		if dtype, shape := p.Widen.Stored(p.DType); c.DType != dtype || !slices.Equal(c.Shape, shape) {
			return nil, fmt.Errorf("column %q of %s: found %s rows of shape %v, expected %s of shape %v for a feature; graphmill verify finds damage", p.Column, typ, c.DType, c.Shape, dtype, shape)
		}
	}
	return c, nil
}

// joins is the dtype that a part has in a batch.
func (p *Part) joins(c *graph.Column) graph.DType {
	if p.widens() {
		return p.DType
	}
	return c.DType
}

// numbers is how many numbers a row of a part has in a batch.
func (p *Part) numbers(c *graph.Column) int {
	if p.widens() {
		return p.Widen.Width
	}
	return c.RowValues()
}

// widenedOf is partOf for a column that holds which numbers are 1, among so many that are 0.
func widenedOf(c *graph.Column, p *Part, dtype graph.DType, at, values int) func(dst []byte, rows graph.Index) {
	size := dtype.Size()
	one := make([]byte, size)
	switch dtype {
	case graph.Float64:
		binary.LittleEndian.PutUint64(one, math.Float64bits(1))
	case graph.Float16:
		binary.LittleEndian.PutUint16(one, 0x3c00)
	case graph.BFloat16:
		binary.LittleEndian.PutUint16(one, 0x3f80)
	default:
		binary.LittleEndian.PutUint32(one, math.Float32bits(1))
	}
	width := c.RowBytes()
	return func(dst []byte, rows graph.Index) {
		for i := range rows.Len() {
			to, from := dst[(i*values+at)*size:][:p.Widen.Width*size], c.Values[int(rows.At(i))*width:][:width]
			clear(to)
			if p.Widen.Kind == features.PieceMultiHot {
				for b, x := range from {
					for ; x != 0; x &= x - 1 {
						setNumber(to, 8*b+bits.TrailingZeros8(x), one)
					}
				}
				continue
			}
			place := int(from[0])
			if width == 2 {
				place = int(binary.LittleEndian.Uint16(from))
			}
			setNumber(to, place, one)
		}
	}
}

// setNumber sets a number of a row, which a damaged store may not have.
func setNumber(row []byte, place int, number []byte) {
	if at := place * len(number); at < len(row) {
		copy(row[at:], number)
	}
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
		return spread(c, at, values, func(x uint16) D { return D(example.Float16(x)) })
	case graph.BFloat16:
		return spread(c, at, values, func(x uint16) D { return D(example.BFloat16(x)) })
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
