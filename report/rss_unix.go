//go:build unix && !linux

package report

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the peak of the resident memory of the process in bytes, or 0 where it is not known.
func PeakRSS() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
