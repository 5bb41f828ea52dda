package store

import (
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// Numbers is any fixed-size number that an array holds.
type Numbers interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Bytes views numbers as the bytes that files hold. Files are little-endian, and
// so is every machine that the product is built for.
func Bytes[T Numbers](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// View is the inverse of Bytes; b starts at a multiple of the size of T.
func View[T Numbers](b []byte) []T {
	var zero T
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Index views an array of uint32 or uint64.
func index(descr string, b []byte) (graph.Index, bool) {
	switch descr {
	case "u4":
		return graph.Index{U32: View[uint32](b)}, true
	case "u8":
		return graph.Index{U64: View[uint64](b)}, true
	}
	return graph.Index{}, false
}
