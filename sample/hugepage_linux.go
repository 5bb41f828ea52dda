package sample

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/graph"
)

const hugePage = 2 << 20

// allocHuge is n zeroed words in anonymous memory that starts on a 2 MiB border
// and asks for huge pages: random reads then miss the TLB far less. free gives
// the memory back.
func allocHuge(n int) (words []uint32, free func(), err error) {
	m, err := unix.Mmap(-1, 0, n*4+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping %d bytes: %w", n*4, err)
	}
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(m))) % hugePage
	body := m[skip : skip+uintptr(n*4)]
	// Without huge pages the memory serves as well, only slower.
	_ = unix.Madvise(body, unix.MADV_HUGEPAGE)
	return graph.View[uint32](body), func() { _ = unix.Munmap(m) }, nil
}

// adviseHuge asks for huge pages for the whole ones within a slice of the heap
// that is not in use yet. It changes how fast the slice is, never what it holds.
func adviseHuge[T uint32 | uint64 | float64](words []T) {
	p := unsafe.Pointer(unsafe.SliceData(words))
	size := uintptr(len(words)) * unsafe.Sizeof(words[0])
	skip := -uintptr(p) % hugePage
	if size < skip+hugePage {
		return
	}
	body := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)/hugePage*hugePage)
	_ = unix.Madvise(body, unix.MADV_HUGEPAGE)
}

// makeTable is a zeroed slice that is read at random.
func makeTable[T uint32 | uint64 | float64](n int) []T {
	words := make([]T, n)
	if n > 0 {
		adviseHuge(words)
	}
	return words
}
