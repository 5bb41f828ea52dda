package sample

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
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
	return view[uint32](body, n), func() { _ = unix.Munmap(m) }, nil
}
