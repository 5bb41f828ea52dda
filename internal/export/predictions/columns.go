package predictions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// column is a column of the table.
type column struct {
	name     string
	dtype    graph.DType
	width    int        // values of a row that is a vector; 0: one value
	unit     graph.Unit // of times
	nullable bool
	raw      bool // compression is of no use
	bytes    int  // of a row, about
	fill     func(b *block, c *cells) error
}

// cells are the rows of a column in a block: numbers of its dtype, or the bytes of strings with their ends.
type cells struct {
	data []byte
	ends []uint32
	null []bool // nil: no row is

	own   []byte // what data may lie in
	nulls []bool // what null may lie in
}

// missing marks row i of n as null.
func (c *cells) missing(i, n int) {
	if c.null == nil {
		c.nulls = slices.Grow(c.nulls[:0], n)[:n]
		clear(c.nulls)
		c.null = c.nulls
	}
	c.null[i] = true
}

// text appends a text.
func (c *cells) text(b []byte) error {
	c.own = append(c.own, b...)
	if len(c.own) > maxText {
		return fmt.Errorf("found more than %d bytes of text in %d rows, expected less; leave the column out", maxText, len(c.ends))
	}
	c.data, c.ends = c.own, append(c.ends, uint32(len(c.own)))
	return nil
}

// texts begins a column of texts.
func (c *cells) texts() { c.own, c.ends, c.data = c.own[:0], c.ends[:0], nil }

// rowsOf are the rows that a column is of: the rows of the block, or an end of its edges.
type rowsOf func(b *block) []uint64

func own(b *block) []uint64     { return b.rows }
func sources(b *block) []uint64 { return b.src }
func targets(b *block) []uint64 { return b.dst }

// averageText is the mean length of the texts of a column.
func averageText(c *graph.Column) int { return 8 + len(c.Values)/max(c.StringOffsets.Len()-1, 1) }

// idColumn is the column of the original ids of nodes, or of their numbers if they have none.
func idColumn(name string, n *graph.Nodes, integers bool, of rowsOf, touched func(bytes int64) error) (column, error) {
	ids := n.IDs
	switch {
	case ids == nil:
		return column{name: name, dtype: graph.Int64, bytes: 8, fill: func(b *block, c *cells) error {
			c.data = graph.Bytes(of(b))
			return nil
		}}, nil
	case ids.DType == graph.String && integers:
		return integerIDs(name, ids, of), checkLength(ids)
	case ids.DType == graph.String:
		return textColumn(name, ids, of), checkLength(ids)
	}
	x := numberColumn(name, ids, of)
	if x.dtype == graph.Uint64 {
		large, err := above(ids, math.MaxInt64, touched)
		if err != nil {
			return x, err
		}
		if !large {
			x.dtype = graph.Int64 // which other programs take ids for
		}
	}
	return x, checkLength(ids)
}

// integerIDs is a column of ids that are texts of integers, as integers.
func integerIDs(name string, ids *graph.Column, of rowsOf) column {
	width := averageText(ids)
	return column{name: name, dtype: graph.Int64, bytes: 8, fill: func(b *block, c *cells) error {
		rows := of(b)
		c.own = grown(c.own, 8*len(rows))
		c.data = c.own
		to := graph.View[int64](c.own)
		for i, row := range rows {
			text, err := textOf(ids, int(row))
			if err != nil {
				return err
			}
			if to[i], err = strconv.ParseInt(string(text), 10, 64); err != nil || strconv.FormatInt(to[i], 10) != string(text) {
				return usagef("found the id %q with `IntegerIDs`, expected integers of 64 bits without a sign + or zeros before them; leave it out to write the texts", text)
			}
			if err := b.at(row, width); err != nil {
				return err
			}
		}
		return nil
	}}
}

// above reports whether a column of uint64 has a number greater than most. It calls touched with the number of bytes that it has read.
func above(c *graph.Column, most uint64, touched func(bytes int64) error) (bool, error) {
	for part := range slices.Chunk(graph.View[uint64](c.Values), blockRows) {
		if slices.ContainsFunc(part, func(v uint64) bool { return v > most }) {
			return true, nil
		}
		if err := touched(int64(8 * len(part))); err != nil {
			return false, err
		}
	}
	return false, nil
}

// checkLength refuses a column of one value per row with another number of values. The offsets of strings are checked as they are read.
func checkLength(c *graph.Column) error {
	if c.DType == graph.String && len(c.Shape) == 0 {
		if c.StringOffsets.Len() != c.Rows+1 {
			return fmt.Errorf("column %q: found %d offsets of strings, expected %d; graphmill verify finds damage", c.Name, c.StringOffsets.Len(), c.Rows+1)
		}
		return nil
	}
	return c.CheckOffsets()
}

// textOf is string i of a column.
func textOf(c *graph.Column, i int) ([]byte, error) {
	from, to := c.StringOffsets.At(i), c.StringOffsets.At(i+1)
	if from > to || to > uint64(len(c.Values)) {
		return nil, fmt.Errorf("column %q: row %d: found a string from byte %d to %d, expected it within %d bytes; graphmill verify finds damage", c.Name, i, from, to, len(c.Values))
	}
	return c.Values[from:to], nil
}

