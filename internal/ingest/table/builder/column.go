package builder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Column collects the values of one column.
type Column struct {
	table.Column
	// Wide: an integer scalar, kept as 64 bits until the chunk is complete.
	Wide    bool
	largest uint64 // used if Wide
	Ragged  bool   // the shape has variable dimensions
	// Deep: the row lengths do not follow from the number of values, because a variable dimension has more than one
	// row in each row of the table.
	Deep    bool
	Values  int          // number of values in a row or, if Ragged, in an element of the last variable dimension
	Next    int          // index of another column that asks for the same field, or -1
	Data    scalar.Words // the values so far, or the bytes of the texts
	Lengths [][]uint32   // as in table.Vector
	Keys    []string     // keys of the lengths in Examples
	Ends    []uint32     // of texts, as in table.Vector
	empties []uint32     // rows with empty cells, if Mark is set
	stops   string       // between the numbers of a list
	lost    bool         // the dtype would have lost a part of the last bad text (Inferred)
}

// New returns a column without values. A shape that is not valid, or a value for empty cells that is none of the dtype, is an error.
func New(a table.Column) (Column, error) {
	c := Column{Column: a, Values: 1, Next: -1, stops: " \t\r\n,;"}
	if a.Separator != 0 {
		c.stops += string(rune(a.Separator))
	}
	if a.DType == graph.Invalid || a.DType > graph.String {
		return c, fmt.Errorf("found dtype %s, expected a valid one", a.DType)
	}
	for i, d := range a.Shape {
		switch {
		case d == -1:
			c.Deep = c.Deep || c.Ragged || c.Values > 1
			c.Ragged = true
			c.Lengths, c.Keys = append(c.Lengths, nil), append(c.Keys, tfgnn.RaggedKey(a.Name, i+1))
		case d <= 0 || c.Values > table.MaxRecord/d:
			return c, fmt.Errorf("found shape %v, expected positive dimensions, or -1 for variable ones, of at most %d values; correct the shape", a.Shape, table.MaxRecord)
		default:
			c.Values *= d
		}
	}
	if c.Wide = len(a.Shape) == 0 && a.DType.IsInt(); c.Wide {
		_, c.largest = scalar.Bounds(a.DType)
	}
	if a.Empty == table.EmptyFill && a.Given && !c.Ragged {
		if strings.TrimSpace(a.Fill) == "" && a.DType != graph.String {
			return c, fmt.Errorf("found an empty fill value, expected a value of %s; give a value", a.DType)
		}
		if _, problem := c.Put([]byte(a.Fill)); problem != "" {
			return c, fmt.Errorf("found the fill value %q, expected %s; correct the value", a.Fill, problem)
		}
		c.Reset()
	}
	return c, nil
}

// Reset removes all values, and keeps their memory.
func (c *Column) Reset() {
	c.Data.N = 0
	c.Ends, c.empties = c.Ends[:0], c.empties[:0]
	for k := range c.Lengths {
		c.Lengths[k] = c.Lengths[k][:0]
	}
}

// Vector is the values of a number of rows. It is valid until the next Reset.
func (c *Column) Vector(rows int) table.Vector {
	var v table.Vector
	n := c.Data.N
	if c.Wide {
		n = rows * c.DType.Size()
	}
	v.Data = c.Data.Bytes()[:n:n]
	if c.Ragged {
		v.Lengths = c.Lengths
	}
	if c.DType == graph.String {
		v.Ends = c.Ends
	}
	if c.Mark {
		v.Empty = c.empties
	}
	return v
}

// rows is the number of rows so far.
func (c *Column) rows() int {
	switch {
	case c.Ragged:
		n := len(c.Lengths[0])
		for _, d := range c.Shape[:slices.Index(c.Shape, -1)] {
			n /= d
		}
		return n
	case c.DType == graph.String:
		return len(c.Ends) / c.Values
	case c.Wide:
		return c.Data.N / 8
	}
	return c.Data.N / (c.DType.Size() * c.Values)
}

// Row appends the length of a row with the given number of values to a column that is not deep.
func (c *Column) Row(values int) {
	if c.Ragged {
		c.Lengths[0] = append(c.Lengths[0], uint32(values/c.Values))
	}
}

// zero appends a row of zeros or empty strings; variable dimensions are empty.
func (c *Column) zero() {
	n, k := 1, 0
	for _, d := range c.Shape {
		if d > 0 {
			n *= d
			continue
		}
		for range n {
			c.Lengths[k] = append(c.Lengths[k], 0)
		}
		n, k = 0, k+1
	}
	for range n {
		switch {
		case c.DType == graph.String:
			c.Ends = append(c.Ends, uint32(c.Data.N))
		case c.Wide:
			clear(c.Data.Add(8))
		default:
			clear(c.Data.Add(c.DType.Size()))
		}
	}
}

// Fits says whether an integer from the fast path is in the range of the dtype.
func (c *Column) Fits(v uint64) bool {
	return v <= c.largest
}
