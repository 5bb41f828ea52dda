package table

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
)

// column collects the values of one column.
type column struct {
	Column
	// wide: an integer scalar, kept as 64 bits until the chunk is complete.
	wide    bool
	largest uint64 // used if wide
	ragged  bool   // the shape has variable dimensions
	// deep: the row lengths do not follow from the number of values, because a variable dimension has more than one
	// row in each row of the table.
	deep    bool
	values  int // number of values in a row or, if ragged, in an element of the last variable dimension
	next    int // index of another column that asks for the same field, or -1
	data    words
	lengths [][]uint32 // as in Vector
	keys    []string   // keys of the lengths in Examples
	ends    []uint32
	empties []uint32 // rows with empty cells, if Mark is set
	lost    bool     // the dtype would have lost a part of the last bad text (Inferred)
}

func newColumn(a Column) (column, error) {
	c := column{Column: a, values: 1, next: -1}
	if a.DType == graph.Invalid || a.DType > graph.String {
		return c, fmt.Errorf("found dtype %s, expected a valid one", a.DType)
	}
	for i, d := range a.Shape {
		switch {
		case d == -1:
			c.deep = c.deep || c.ragged || c.values > 1
			c.ragged = true
			c.lengths, c.keys = append(c.lengths, nil), append(c.keys, tfgnn.RaggedKey(a.Name, i+1))
		case d <= 0 || c.values > maxRecord/d:
			return c, fmt.Errorf("found shape %v, expected positive dimensions, or -1 for variable ones, of at most %d values; correct the shape", a.Shape, maxRecord)
		default:
			c.values *= d
		}
	}
	if c.wide = len(a.Shape) == 0 && a.DType.IsInt(); c.wide {
		_, c.largest = bounds(a.DType)
	}
	if a.Empty == EmptyFill && a.Given && !c.ragged {
		if strings.TrimSpace(a.Fill) == "" && a.DType != graph.String {
			return c, fmt.Errorf("found an empty fill value, expected a value of %s; give a value", a.DType)
		}
		if _, problem := c.put([]byte(a.Fill)); problem != "" {
			return c, fmt.Errorf("found the fill value %q, expected %s; correct the value", a.Fill, problem)
		}
		c.reset()
	}
	return c, nil
}

func (c *column) reset() {
	c.data.n = 0
	c.ends, c.empties = c.ends[:0], c.empties[:0]
	for k := range c.lengths {
		c.lengths[k] = c.lengths[k][:0]
	}
}

func (c *column) vector(rows int) Vector {
	var v Vector
	n := c.data.n
	if c.wide {
		n = rows * c.DType.Size()
	}
	v.Data = c.data.bytes()[:n:n]
	if c.ragged {
		v.Lengths = c.lengths
	}
	if c.DType == graph.String {
		v.Ends = c.ends
	}
	if c.Mark {
		v.Empty = c.empties
	}
	return v
}

// rows is the number of rows so far, of a fixed shape.
func (c *column) rows() int {
	switch {
	case c.DType == graph.String:
		return len(c.ends) / c.values
	case c.wide:
		return c.data.n / 8
	}
	return c.data.n / (c.DType.Size() * c.values)
}

// row appends the length of a row with the given number of values to a column that is not deep.
func (c *column) row(values int) {
	if c.ragged {
		c.lengths[0] = append(c.lengths[0], uint32(values/c.values))
	}
}

// zero appends a row of zeros or empty strings; variable dimensions are empty.
func (c *column) zero() {
	n, k := 1, 0
	for _, d := range c.Shape {
		if d > 0 {
			n *= d
			continue
		}
		for range n {
			c.lengths[k] = append(c.lengths[k], 0)
		}
		n, k = 0, k+1
	}
	for range n {
		switch {
		case c.DType == graph.String:
			c.ends = append(c.ends, uint32(c.data.n))
		case c.wide:
			clear(c.data.add(8))
		default:
			clear(c.data.add(c.DType.Size()))
		}
	}
}

// fits says whether an integer from the fast path is in the range of the dtype.
func (c *column) fits(v uint64) bool {
	return v <= c.largest
}
