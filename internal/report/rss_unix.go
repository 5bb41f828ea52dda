//go:build unix && !linux

package report

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// PeakRSS is the most memory that the process has had resident, in bytes. It is
// 0 where that is not told.
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
