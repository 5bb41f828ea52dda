package scalar

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// Words is a growing run of bytes that starts at an 8-byte boundary.
type Words struct {
	W []uint64 // has room for at least N bytes
	N int      // number of bytes in use
}

// Bytes is all of the run, of which N bytes are in use.
func (d *Words) Bytes() []byte {
	if len(d.W) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&d.W[0])), 8*len(d.W))
}

// Add appends n bytes and returns them. Their content is undefined.
func (d *Words) Add(n int) []byte {
	if d.N+n > 8*len(d.W) {
		w := make([]uint64, max(2*len(d.W), (d.N+n+7)/8, 64))
		copy(w, d.W[:(d.N+7)/8])
		d.W = w
	}
	d.N += n
	return d.Bytes()[d.N-n : d.N]
}

// PutInt stores the low bytes of v as an integer dtype.
func PutInt(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// PutFloat rounds v to a floating-point dtype. It returns false if v exceeds the dtype's largest number.
func PutFloat(b []byte, d graph.DType, v float64) bool {
	switch d {
	case graph.Float64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
	case graph.Float32:
		f := float32(v)
		binary.LittleEndian.PutUint32(b, math.Float32bits(f))
		return !math.IsInf(float64(f), 0) || math.IsInf(v, 0)
	case graph.Float16:
		h := roundFloat(v, 10, 5)
		binary.LittleEndian.PutUint16(b, h)
		return h&0x7fff != 0x7c00 || math.IsInf(v, 0)
	case graph.BFloat16:
		h := roundFloat(v, 7, 8)
		binary.LittleEndian.PutUint16(b, h)
		return h&0x7fff != 0x7f80 || math.IsInf(v, 0)
	}
	return true
}

// roundFloat returns the 16-bit number nearest to v, ties to even, with the given numbers of bits of mantissa and
// exponent.
func roundFloat(v float64, mantissa, exponent int) uint16 {
	sign := uint16(math.Float64bits(v)>>63) << 15
	inf := (uint16(1)<<exponent - 1) << mantissa
	v = math.Abs(v)
	switch {
	case math.IsNaN(v):
		return sign | inf | 1<<(mantissa-1)
	case math.IsInf(v, 0):
		return sign | inf
	case v == 0:
		return sign
	}
	bias := 1<<(exponent-1) - 1
	_, e := math.Frexp(v) // v = f * 2^e, 0.5 <= f < 1
	e = max(e-1, 1-bias)  // subnormal numbers share the least exponent
	// m is in units of the last place. The scaling is exact, so there is one rounding.
	m := math.RoundToEven(math.Ldexp(v, mantissa-e))
	if e == 1-bias && m < float64(uint32(1)<<mantissa) {
		return sign | uint16(m)
	}
	// A mantissa rounded up to the next power of two carries into the exponent.
	bits := uint64(e+bias-1)<<mantissa + uint64(m)
	if bits >= uint64(inf) {
		return sign | inf
	}
	return sign | uint16(bits)
}

// Bounds returns the least and the largest integer of a dtype.
func Bounds(d graph.DType) (least int64, largest uint64) {
	n := 8 * d.Size()
	if d >= graph.Uint8 {
		return 0, math.MaxUint64 >> (64 - n)
	}
	return math.MinInt64 >> (64 - n), math.MaxInt64 >> (64 - n)
}

// Narrow converts 64-bit integers, the first n words, to a dtype in place. It returns the index of the first that
// does not fit, or -1. If the dtype is signed, a value above the largest int64 is taken as negative.
func Narrow(w []uint64, d graph.DType) int {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))
	switch d {
	case graph.Uint8, graph.Uint16, graph.Uint32:
		_, largest := Bounds(d)
		for i, v := range w {
			if v > largest {
				return i
			}
		}
	case graph.Int8, graph.Int16, graph.Int32:
		least, largest := Bounds(d)
		for i, v := range w {
			if int64(v) < least || int64(v) > int64(largest) {
				return i
			}
		}
	}
	// Values move only to lower addresses, in order.
	switch d.Size() {
	case 1:
		for i, v := range w {
			b[i] = byte(v)
		}
	case 2:
		for i, v := range w {
			binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
		}
	case 4:
		for i, v := range w {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
		}
	}
	return -1
}

// AsWords is the inverse of Words.Bytes for whole words.
func AsWords(b []byte) []uint64 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
}
