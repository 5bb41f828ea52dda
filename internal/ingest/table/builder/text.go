package builder

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Put appends the value of a cell. A word for a missing value that is no value of the dtype is an empty cell, except where
// the cell is a reference to a row. It returns whether the row is absent and, if the cell is bad, what was expected
// instead.
func (c *Column) Put(cell []byte) (absent bool, problem string) {
	text := cell
	if c.DType != graph.String || len(c.Shape) > 0 {
		text = scalar.Trim(cell)
	}
	if len(text) > 0 {
		n := c.Data.N
		problem := c.value(text)
		if problem == "" || c.Ragged || c.DType == graph.String || c.Empty == table.EmptyAbsent || !scalar.IsMissing(text) {
			return false, problem
		}
		c.Data.N, text = n, nil // a word for an empty cell
	}
	if c.Mark {
		c.empties = append(c.empties, uint32(c.rows()))
	}
	if !c.Ragged && (c.DType != graph.String || c.ID || len(c.Shape) > 0 || c.Given) {
		switch c.Empty {
		case table.EmptyAbsent:
			c.zero()
			return true, ""
		case table.EmptyFill:
			if c.Fill == "" && c.DType == graph.String {
				c.zero()
				return false, ""
			}
			if problem := c.value([]byte(c.Fill)); problem != "" {
				return false, fmt.Sprintf("%s, which %q is not; give `Missing` another value for the column", problem, c.Fill)
			}
			return false, ""
		default:
			if c.ID {
				return false, c.Expected() + "; each row needs one"
			}
			return false, c.Expected() + "; fill the cell, or give `Missing` a value for it"
		}
	}
	return false, c.value(text)
}

// value appends the value of a cell that counts as one, and returns what was expected if it cannot.
func (c *Column) value(text []byte) (problem string) {
	if len(c.Shape) == 0 {
		if c.Whole {
			digits := scalar.WholeDigits(text)
			if c.DType == graph.String && len(digits) == len(text) && bytes.IndexByte(text, '.') > 0 {
				if _, ok := scalar.ParseFloat(text, graph.Float64); ok {
					return "a whole number, as the first ones are; give `IDs` string to take the ids as they are written"
				}
			}
			text = digits
		}
		if !c.One(text) {
			return c.Expected()
		}
		return ""
	}
	if len(text) == 0 && (c.Ragged || c.DType == graph.String) {
		c.zero()
		return ""
	}
	if len(text) == 0 {
		return c.Expected()
	}
	return c.vectorOf(text)
}

// One appends a single value.
func (c *Column) One(text []byte) bool {
	switch d := c.DType; {
	case d == graph.String:
		copy(c.Data.Add(len(text)), text)
		c.Ends = append(c.Ends, uint32(c.Data.N))
		return true
	case d == graph.Bool:
		v, ok := scalar.ParseBool(text)
		c.Data.Add(1)[0] = v
		return ok
	case d.IsFloat():
		v, ok := scalar.ParseFloat(text, d)
		if c.Inferred && d == graph.Float32 && (v >= scalar.WideFloat || v <= -scalar.WideFloat) && !math.IsInf(v, 0) {
			exact, _ := scalar.ParseFloat(text, graph.Float64)
			c.lost = exact != v
			ok = ok && !c.lost
		}
		return scalar.PutFloat(c.Data.Add(d.Size()), d, v) && ok
	default:
		v, ok := scalar.ParseInt(text, d)
		if c.Inferred && ok && (scalar.LeadingZero(text) || d == graph.Uint64 && (text[0] == '+' || text[0] == '-')) {
			c.lost, ok = true, false
		}
		size := d.Size()
		if c.Wide {
			size = 8
		}
		scalar.PutInt(c.Data.Add(size), v)
		return ok
	}
}

// Expected describes the values of the column.
func (c *Column) Expected() string {
	if c.lost {
		c.lost = false
		if c.DType.IsFloat() {
			return "a number that float32 holds, as the first ones are; give the column the dtype float64 (`Columns`, or columns in graph.yaml)"
		}
		return "an integer without leading zeros or a sign, as the first ones are; give the column the dtype string to keep them, or int64 (`Columns`, or columns in graph.yaml; of ids: `IDs` string)"
	}
	var what string
	switch d := c.DType; {
	case d == graph.String && c.ID:
		what = "an id"
	case d == graph.String:
		what = "a string"
	case d == graph.Bool:
		what = "0, 1, true or false"
	case d.IsFloat():
		what = "a number in the range of " + d.String()
	case d == graph.Uint64:
		what = "an integer from 0 to 18446744073709551615"
	default:
		least, largest := scalar.Bounds(d)
		what = fmt.Sprintf("an integer from %d to %d", least, largest)
	}
	if c.Deep {
		return fmt.Sprintf("values in brackets, one pair per dimension of %v, each %s", c.Shape, what)
	}
	if c.Ragged {
		return "values separated by spaces, each " + what
	}
	if len(c.Shape) > 0 {
		return fmt.Sprintf("%d values separated by spaces, each %s", c.Values, what)
	}
	return what
}

