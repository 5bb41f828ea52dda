package operation

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Available returns the bytes of memory that can be taken without harm to other programs: the free memory and the pages that Windows drops when
// memory is short, at most what is left of the memory and the page file together. 0 means unknown. Limits of job objects are not looked at.
func Available(vfs.FS) int64 {
	var m memoryStatus
	m.size = uint32(unsafe.Sizeof(m))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 0
	}
	return int64(min(m.availablePhysical, m.availablePageFile, math.MaxInt64))
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	size, load                       uint32
	totalPhysical, availablePhysical uint64
	totalPageFile, availablePageFile uint64
	totalVirtual, availableVirtual   uint64
	availableExtendedVirtual         uint64
}
