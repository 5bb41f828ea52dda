package table

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/isotime"
)

// Peek examines the first rows of a field that has no guess, because the table declares its dtype. It returns what a
// Guess says of integers and times, and nil for other values.
func Peek(ctx context.Context, t Table, f Field) (*Guess, error) {
	c := Column{Name: f.Name, DType: graph.String, Shape: f.Shape, Empty: EmptyFill}
	switch {
	case f.DType.IsInt():
		c.DType, c.Fill = graph.Int64, zeros(f.Shape)
	case f.DType != graph.String:
		return nil, nil
	}
	g := &Guess{Integer: true, Number: true, Time: true}
	_, err := t.Scan(ctx, []Column{c}, 1, func(_ int, chunk *Chunk) error {
		v := &chunk.Columns[0]
		if c.DType == graph.Int64 {
			g.Time = false
			for _, n := range graph.View[int64](v.Data) {
				g.Seen, g.Largest = true, max(g.Largest, uint64(max(n, -n)))
			}
			return errFound
		}
		eachText(v, func(_ int, text []byte) bool {
			if text = scalar.Trim(text); len(text) > 0 && !scalar.IsMissing(text) {
				g.Seen = true
				g.integer(text)
				g.time(text)
			}
			return true
		})
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return g, err
}

// peeked is the number of rows that PeekIDs examines, or a few more: row groups may be small.
const peeked = 1 << 16

// Typed is a table of files that store numbers as numbers, such as Parquet. HasTyped says whether they have a field.
type Typed interface{ HasTyped(field string) bool }

// PeekIDs examines the first rows of a field of numbers in Parquet or Arrow files that holds ids. It returns what a Guess says of
// Unsigned and Mixed, as if the field were text, and nil for other fields and tables.
func PeekIDs(ctx context.Context, t Table, f Field) (*Guess, error) {
	if x, ok := t.(Typed); !ok || !x.HasTyped(f.Name) {
		return nil, nil
	}
	c := Column{Name: f.Name, DType: graph.Int64, Empty: EmptyFill, Fill: "0"}
	switch {
	case len(f.Shape) > 0 || f.DType >= graph.Uint8 && f.DType <= graph.Uint64:
		return nil, nil
	case f.DType.IsFloat():
		c.DType = graph.Float64
	case !f.DType.IsInt():
		return nil, nil
	}
	g := &Guess{Unsigned: true}
	_, err := t.Scan(ctx, []Column{c}, 1, func(_ int, chunk *Chunk) error {
		row := chunk.First
		note := func(negative bool, text string) {
			if negative && g.Unsigned {
				g.Odd, g.OddRow = text, row
			}
			g.Unsigned, g.whole = g.Unsigned && !negative, g.whole || !negative
			row++
		}
		if data := chunk.Columns[0].Data; c.DType == graph.Int64 {
			for _, n := range graph.View[int64](data) {
				note(n < 0, strconv.FormatInt(n, 10))
			}
		} else {
			for _, v := range graph.View[float64](data) {
				note(v < 0, strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
		if g.Mixed = g.whole && !g.Unsigned; row >= peeked {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return g, err
}

// integer notes a text that may be an integer.
func (g *Guess) integer(text []byte) {
	v, ok := scalar.ParseInt(text, graph.Int64)
	if text[0] == '-' {
		v = -v
	}
	g.Integer, g.Largest = g.Integer && ok, max(g.Largest, v)
	if ok && g.Zeros == "" && scalar.LeadingZero(text) {
		g.Zeros = string(text)
	}
}

// time notes a text that may be a time.
func (g *Guess) time(text []byte) {
	t, ok := isotime.Parse(text)
	g.Time, g.Digits = g.Time && ok, max(g.Digits, t.Digits)
}

// Unit is the unit in which the times of a guess are whole, as far as it goes. For integers it is the unit in which they
// lie between about 1966 and 5138, by their size, and counted says so.
func (g *Guess) Unit() (unit graph.Unit, counted bool) {
	if !g.Seen || !g.Integer {
		return unitOf(isotime.PerSecond(g.Digits)), false
	}
	switch {
	case g.Largest < 1e11:
		return graph.Seconds, true
	case g.Largest < 1e14:
		return graph.Milliseconds, true
	case g.Largest < 1e17:
		return graph.Microseconds, true
	}
	return graph.Nanoseconds, true
}

// Width returns the number of values in the lists of a column, whose shape is [-1], if it is the same in all rows of the
// first chunk. Otherwise, and for lists without values, it returns 0.
func Width(ctx context.Context, t Table, f Field) (width int, err error) {
	_, err = t.Scan(ctx, []Column{{Name: f.Name, DType: f.DType, Shape: f.Shape, Separator: f.Separator}}, 1, func(_ int, c *Chunk) error {
		lengths := c.Columns[0].Lengths[0]
		if !slices.ContainsFunc(lengths, func(n uint32) bool { return n != lengths[0] }) {
			width = int(lengths[0])
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return width, err
}

// SameWidth is Width for all rows of a table without an empty cell, up to the first list of another length; -1: there are none.
func SameWidth(ctx context.Context, t Table, f Field) (width int, err error) {
	width = -1
	_, err = t.Scan(ctx, []Column{{Name: f.Name, DType: f.DType, Shape: f.Shape, Separator: f.Separator, Mark: true}}, 1, func(_ int, c *Chunk) error {
		v, empty := &c.Columns[0], 0
		for row, n := range v.Lengths[0] {
			if empty < len(v.Empty) && int(v.Empty[empty]) == row {
				empty++
				continue
			}
			if width >= 0 && int(n) != width {
				width = 0
				return errFound
			}
			width = int(n)
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return width, err
}

// Shaped returns the number of values of the lists in the first row of a column, per dimension. It is the shape of
// each row if all rows are alike. For a table without rows it returns nil.
func Shaped(ctx context.Context, t Table, f Field) (shape []int, err error) {
	_, err = t.Scan(ctx, []Column{{Name: f.Name, DType: f.DType, Shape: slices.Repeat([]int{-1}, len(f.Shape)), Separator: f.Separator}}, 1, func(_ int, c *Chunk) error {
		for _, lengths := range c.Columns[0].Lengths {
			if len(lengths) == 0 || lengths[0] == 0 {
				shape = append(shape, 0)
				break
			}
			shape = append(shape, int(lengths[0]))
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return shape, err
}
