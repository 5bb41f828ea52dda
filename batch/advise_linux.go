package batch

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// willNeed tells the kernel that bytes of a memory map will be read soon. It changes how
// fast they come, never what they are; on other memory it does nothing.
func willNeed(b []byte) {
	page := uintptr(os.Getpagesize())
	if len(b) == 0 {
		return
	}
	// madvise wants a page's border: the bytes before b on its first page are part of
	// the same mapping.
	p := unsafe.Pointer(unsafe.SliceData(b))
	skip := uintptr(p) % page
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, -int(skip))), uintptr(len(b))+skip), unix.MADV_WILLNEED)
}
