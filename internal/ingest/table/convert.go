package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
)

// readable says whether convert can convert values of one dtype to another. Floats that are whole numbers are integers, and
// texts as ids.
func readable(from, to graph.DType, id bool) bool {
	return from == to || to == graph.String && (id || !from.IsFloat()) || from.IsFloat() && to.IsInt() ||
		(from.IsInt() || from == graph.Bool) && (to.IsInt() || to.IsFloat() && to != graph.BFloat16 || to == graph.Bool) ||
		from.IsFloat() && to.IsFloat() || from == graph.Uint16 && to == graph.BFloat16
}

// convert appends n values of raw, of dtype from and step bytes apart, converted to values of a column. It returns the index of
// the first value that does not fit and its text, or -1.
func convert(out *words, ends *[]uint32, raw []byte, n int, from graph.DType, step int, c *Column) (int, string) {
	size, to := from.Size(), c.DType
	switch {
	case step == size && (from == to || from == graph.Uint16 && to == graph.BFloat16):
		copy(out.add(n*size), raw)
		return -1, ""
	case from.IsFloat() && (to.IsInt() || to == graph.String):
		return convertWhole(out, ends, raw, step, n, from, to)
	case from.IsFloat():
		return convertFloats(out, raw, step, n, from, c)
	case to.IsInt():
		out.add(8 * n)
		w := out.w[:n]
		widen(w, raw, step, from)
		if bad := clash(w, from, to); bad >= 0 {
			return bad, integer(w[bad], from)
		}
		if bad := narrow(w, to); bad >= 0 {
			return bad, integer(w[bad], from)
		}
		out.n = n * to.Size()
		return -1, ""
	}
	return convertInts(out, ends, raw, step, n, from, to)
}

// convertWhole appends n floats that are whole numbers, step bytes apart, as integers or strings.
func convertWhole(out *words, ends *[]uint32, raw []byte, step, n int, from, to graph.DType) (int, string) {
	least, largest := bounds(to)
	for i := range n {
		v, text := whole(raw[i*step:], from)
		if text != "" {
			return i, text
		}
		if to == graph.String {
			text = strconv.FormatInt(v, 10)
			copy(out.add(len(text)), text)
			*ends = append(*ends, uint32(out.n))
			continue
		}
		putInt(out.add(to.Size()), uint64(v))
		if v < least || v > 0 && uint64(v) > largest {
			return i, strconv.FormatInt(v, 10)
		}
	}
	return -1, ""
}

// convertFloats appends n floats, step bytes apart, as floats of the dtype of c, and counts those that become subnormal.
func convertFloats(out *words, raw []byte, step, n int, from graph.DType, c *Column) (int, string) {
	small := uint64(0)
	for i := range n {
		v := getFloat(raw[i*step:], from)
		if !putFloat(out.add(c.DType.Size()), c.DType, v) {
			return i, strconv.FormatFloat(v, 'g', -1, 64)
		}
		if f := float64(float32(v)); f != v && math.Abs(f) < 0x1p-126 {
			small++
		}
	}
	if c.Underflows != nil && c.DType == graph.Float32 {
		c.Underflows.Add(small)
	}
	return -1, ""
}

// convertInts appends n integers, step bytes apart, as strings, bools or floats.
func convertInts(out *words, ends *[]uint32, raw []byte, step, n int, from, to graph.DType) (int, string) {
	var one [1]uint64
	for i := range n {
		widen(one[:], raw[i*step:], step, from)
		switch {
		case to == graph.String:
			text := integer(one[0], from)
			copy(out.add(len(text)), text)
			*ends = append(*ends, uint32(out.n))
		case to == graph.Bool:
			if one[0] > 1 {
				return i, integer(one[0], from)
			}
			out.add(1)[0] = byte(one[0])
		default:
			v := float64(int64(one[0]))
			if from == graph.Uint64 {
				v = float64(one[0])
			}
			if !putFloat(out.add(to.Size()), to, v) {
				return i, integer(one[0], from)
			}
		}
	}
	return -1, ""
}

// whole returns a floating-point value that is an integer which its dtype tells from all others. For other values it returns what
// was found.
func whole(b []byte, d graph.DType) (v int64, other string) {
	f, bits := getFloat(b, d), 53
	switch d {
	case graph.Float32:
		bits = 24
	case graph.Float16:
		bits = 11
	}
	switch {
	case f != math.Trunc(f) || math.IsInf(f, 0):
		return 0, strconv.FormatFloat(f, 'g', -1, 64)
	case math.Abs(f) >= float64(int64(1)<<bits):
		return 0, fmt.Sprintf("%s, which may have been another integer, as %s rounds them from 2^%d on,", strconv.FormatFloat(f, 'f', -1, 64), d, bits)
	}
	return int64(f), ""
}

// expectedNumber describes the values of a column for an error about a number.
func expectedNumber(c *Column) string {
	if c.DType == graph.String {
		return "a whole number as an id"
	}
	return expectedOf(c.DType)
}

// expectedOf describes the values of a dtype.
func expectedOf(d graph.DType) string {
	return (&column{Column: Column{DType: d}}).expected()
}

// integer returns the decimal text of a widened value.
func integer(v uint64, d graph.DType) string {
	if d == graph.Uint64 {
		return strconv.FormatUint(v, 10)
	}
	return strconv.FormatInt(int64(v), 10)
}

// clash returns the index of the first value whose high bit is a sign in one dtype and part of a large number in the
// other, or -1.
func clash(w []uint64, from, to graph.DType) int {
	signed := func(d graph.DType) bool { return d >= graph.Int8 && d <= graph.Int64 }
	if !(from == graph.Uint64 && signed(to) || signed(from) && to == graph.Uint64) {
		return -1
	}
	all := uint64(0)
	for _, v := range w {
		all |= v
	}
	if all>>63 == 0 {
		return -1
	}
	for i, v := range w {
		if v>>63 != 0 {
			return i
		}
	}
	return -1
}

// widen converts integers and bools to 64 bits, in two's complement.
func widen(w []uint64, raw []byte, step int, d graph.DType) {
	le := binary.LittleEndian
	switch d {
	case graph.Bool, graph.Uint8:
		for i := range w {
			w[i] = uint64(raw[i*step])
		}
	case graph.Int8:
		for i := range w {
			w[i] = uint64(int8(raw[i*step]))
		}
	case graph.Uint16:
		for i := range w {
			w[i] = uint64(le.Uint16(raw[i*step:]))
		}
	case graph.Int16:
		for i := range w {
			w[i] = uint64(int16(le.Uint16(raw[i*step:])))
		}
	case graph.Uint32:
		for i := range w {
			w[i] = uint64(le.Uint32(raw[i*step:]))
		}
	case graph.Int32:
		for i := range w {
			w[i] = uint64(int32(le.Uint32(raw[i*step:])))
		}
	default:
		for i := range w {
			w[i] = le.Uint64(raw[i*step:])
		}
	}
}

// getFloat reads a floating-point value.
func getFloat(b []byte, d graph.DType) float64 {
	le := binary.LittleEndian
	switch d {
	case graph.Float64:
		return math.Float64frombits(le.Uint64(b))
	case graph.Float32:
		return float64(math.Float32frombits(le.Uint32(b)))
	}
	h := le.Uint16(b)
	sign, e, m := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch e {
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	case 0:
		return sign * math.Ldexp(m, -24)
	}
	return sign * math.Ldexp(m+1024, e-25)
}
