package sample

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// adviseHuge asks for huge pages for the whole huge pages within a slice of the heap that is not in use yet. It changes
// how fast the slice is and never its values.
func adviseHuge[T uint32 | ~uint64 | float64](words []T) {
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
func makeTable[T uint32 | ~uint64 | float64](n int) []T {
	words := make([]T, n)
	if n > 0 {
		adviseHuge(words)
	}
	return words
}
