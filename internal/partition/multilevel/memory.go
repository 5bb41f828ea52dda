package multilevel

import (
	"sync"
	"unsafe"

	"github.com/graphmill/graphmill/internal/extsort"
)

// slabFrom is the size in bytes from which an array is allocated outside the heap.
const slabFrom = 1 << 20

// memory allocates arrays. Large ones come from the operating system and return to it as soon as they are
// released. The peak is then the memory in use, and does not depend on the garbage collector.
type memory struct {
	mu    sync.Mutex
	slabs [][]byte
}

type word interface {
	~uint16 | ~uint32 | ~int32 | ~uint64 | ~int64
}

// takeZeros allocates an array of n zeros.
func takeZeros[T word](m *memory, n int) []T {
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	if size < slabFrom {
		return make([]T, n)
	}
	b, err := extsort.Slab(size)
	if err != nil {
		return make([]T, n) // if this fails, it fails like any allocation
	}
	m.mu.Lock()
	m.slabs = append(m.slabs, b)
	m.mu.Unlock()
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// give releases an array that takeZeros returned. Nothing may use it afterwards.
func give[T word](m *memory, s []T) {
	if cap(s) == 0 {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, b := range m.slabs {
		if unsafe.Pointer(unsafe.SliceData(b)) == p {
			extsort.Free(b)
			m.slabs[i] = m.slabs[len(m.slabs)-1]
			m.slabs = m.slabs[:len(m.slabs)-1]
			return
		}
	}
}

// close releases everything.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.slabs {
		extsort.Free(b)
	}
	m.slabs = nil
}
