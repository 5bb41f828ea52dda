package batch

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// willNeed tells the kernel that bytes of a memory map will be read soon. It changes how fast they are read and never
// their values. On other memory it does nothing.
func willNeed(b []byte) {
	if len(b) == 0 {
		return
	}
	// madvise needs an address at the start of a page. In a memory map, the bytes before b on its first page belong to
	// the map, too. In Go's own memory a pointer to them would not point into b, so the address stays a number.
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := at % uintptr(os.Getpagesize())
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, at-skip, uintptr(len(b))+skip, unix.MADV_WILLNEED)
	runtime.KeepAlive(b)
}
