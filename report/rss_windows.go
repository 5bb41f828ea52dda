package report

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// PeakRSS returns the peak of the resident memory of the process in bytes, including mapped pages, or 0 where it is not
// known. It is the peak of the working set.
func PeakRSS() int64 {
	var m processMemory
	m.size = uint32(unsafe.Sizeof(m))
	ok, _, _ := getProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&m)), uintptr(m.size))
	if ok == 0 {
		return 0
	}
	return int64(m.peakWorkingSet)
}

var getProcessMemoryInfo = windows.NewLazySystemDLL("psapi.dll").NewProc("GetProcessMemoryInfo")

// processMemory is PROCESS_MEMORY_COUNTERS of the Windows API.
type processMemory struct {
	size, faults                                     uint32
	peakWorkingSet, workingSet                       uintptr
	peakPagedPool, pagedPool, peakNonPaged, nonPaged uintptr
	pageFile, peakPageFile                           uintptr
}
