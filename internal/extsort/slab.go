package extsort

import "fmt"

// hugeFrom is the size from which a slab asks for huge pages, because writes to many buffers in turn would miss the
// TLB.
const hugeFrom = 4 << 20

// Slab is memory outside the Go heap. It reads as zeros and is not resident until it is used. Free frees it.
func Slab(n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := mapMemory(n)
	if err != nil {
		return nil, fmt.Errorf("no memory for %d bytes: %w", n, err)
	}
	if n >= hugeFrom {
		adviseHuge(b)
	}
	return b, nil
}

// Free frees a slab. Nothing may use it afterwards.
func Free(b []byte) {
	if b = b[:cap(b)]; len(b) > 0 {
		unmapMemory(b)
	}
}
