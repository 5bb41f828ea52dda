package columnfiles

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// columnarColumn reads a column. It belongs to one worker.
type columnarColumn struct {
	number int
	lists  int         // levels of lists in the file
	from   graph.DType // dtype of the values in rows
	null   bool        // no row has a value
	digits bool        // the values are digits of integers
	utf8   bool        // the values are text
	reader rowReader
	rows   parquet.Rows // rows that were read but not taken: all columns are taken in step
	out    builder.Column
	start  []int        // start of a run: see rowOf
	ints   scalar.Words // integers of a run
}

func (c *columnarColumn) close() {
	if c.reader != nil {
		c.reader.Close()
		c.reader = nil
	}
}

// take moves the first n rows to out. It marks rows in absent and returns whether it did. For a bad row it returns
// the row's number and what is wrong.
func (c *columnarColumn) take(n int, absent []bool) (marked bool, bad int, problem string) {
	c.out.Reset()
	at := make([]int, c.lists+1) // position in each level of lists, and in the values
	for row := 0; row < n; {
		// Find a run of rows that are not empty cells.
		end := row
		if c.full() {
			end = n
		}
		for end < n && !c.empty(end) {
			end++
		}
		if end > row {
			if bad, problem = c.run(row, end-row, at); problem != "" {
				return marked, bad, problem
			}
		}
		for row = end; row < n && c.empty(row); row++ {
			none, expected := c.out.Put(nil)
			if expected != "" {
				return marked, row, fmt.Sprintf("found an empty cell in column %q, expected %s", c.out.Name, expected)
			}
			if none {
				absent[row], marked = true, true
			}
			at[0]++ // an empty list, or the value that stands for the null
		}
	}
	c.drop(n)
	return marked, 0, ""
}

// full says that no row can be an empty cell.
func (c *columnarColumn) full() bool {
	return c.rows.Null == nil && !(c.out.ID && c.lists == 0 && c.from == graph.String)
}

// empty says whether a row is an empty cell: null, or an empty id.
func (c *columnarColumn) empty(row int) bool {
	if c.rows.Null != nil && c.rows.Null[row] {
		return true
	}
	if !c.out.ID || c.lists > 0 || c.from != graph.String {
		return false
	}
	start := uint32(0)
	if row > 0 {
		start = c.rows.Ends[row-1]
	}
	return c.rows.Ends[row] == start
}

// run appends n rows from row on, none of which is empty. at is the position of the lists and values of the row, and
// afterwards the position of the row after the run.
func (c *columnarColumn) run(row, n int, at []int) (bad int, problem string) {
	if c.null {
		return row, fmt.Sprintf("found a value in column %q, expected none, as its type is null", c.out.Name)
	}
	c.start = append(c.start[:0], at...)
	values := n
	for level := range c.lists {
		lengths := c.rows.Lengths[level][at[level] : at[level]+values]
		at[level] += values
		values = 0
		for _, k := range lengths {
			values += int(k)
		}
		if i, problem := c.shape(level, lengths); problem != "" {
			return c.rowOf(row, level, i), problem
		}
	}
	first := at[c.lists]
	at[c.lists] += values
	if values == 0 {
		return 0, ""
	}
	if c.digits && c.out.DType != graph.String {
		for i := range values {
			text := c.text(first + i)
			v, ok := scalar.ParseInt(text, c.out.DType)
			if !ok {
				return c.rowOf(row, c.lists, i), c.unfit(string(text))
			}
			scalar.PutInt(c.out.Data.Add(c.out.DType.Size()), v)
		}
		return 0, ""
	}
	if c.utf8 {
		if i := c.notText(first, values); i >= 0 {
			return c.rowOf(row, c.lists, i), fmt.Sprintf("found %s in column %q, expected UTF-8, as the column is declared as text; correct it, or write the column as binary", scalar.Quote(c.text(first+i)), c.out.Name)
		}
	}
	if c.from == graph.String {
		start := uint32(0)
		if first > 0 {
			start = c.rows.Ends[first-1]
		}
		base := uint32(c.out.Data.N) - start
		copy(c.out.Data.Add(int(c.rows.Ends[first+values-1]-start)), c.rows.Data[start:])
		for _, end := range c.rows.Ends[first : first+values] {
			c.out.Ends = append(c.out.Ends, end+base)
		}
		return 0, ""
	}
	raw, out := c.rows.Data[first*c.from.Size():], &c.out.Data
	if c.out.DType.IsInt() { // convert writes them from the start of out on
		out, c.ints.N = &c.ints, 0
	}
	i, text := builder.Convert(out, &c.out.Ends, raw, values, c.from, c.from.Size(), &c.out.Column)
	if out == &c.ints && i < 0 {
		copy(c.out.Data.Add(out.N), out.Bytes()[:out.N])
	}
	if i >= 0 {
		return c.rowOf(row, c.lists, i), c.unfit(text)
	}
	return 0, ""
}

