package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// put appends the value of a cell. A word for a missing value that is no value of the dtype is an empty cell, except where
// the cell is a reference to a row. It returns whether the row is absent and, if the cell is bad, what was expected
// instead.
func (c *column) put(cell []byte) (absent bool, problem string) {
	text := cell
	if c.DType != graph.String || len(c.Shape) > 0 {
		text = trim(cell)
	}
	if len(text) > 0 {
		n := c.data.n
		problem := c.value(text)
		if problem == "" || c.ragged || c.DType == graph.String || c.Empty == EmptyAbsent || !missingWord(text) {
			return false, problem
		}
		c.data.n, text = n, nil // a word for an empty cell
	}
	if c.Mark && !c.ragged {
		c.empties = append(c.empties, uint32(c.rows()))
	}
	if !c.ragged && (c.DType != graph.String || c.ID || len(c.Shape) > 0 || c.Given) {
		switch c.Empty {
		case EmptyAbsent:
			c.zero()
			return true, ""
		case EmptyFill:
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
				return false, c.expected() + "; each row needs one"
			}
			return false, c.expected() + "; fill the cell, or give `Missing` a value for it"
		}
	}
	return false, c.value(text)
}

// value appends the value of a cell that counts as one, and returns what was expected if it cannot.
func (c *column) value(text []byte) (problem string) {
	if len(c.Shape) == 0 {
		if c.Whole {
			digits := wholeDigits(text)
			if c.DType == graph.String && len(digits) == len(text) && bytes.IndexByte(text, '.') > 0 {
				if _, ok := parseFloat(text, graph.Float64); ok {
					return "a whole number, as the first ones are; give `IDs` string to take the ids as they are written"
				}
			}
			text = digits
		}
		if !c.one(text) {
			return c.expected()
		}
		return ""
	}
	if len(text) == 0 && (c.ragged || c.DType == graph.String) {
		c.zero()
		return ""
	}
	if len(text) == 0 {
		return c.expected()
	}
	return c.vectorOf(text)
}

// one appends a single value.
func (c *column) one(text []byte) bool {
	switch d := c.DType; {
	case d == graph.String:
		copy(c.data.add(len(text)), text)
		c.ends = append(c.ends, uint32(c.data.n))
		return true
	case d == graph.Bool:
		v, ok := parseBool(text)
		c.data.add(1)[0] = v
		return ok
	case d.IsFloat():
		v, ok := parseFloat(text, d)
		if c.Inferred && d == graph.Float32 && (v >= wideFloat || v <= -wideFloat) && !math.IsInf(v, 0) {
			exact, _ := parseFloat(text, graph.Float64)
			c.lost = exact != v
			ok = ok && !c.lost
		}
		return putFloat(c.data.add(d.Size()), d, v) && ok
	default:
		v, ok := parseInt(text, d)
		if c.Inferred && ok && (leadingZero(text) || d == graph.Uint64 && (text[0] == '+' || text[0] == '-')) {
			c.lost, ok = true, false
		}
		size := d.Size()
		if c.wide {
			size = 8
		}
		putInt(c.data.add(size), v)
		return ok
	}
}

// leadingZero says whether an integer is written with zeros that the number does not keep.
func leadingZero(text []byte) bool {
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	return len(text) > 1 && text[0] == '0'
}

// expected describes the values of the column.
func (c *column) expected() string {
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
		least, largest := bounds(d)
		what = fmt.Sprintf("an integer from %d to %d", least, largest)
	}
	if c.deep {
		return fmt.Sprintf("values in brackets, one pair per dimension of %v, each %s", c.Shape, what)
	}
	if c.ragged {
		return "values separated by spaces, each " + what
	}
	if len(c.Shape) > 0 {
		return fmt.Sprintf("%d values separated by spaces, each %s", c.values, what)
	}
	return what
}

// parseBool parses 0, 1, true, false, and t and f, as PostgreSQL and R write them.
func parseBool(text []byte) (byte, bool) {
	switch len(text) {
	case 1:
		switch text[0] {
		case '1', 't', 'T':
			return 1, true
		case '0', 'f', 'F':
			return 0, true
		}
	case 4:
		return 1, bytes.EqualFold(text, []byte("true"))
	case 5:
		return 0, bytes.EqualFold(text, []byte("false"))
	}
	return 0, false
}

// parseInt parses a decimal integer in the range of a dtype, with or without a sign. Negative numbers are returned in
// two's complement.
func parseInt(text []byte, d graph.DType) (uint64, bool) {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	v := uint64(0)
	for _, c := range text {
		c -= '0'
		if c > 9 || v > math.MaxUint64/10 || v == math.MaxUint64/10 && c > 5 {
			return 0, false
		}
		v = 10*v + uint64(c)
	}
	least, largest := bounds(d)
	if negative {
		return -v, len(text) > 0 && v <= -uint64(least)
	}
	return v, len(text) > 0 && v <= largest
}

// wideFloat is the number from which on Float32 does not hold every integer.
const wideFloat = 1 << 24

// parseFloat parses a decimal number, nan or inf. The result is rounded once, to Float32 if d is Float32.
func parseFloat(text []byte, d graph.DType) (float64, bool) {
	if v, ok := shortFloat(text, d); ok {
		return v, true
	}
	if bytes.ContainsAny(text, "xX_") {
		return 0, false
	}
	width := 64
	if d == graph.Float32 {
		width = 32
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), width)
	return v, err == nil
}

