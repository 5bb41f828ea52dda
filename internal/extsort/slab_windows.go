package extsort

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapMemory is n zeros outside the heap. They become resident when they are used, but Windows counts all of them against the memory and the
// page file at once.
func mapMemory(n int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n), nil
}

func unmapMemory(b []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE) // fails only for memory that is no slab
}
