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

// put appends the value of a cell. It returns whether the row is absent, and
// what was expected instead of the cell, "" if it is good.
func (c *column) put(cell []byte) (absent bool, problem string) {
	text := cell
	if c.DType != graph.String || len(c.Shape) > 0 {
		text = trim(cell)
	}
	if len(text) == 0 && !c.ragged && (c.DType != graph.String || c.ID || len(c.Shape) > 0) {
		switch c.Empty {
		case EmptyAbsent:
			c.zero()
			return true, ""
		case EmptyFill:
			text = []byte(c.Fill)
			if len(text) == 0 && c.DType == graph.String {
				c.zero()
				return false, ""
			}
		default:
			return false, c.expected() + "; fill the cell, or give --empty-cells VALUE"
		}
	}
	if len(c.Shape) == 0 {
		if !c.one(text) {
			return false, c.expected()
		}
		return false, ""
	}
	n, ok := c.vectorOf(text)
	switch {
	case !ok:
		return false, c.expected()
	case c.ragged && n%c.values != 0:
		return false, fmt.Sprintf("a multiple of %d values and not %d", c.values, n)
	case !c.ragged && n != c.values:
		return false, fmt.Sprintf("%d values and not %d", c.values, n)
	}
	if c.ragged {
		c.lengths = append(c.lengths, uint32(n))
	}
	return false, ""
}

// zero appends a row of zeros or empty strings.
func (c *column) zero() {
	for range c.values {
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

// one appends a value.
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
		return putFloat(c.data.add(d.Size()), d, v) && ok
	default:
		v, ok := parseInt(text, d)
		size := d.Size()
		if c.wide {
			size = 8
		}
		putInt(c.data.add(size), v)
		return ok
	}
}

// expected names the values of the column.
func (c *column) expected() string {
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
	if c.ragged {
		return "values separated by spaces, each " + what
	}
	if len(c.Shape) > 0 {
		return fmt.Sprintf("%d values separated by spaces, each %s", c.values, what)
	}
	return what
}

func parseBool(text []byte) (byte, bool) {
	switch {
	case len(text) == 1 && text[0] == '1' || len(text) == 4 && bytes.EqualFold(text, []byte("true")):
		return 1, true
	case len(text) == 1 && text[0] == '0' || len(text) == 5 && bytes.EqualFold(text, []byte("false")):
		return 0, true
	}
	return 0, false
}

// parseInt reads a decimal integer in the range of a dtype, with a sign or
// without; negative ones come in two's complement.
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

// parseFloat reads a decimal number, nan or inf. Float32 is rounded once.
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

// shortFloat reads "-12.345" where the digits and the power of ten are numbers
// that the dtype holds exactly, so that their quotient is rounded once.
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

// trim is bytes.TrimSpace, which is only called where it finds something.
func trim(text []byte) []byte {
	if n := len(text); n > 0 && (text[0] <= ' ' || text[0] >= 0x80 || text[n-1] <= ' ' || text[n-1] >= 0x80) {
		return bytes.TrimSpace(text)
	}
	return text
}

// vectorOf appends the values of a vector: separated by spaces, commas or ';', or
// in brackets, one pair a dimension. Strings are separated by ';' if there is
// one, else by spaces; in brackets by commas, in quotes or not.
func (c *column) vectorOf(text []byte) (int, bool) {
	depth, n := 0, 0
	for len(text) > 0 && text[0] == '[' {
		if text[len(text)-1] != ']' {
			return 0, false
		}
		text = bytes.TrimSpace(text[1 : len(text)-1])
		if depth++; depth == len(c.Shape) {
			break
		}
		if depth > 0 && len(text) > 0 && text[0] == '[' {
			return c.nested(text, depth)
		}
	}
	if c.DType == graph.String {
		return c.strings(text, depth > 0)
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
		text = bytes.TrimLeft(text[end:], " \t\r\n")
		if len(text) > 0 && (text[0] == ',' || text[0] == ';') {
			if text = text[1:]; len(bytes.TrimSpace(text)) == 0 {
				return 0, false
			}
		}
	}
}

// nested reads the rows of a matrix: "[1, 2], [3, 4]", brackets around brackets
// where there are more dimensions.
func (c *column) nested(text []byte, depth int) (int, bool) {
	inner := *c
	inner.Shape, inner.ragged = c.Shape[depth:], false
	inner.values = 1
	for _, d := range inner.Shape {
		inner.values *= d
	}
	total := 0
	for {
		level, end := 0, 0
		for i, b := range text {
			if b == '[' {
				level++
			} else if b == ']' {
				if level--; level == 0 {
					end = i + 1
					break
				}
			}
		}
		if end == 0 || text[0] != '[' {
			return 0, false
		}
		n, ok := inner.vectorOf(text[:end])
		if !ok || n != inner.values {
			return 0, false
		}
		total += n
		text = bytes.TrimLeft(text[end:], " \t\r\n")
		if len(text) == 0 {
			c.data, c.ends = inner.data, inner.ends
			return total, true
		}
		if text[0] == ',' || text[0] == ';' {
			text = bytes.TrimLeft(text[1:], " \t\r\n")
			if len(text) == 0 {
				return 0, false
			}
		}
	}
}

// strings appends the elements of a list of strings.
func (c *column) strings(text []byte, bracketed bool) (int, bool) {
	if len(text) == 0 {
		return 0, true
	}
	if !bracketed {
		var parts []string
		if bytes.IndexByte(text, ';') >= 0 {
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