// notText returns the index of the first of n values that is not UTF-8, or -1.
func (c *columnarColumn) notText(first, n int) int {
	start := uint32(0)
	if first > 0 {
		start = c.rows.Ends[first-1]
	}
	if whole := c.rows.Data[start:c.rows.Ends[first+n-1]]; isASCII(whole) {
		return -1
	}
	for i := range n {
		if !utf8.Valid(c.text(first + i)) {
			return i
		}
	}
	return -1
}

// isASCII says whether no byte is part of a longer character.
func isASCII(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// text is a byte string.
func (c *columnarColumn) text(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = c.rows.Ends[i-1]
	}
	return c.rows.Data[start:c.rows.Ends[i]]
}

// unfit describes a value that the column asked for cannot hold.
func (c *columnarColumn) unfit(text string) string {
	expected := builder.ExpectedNumber(&c.out.Column)
	if c.out.Inferred && c.out.DType == graph.Uint64 && strings.Trim(text, "-0123456789") == "" {
		expected += ", as the first ids are; give `IDs` string to take all ids as texts"
	}
	return fmt.Sprintf("found %s in column %q, expected %s", text, c.out.Name, expected)
}

// rowOf returns the row, from row on, that contains element i of a level, counted from start.
func (c *columnarColumn) rowOf(row, level, i int) int {
	for ; ; row++ {
		elements := 1
		for l := range level {
			sum := 0
			for _, k := range c.rows.Lengths[l][c.start[l] : c.start[l]+elements] {
				sum += int(k)
			}
			c.start[l] += elements
			elements = sum
		}
		if i < elements {
			return row
		}
		i -= elements
	}
}

// shape checks the lengths of the lists of a level against the shape asked for. bad is the index of a list.
func (c *columnarColumn) shape(level int, lengths []uint32) (bad int, problem string) {
	if c.lists != len(c.out.Shape) { // flat
		for i, n := range lengths {
			switch {
			case !c.out.Ragged && int(n) != c.out.Values:
				return i, fmt.Sprintf("found %d values in column %q, expected %d", n, c.out.Name, c.out.Values)
			case int(n)%c.out.Values != 0:
				return i, fmt.Sprintf("found %d values in column %q, expected a multiple of %d", n, c.out.Name, c.out.Values)
			}
			c.out.Row(int(n))
		}
		return 0, ""
	}
	if d := c.out.Shape[level]; d > 0 {
		for i, n := range lengths {
			if int(n) != d {
				return i, fmt.Sprintf("found a list of %d in column %q, expected %d in dimension %d; correct it, or read the column with a shape of any length, as %s[]", n, c.out.Name, d, level+1, c.out.DType)
			}
		}
		return 0, ""
	}
	k := 0
	for _, d := range c.out.Shape[:level] {
		if d == -1 {
			k++
		}
	}
	c.out.Lengths[k] = append(c.out.Lengths[k], lengths...)
	return 0, ""
}

// drop removes the first n rows.
func (c *columnarColumn) drop(n int) {
	r := &c.rows
	if n == r.N {
		r.Reset()
		return
	}
	values := n
	for level := range c.lists {
		next := 0
		for _, k := range r.Lengths[level][:values] {
			next += int(k)
		}
		r.Lengths[level] = append(r.Lengths[level][:0], r.Lengths[level][values:]...)
		values = next
	}
	bytes := values * c.from.Size()
	if c.from == graph.String {
		bytes = 0
		if values > 0 {
			bytes = int(r.Ends[values-1])
		}
		r.Ends = append(r.Ends[:0], r.Ends[values:]...)
		for i := range r.Ends {
			r.Ends[i] -= uint32(bytes)
		}
	}
	r.Data = append(r.Data[:0], r.Data[bytes:]...)
	if r.Null != nil {
		r.Null = append(r.Null[:0], r.Null[n:]...)
	}
	r.N -= n
}
