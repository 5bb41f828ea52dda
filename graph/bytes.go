package graph

import "unsafe"

// Numbers is any fixed-size number that an array holds.
type Numbers interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Bytes views numbers as the bytes in files. Files are little-endian, as is every machine that the product is built
// for: see machine.go.
func Bytes[T Numbers](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// View is the inverse of Bytes. b must start at a multiple of the size of T.
func View[T Numbers](b []byte) []T {
	var zero T
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}
