package scalar

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// LeadingZero says whether an integer is written with zeros that the number does not keep.
func LeadingZero(text []byte) bool {
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	return len(text) > 1 && text[0] == '0'
}

// ParseBool parses 0, 1, true, false, and t and f, as PostgreSQL and R write them.
func ParseBool(text []byte) (byte, bool) {
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

// ParseInt parses a decimal integer in the range of a dtype, with or without a sign. Negative numbers are returned in
// two's complement.
func ParseInt(text []byte, d graph.DType) (uint64, bool) {
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
	least, largest := Bounds(d)
	if negative {
		return -v, len(text) > 0 && v <= -uint64(least)
	}
	return v, len(text) > 0 && v <= largest
}

// WideFloat is the number from which on Float32 does not hold every integer.
const WideFloat = 1 << 24

// ParseFloat parses a decimal number, nan or inf. The result is rounded once, to Float32 if d is Float32.
func ParseFloat(text []byte, d graph.DType) (float64, bool) {
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

// Trim is bytes.TrimSpace, but does not call it if there is nothing to trim.
func Trim(text []byte) []byte {
	if n := len(text); n > 0 && (text[0] <= ' ' || text[0] >= 0x80 || text[n-1] <= ' ' || text[n-1] >= 0x80) {
		return bytes.TrimSpace(text)
	}
	return text
}

// WholeDigits is the digits before the point of a text such as 2.0, and any other text as it is.
func WholeDigits(text []byte) []byte {
	point := bytes.IndexByte(text, '.')
	if point < 1 || point == len(text)-1 || len(bytes.TrimRight(text[point+1:], "0")) > 0 {
		return text
	}
	for _, c := range text[:point] {
		if c < '0' || c > '9' {
			return text
		}
	}
	return text[:point]
}

// IsMissing says whether a text is a word that programs write for a missing value. In columns of numbers, bools and times
// it is an empty cell; elsewhere it is a text.
func IsMissing(text []byte) bool {
	switch string(text) {
	case "NA", "N/A", "#N/A", "null", "NULL", "None", `\N`:
		return true
	}
	return false
}

// Quote returns the start of a cell for an error.
func Quote(cell []byte) string {
	if len(cell) > 40 {
		return fmt.Sprintf("%q...", cell[:40])
	}
	return fmt.Sprintf("%q", cell)
}

// CutEscaped cuts a text at each ';' but those after a backslash, which it takes off.
func CutEscaped(text string) (parts []string) {
	part := []byte{}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ';':
			i++
			part = append(part, ';')
		case text[i] == ';':
			parts, part = append(parts, string(part)), part[:0]
		default:
			part = append(part, text[i])
		}
	}
	return append(parts, string(part))
}