// textColumn is a column of one string per row.
func textColumn(name string, from *graph.Column, of rowsOf) column {
	width := averageText(from)
	return column{name: name, dtype: graph.String, bytes: width, fill: func(b *block, c *cells) error {
		c.texts()
		for _, row := range of(b) {
			text, err := textOf(from, int(row))
			if err == nil {
				err = c.text(text)
			}
			if err = errors.Join(err, b.at(row, width)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// numberColumn is a column of numbers or vectors of numbers.
func numberColumn(name string, from *graph.Column, of rowsOf) column {
	width := from.RowBytes()
	return column{name: name, dtype: from.DType, width: vector(from), bytes: width, fill: func(b *block, c *cells) error {
		rows := of(b)
		c.own = grown(c.own, len(rows)*width)
		for i, row := range rows {
			copy(c.own[i*width:(i+1)*width], from.Values[int(row)*width:])
			if err := b.at(row, width); err != nil {
				return err
			}
		}
		c.data = c.own
		return nil
	}}
}

// vector is the number of values of a row that is a vector; 0 for one value.
func vector(c *graph.Column) int {
	if len(c.Shape) == 0 {
		return 0
	}
	return c.RowValues()
}

// timeColumn is a column of times.
func timeColumn(name string, from *graph.Column, of rowsOf) column {
	x := numberColumn(name, from, of)
	x.unit, x.nullable = from.Unit, true
	fill := x.fill
	x.fill = func(b *block, c *cells) error {
		if err := fill(b, c); err != nil {
			return err
		}
		c.null = nil
		times := graph.View[int64](c.data)
		for i, v := range times {
			if v == graph.NoTime {
				c.missing(i, len(times))
				times[i] = 0
			}
		}
		return nil
	}
	return x
}

// categoryColumn is a column of the texts of categories.
func categoryColumn(name string, from *graph.Column, of rowsOf) column {
	codes := graph.View[int32](from.Values)
	return column{name: name, dtype: graph.String, nullable: true, bytes: averageText(from.Categories), fill: func(b *block, c *cells) error {
		c.texts()
		c.null = nil
		rows := of(b)
		for i, row := range rows {
			var text []byte
			switch code := codes[row]; {
			case code == -1:
				c.missing(i, len(rows))
			case code < 0 || int(code) >= from.Categories.Rows:
				return fmt.Errorf("column %q: row %d: found category %d, expected -1 to %d; graphmill verify finds damage", name, row, code, from.Categories.Rows-1)
			default:
				text = from.Categories.Text(int(code))
			}
			if err := errors.Join(c.text(text), b.at(row, 4)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// storeColumn is a column of the store as one of the table.
func storeColumn(name string, from *widening.Column) (column, error) {
	refused := func(what string) error {
		return usagef("`With`: column %q: found %s, expected one value per row, or a vector of numbers of a fixed length; leave it out", from.Name, what)
	}
	switch {
	case from.Wide():
		return wideColumn(name, from), nil
	case from.Ragged():
		return column{}, refused("lists of any length")
	case len(from.Shape) > 0 && (from.DType == graph.String || from.Categories != nil || from.Unit != ""):
		return column{}, refused("vectors of texts or times")
	case from.Categories != nil:
		return categoryColumn(name, from.Column, own), from.Categories.CheckOffsets()
	case from.Unit != "":
		return timeColumn(name, from.Column, own), nil
	case from.DType == graph.String:
		return textColumn(name, from.Column, own), checkLength(from.Column)
	}
	return numberColumn(name, from.Column, own), nil
}

// wideColumn is a column of vectors that the store has in pieces.
func wideColumn(name string, from *widening.Column) column {
	width, stored := from.RowBytes(), int(from.StoredBytes()/int64(max(from.Rows, 1)))
	write := from.Writer(from.DType, nil)
	return column{name: name, dtype: from.DType, width: from.RowValues(), bytes: width, fill: func(b *block, c *cells) error {
		c.own = grown(c.own, len(b.rows)*width)
		clear(c.own)
		write(c.own, graph.Index{U64: b.rows})
		c.data = c.own
		for _, row := range b.rows {
			if err := b.at(row, stored); err != nil {
				return err
			}
		}
		return nil
	}}
}

// arrayColumn is a column of the numbers of array k.
func arrayColumn(a *array, k int) column {
	return column{name: a.Name, dtype: a.dtype, width: a.width, bytes: a.rowBytes(), fill: func(b *block, c *cells) error {
		c.data = b.arrays[k]
		return nil
	}}
}

// classColumn is a column of the texts of the classes that array k has the codes of. unlabelled counts the rows without one.
func classColumn(a *array, k int, labels *graph.Column, unlabelled *atomic.Int64) column {
	texts := labels.Categories
	return column{name: a.Name, dtype: graph.String, nullable: true, bytes: max(averageText(texts), a.rowBytes()), fill: func(b *block, c *cells) error {
		c.texts()
		c.null = nil
		none := int64(0)
		for i, place := range b.places {
			var text []byte
			switch code, negative := integer(a.dtype, b.arrays[k], i); {
			case negative && int64(code) == -1:
				c.missing(i, len(b.places))
				none++
			case negative || code >= uint64(texts.Rows):
				return fmt.Errorf("%s: row %d: found class %s, expected 0 to %d, the categories of column %q, or -1 for none", a.File, place, shown(code, negative), texts.Rows-1, labels.Name)
			default:
				text = texts.Text(int(code))
			}
			if err := c.text(text); err != nil {
				return err
			}
		}
		unlabelled.Add(none)
		return nil
	}}
}

// edgeIDColumn is the column of the ids of the edges.
func edgeIDColumn() column {
	return column{name: "edge_id", dtype: graph.Int64, bytes: 8, fill: func(b *block, c *cells) error {
		c.data = graph.Bytes(b.rows)
		return nil
	}}
}

// float32s converts 16-bit floats, which few programs read.
func float32s(to, values []byte, d graph.DType) []byte {
	convert := example.Float16
	if d == graph.BFloat16 {
		convert = example.BFloat16
	}
	to = grown(to, 2*len(values))
	for i := 0; i < len(values); i += 2 {
		binary.LittleEndian.PutUint32(to[2*i:], math.Float32bits(convert(binary.LittleEndian.Uint16(values[i:]))))
	}
	return to
}
