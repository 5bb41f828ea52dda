package scalar

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
)

// Whole returns a floating-point value that is an integer which its dtype tells from all others. For other values it returns what
// was found.
func Whole(b []byte, d graph.DType) (v int64, other string) {
	f, bits := Float(b, d), 53
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

// IntegerText returns the decimal text of a widened value.
func IntegerText(v uint64, d graph.DType) string {
	if d == graph.Uint64 {
		return strconv.FormatUint(v, 10)
	}
	return strconv.FormatInt(int64(v), 10)
}

// Clash returns the index of the first value whose high bit is a sign in one dtype and part of a large number in the
// other, or -1.
func Clash(w []uint64, from, to graph.DType) int {
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

// Widen converts integers and bools to 64 bits, in two's complement.
func Widen(w []uint64, raw []byte, step int, d graph.DType) {
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

// Float reads a floating-point value.
func Float(b []byte, d graph.DType) float64 {
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
