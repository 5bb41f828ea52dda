package batch

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// willNeed tells the kernel that bytes of a memory map will be read soon. It changes how
// fast they come, never what they are; on other memory it does nothing.
func willNeed(b []byte) {
	if len(b) == 0 {
		return
	}
	// madvise wants a page's border. In a memory map the bytes before b on its first page
	// are of the map too; a pointer to them would not be one into b where b is Go's own
	// memory, so the address stays a number.
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := at % uintptr(os.Getpagesize())
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, at-skip, uintptr(len(b))+skip, unix.MADV_WILLNEED)
	runtime.KeepAlive(b)
}
