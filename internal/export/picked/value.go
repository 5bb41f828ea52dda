package picked

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds. Missing is none.
const (
	Missing Kind = iota
	Bool
	Integer
	Number
	Text
)

// Value is a value of a column.
type Value struct {
	Kind Kind
	Text string  // how it is written: digits, or the text itself
	Of   float64 // bools and numbers, rounded
}

// Single says whether a column has one value per row.
func Single(c *graph.Column) bool { return len(c.Shape) == 0 }

// KindOf is the kind of the values of a column.
func KindOf(c *graph.Column) Kind {
	switch {
	case c.Categories != nil || c.DType == graph.String:
		return Text
	case c.DType == graph.Bool:
		return Bool
	case c.DType.IsFloat():
		return Number
	}
	return Integer
}

// ValueOf returns value i of a column. In a column with one value per row, it is the value of row i.
func ValueOf(c *graph.Column, i int) Value {
	switch {
	case c.Categories != nil:
		code := int(graph.View[int32](c.Values)[i])
		if code < 0 || code >= c.Categories.Rows {
			return Value{}
		}
		return Value{Kind: Text, Text: string(c.Categories.Text(code))}
	case c.DType == graph.String:
		return Value{Kind: Text, Text: string(c.Text(i))}
	}
	size := c.DType.Size()
	b := c.Values[i*size : (i+1)*size]
	le := binary.LittleEndian
	integer := func(v int64) Value {
		return Value{Kind: Integer, Text: strconv.FormatInt(v, 10), Of: float64(v)}
	}
	float := func(v float64, bits int) Value {
		return Value{Kind: Number, Text: strconv.FormatFloat(v, 'g', -1, bits), Of: v}
	}
	switch c.DType {
	case graph.Bool:
		return Value{Kind: Bool, Text: strconv.FormatBool(b[0] != 0), Of: float64(b[0])}
	case graph.Int8:
		return integer(int64(int8(b[0])))
	case graph.Uint8:
		return integer(int64(b[0]))
	case graph.Int16:
		return integer(int64(int16(le.Uint16(b))))
	case graph.Uint16:
		return integer(int64(le.Uint16(b)))
	case graph.Int32:
		return integer(int64(int32(le.Uint32(b))))
	case graph.Uint32:
		return integer(int64(le.Uint32(b)))
	case graph.Int64:
		v := int64(le.Uint64(b))
		if c.Unit != "" && v == graph.NoTime {
			return Value{}
		}
		return integer(v)
	case graph.Uint64:
		v := le.Uint64(b)
		return Value{Kind: Integer, Text: strconv.FormatUint(v, 10), Of: float64(v)}
	case graph.Float16:
		return float(float64(example.Float16(le.Uint16(b))), 32)
	case graph.BFloat16:
		return float(float64(example.BFloat16(le.Uint16(b))), 32)
	case graph.Float32:
		return float(float64(math.Float32frombits(le.Uint32(b))), 32)
	}
	return float(math.Float64frombits(le.Uint64(b)), 64)
}

// Series is a column with one value per row, and knows which rows have none.
type Series struct {
	*graph.Column

	blank blank.Rows
}

// SeriesOf is a column, of which all are those of the type.
func SeriesOf(c *graph.Column, all []*graph.Column) *Series { return &Series{c, blank.Of(c, all)} }

// At is the value of a row.
func (s *Series) At(row int) Value {
	if s.blank.Has(row) {
		return Value{}
	}
	return ValueOf(s.Column, row)
}

// Text is the value of a row in words: times in ISO 8601, and "" for a missing one.
func (s *Series) Text(row int) string {
	v := s.At(row)
	if s.Unit == "" || v.Kind == Missing {
		return v.Text
	}
	return ISO(graph.View[int64](s.Values)[row], s.Unit)
}

// ID is the original id of a node, or its number.
func (x *Graph) ID(n *Node) Value {
	if ids := x.NodeTypes[n.Type].IDs; ids != nil {
		return ValueOf(ids, n.Row)
	}
	return Value{Kind: Integer, Text: fmt.Sprint(n.Number), Of: float64(n.Number)}
}

// ISO is a time in ISO 8601, in UTC. Years that have no four digits are counts of the unit.
func ISO(v int64, unit graph.Unit) string {
	per := unit.PerSecond()
	seconds, rest := v/per, v%per
	if rest < 0 {
		seconds, rest = seconds-1, rest+per
	}
	t := time.Unix(seconds, rest*(1e9/per)).UTC()
	switch year := t.Year(); {
	case seconds > 1<<40 || seconds < -(1<<40) || year < 0 || year > 9999:
		return strconv.FormatInt(v, 10)
	case rest != 0:
		return t.Format("2006-01-02T15:04:05.999999999")
	case seconds%86400 == 0:
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02T15:04:05")
}