// vectorOf appends the values of a vector and returns what was expected if it cannot. The values are separated by
// spaces, commas or ';'. They have no brackets, or one pair around all, or nested brackets with one pair per
// dimension, which a deep shape requires. Strings are separated by ';' if there is one, and otherwise by spaces; in
// brackets they are separated by commas and may be in quotes.
func (c *Column) vectorOf(text []byte) (problem string) {
	bracketed := text[0] == '['
	if bracketed {
		inner := scalar.Trim(text[1:])
		if c.Deep || len(c.Shape) > 1 && len(inner) > 0 && inner[0] == '[' {
			rest, problem := c.nested(text, c.Shape, 0)
			if problem == "" && len(rest) > 0 {
				problem = fmt.Sprintf("nothing after the last bracket and not %s", scalar.Quote(rest))
			}
			return problem
		}
		if text[len(text)-1] != ']' {
			return c.Expected()
		}
		text = scalar.Trim(text[1 : len(text)-1])
	} else if c.Deep {
		return c.Expected()
	}
	n, ok := c.list(text, bracketed)
	switch {
	case !ok:
		return c.Expected()
	case c.Ragged && n%c.Values != 0:
		return fmt.Sprintf("a multiple of %d values and not %d", c.Values, n)
	case !c.Ragged && n != c.Values:
		return fmt.Sprintf("%d values and not %d", c.Values, n)
	}
	c.Row(n)
	return ""
}

// list appends the values of a list.
func (c *Column) list(text []byte, bracketed bool) (n int, ok bool) {
	if c.DType == graph.String {
		return c.strings(text, bracketed)
	}
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		if len(text) == 0 {
			return n, true
		}
		end := bytes.IndexAny(text, c.stops)
		if end < 0 {
			end = len(text)
		}
		if end == 0 || !c.One(text[:end]) {
			return 0, false
		}
		n++
		if text, ok = separator(text[end:], c.Separator); !ok {
			return 0, false
		}
	}
}

// separator skips a comma, ';' or another sign with spaces around it. It returns false if no value follows.
func separator(text []byte, sign byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && (text[0] == ',' || text[0] == ';' || sign != 0 && text[0] == sign) {
		text = bytes.TrimLeft(text[1:], " \t\r\n")
		return text, len(text) > 0 && text[0] != ']'
	}
	return text, true
}

// nested parses a list in brackets, which is the first dimension of shape, and its content. k is the number of
// variable dimensions around it. It returns the text after the list.
func (c *Column) nested(text []byte, shape []int, k int) (rest []byte, problem string) {
	if len(text) == 0 || text[0] != '[' {
		return nil, c.Expected()
	}
	n := 0
	if len(shape) == 1 {
		end := c.closing(text)
		if end < 0 {
			return nil, c.Expected()
		}
		var ok bool
		if n, ok = c.list(scalar.Trim(text[1:end]), true); !ok {
			return nil, c.Expected()
		}
		text = text[end:]
	} else {
		inside := k
		if shape[0] == -1 {
			inside++
		}
		text = bytes.TrimLeft(text[1:], " \t\r\n")
		for ; len(text) > 0 && text[0] != ']'; n++ {
			if text, problem = c.nested(text, shape[1:], inside); problem != "" {
				return nil, problem
			}
			var ok bool
			if text, ok = separator(text, 0); !ok {
				return nil, c.Expected()
			}
		}
		if len(text) == 0 {
			return nil, c.Expected()
		}
	}
	if shape[0] == -1 {
		c.Lengths[k] = append(c.Lengths[k], uint32(n))
	} else if n != shape[0] {
		return nil, fmt.Sprintf("%d and not %d in a dimension of the shape %v", shape[0], n, c.Shape)
	}
	return text[1:], ""
}

// closing returns the index of the bracket that closes the one at the start of text. The text between contains no
// brackets except in quoted strings.
func (c *Column) closing(text []byte) int {
	in, first := byte(0), true // the open quote; before a value
	for i, b := range text {
		switch {
		case in != 0:
			if b == in {
				in = 0
			}
		case c.DType == graph.String && first && (b == '"' || b == '\''):
			in = b
		case b == ']':
			return i
		}
		first = i == 0 || b == ',' || first && b <= ' '
	}
	return -1
}

// strings appends the elements of a list of strings.
func (c *Column) strings(text []byte, bracketed bool) (int, bool) {
	if len(text) == 0 {
		return 0, true
	}
	if !bracketed {
		var parts []string
		if c.Escapes {
			parts = scalar.CutEscaped(string(text))
		} else if sign := cmp.Or(c.Separator, ';'); c.Separator != 0 || bytes.IndexByte(text, sign) >= 0 {
			parts = strings.Split(string(text), string(rune(sign)))
		} else {
			parts = strings.Fields(string(text))
		}
		for _, s := range parts {
			c.One([]byte(s))
		}
		return len(parts), true
	}
	for n := 1; ; n++ {
		var item []byte
		if q := text[0]; q == '\'' || q == '"' {
			end := bytes.IndexByte(text[1:], q)
			if end < 0 {
				return 0, false
			}
			item, text = text[1:1+end], bytes.TrimSpace(text[end+2:])
			if len(text) > 0 && text[0] != ',' {
				return 0, false
			}
		} else {
			end := bytes.IndexByte(text, ',')
			if end < 0 {
				end = len(text)
			}
			item, text = bytes.TrimSpace(text[:end]), text[end:]
		}
		c.One(item)
		if len(text) == 0 {
			return n, true
		}
		if text = bytes.TrimSpace(text[1:]); len(text) == 0 {
			return 0, false
		}
	}
}