// shortFloat parses "-12.345" if the dtype holds the digits and the power of ten exactly, so that their quotient is
// rounded once.
func shortFloat(text []byte, d graph.DType) (float64, bool) {
	i, negative := 0, false
	if len(text) > 0 && text[0] == '-' {
		i, negative = 1, true
	}
	m, digits, point := uint64(0), 0, -1
	if len(text)-i > 16 {
		return 0, false
	}
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c <= 9 {
			m = 10*m + uint64(c)
			digits++
		} else if text[i] == '.' && point < 0 {
			point = digits
		} else {
			return 0, false
		}
	}
	places := 0
	if point >= 0 {
		places = digits - point
	}
	if digits == 0 || m >= 1<<53 {
		return 0, false
	}
	v := float64(m) / tens[places]
	if d == graph.Float32 {
		if m >= 1<<24 || places > 10 {
			return 0, false
		}
		v = float64(float32(m) / float32(tens[places]))
	}
	if negative {
		v = -v
	}
	return v, true
}

var tens = [17]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16}

// trim is bytes.TrimSpace, but does not call it if there is nothing to trim.
func trim(text []byte) []byte {
	if n := len(text); n > 0 && (text[0] <= ' ' || text[0] >= 0x80 || text[n-1] <= ' ' || text[n-1] >= 0x80) {
		return bytes.TrimSpace(text)
	}
	return text
}

// vectorOf appends the values of a vector and returns what was expected if it cannot. The values are separated by
// spaces, commas or ';'. They have no brackets, or one pair around all, or nested brackets with one pair per
// dimension, which a deep shape requires. Strings are separated by ';' if there is one, and otherwise by spaces; in
// brackets they are separated by commas and may be in quotes.
func (c *column) vectorOf(text []byte) (problem string) {
	bracketed := text[0] == '['
	if bracketed {
		inner := trim(text[1:])
		if c.deep || len(c.Shape) > 1 && len(inner) > 0 && inner[0] == '[' {
			rest, problem := c.nested(text, c.Shape, 0)
			if problem == "" && len(rest) > 0 {
				problem = fmt.Sprintf("nothing after the last bracket and not %s", quote(rest))
			}
			return problem
		}
		if text[len(text)-1] != ']' {
			return c.expected()
		}
		text = trim(text[1 : len(text)-1])
	} else if c.deep {
		return c.expected()
	}
	n, ok := c.list(text, bracketed)
	switch {
	case !ok:
		return c.expected()
	case c.ragged && n%c.values != 0:
		return fmt.Sprintf("a multiple of %d values and not %d", c.values, n)
	case !c.ragged && n != c.values:
		return fmt.Sprintf("%d values and not %d", c.values, n)
	}
	c.row(n)
	return ""
}

// list appends the values of a list.
func (c *column) list(text []byte, bracketed bool) (n int, ok bool) {
	if c.DType == graph.String {
		return c.strings(text, bracketed)
	}
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		if len(text) == 0 {
			return n, true
		}
		end := bytes.IndexAny(text, " \t\r\n,;")
		if end < 0 {
			end = len(text)
		}
		if end == 0 || !c.one(text[:end]) {
			return 0, false
		}
		n++
		if text, ok = separator(text[end:]); !ok {
			return 0, false
		}
	}
}

// separator skips a comma or ';' with spaces around it. It returns false if no value follows.
func separator(text []byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && (text[0] == ',' || text[0] == ';') {
		text = bytes.TrimLeft(text[1:], " \t\r\n")
		return text, len(text) > 0 && text[0] != ']'
	}
	return text, true
}

// nested parses a list in brackets, which is the first dimension of shape, and its content. k is the number of
// variable dimensions around it. It returns the text after the list.
func (c *column) nested(text []byte, shape []int, k int) (rest []byte, problem string) {
	if len(text) == 0 || text[0] != '[' {
		return nil, c.expected()
	}
	n := 0
	if len(shape) == 1 {
		end := c.closing(text)
		if end < 0 {
			return nil, c.expected()
		}
		var ok bool
		if n, ok = c.list(trim(text[1:end]), true); !ok {
			return nil, c.expected()
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
			if text, ok = separator(text); !ok {
				return nil, c.expected()
			}
		}
		if len(text) == 0 {
			return nil, c.expected()
		}
	}
	if shape[0] == -1 {
		c.lengths[k] = append(c.lengths[k], uint32(n))
	} else if n != shape[0] {
		return nil, fmt.Sprintf("%d and not %d in a dimension of the shape %v", shape[0], n, c.Shape)
	}
	return text[1:], ""
}

// closing returns the index of the bracket that closes the one at the start of text. The text between contains no
// brackets except in quoted strings.
func (c *column) closing(text []byte) int {
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
func (c *column) strings(text []byte, bracketed bool) (int, bool) {
	if len(text) == 0 {
		return 0, true
	}
	if !bracketed {
		var parts []string
		if c.Semicolons || bytes.IndexByte(text, ';') >= 0 {
			parts = strings.Split(string(text), ";")
		} else {
			parts = strings.Fields(string(text))
		}
		for _, s := range parts {
			c.one([]byte(s))
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
		c.one(item)
		if len(text) == 0 {
			return n, true
		}
		if text = bytes.TrimSpace(text[1:]); len(text) == 0 {
			return 0, false
		}
	}
}
