package direct

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge is a hint: without huge pages the memory is only slower.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

func adviseSmall(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }

// mincore sets bit 0 of pages[i] where the i-th page of a map is in memory.
func mincore(m, pages []byte) error {
	_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(m))),
		uintptr(len(m)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	if e != 0 {
		return e
	}
	return nil
}
