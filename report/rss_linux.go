package report

import (
	"bytes"
	"os"
	"strconv"
)

// PeakRSS returns the peak of the resident memory of the process in bytes, including mapped pages, or 0 where it is not
// known. It reads VmHWM of /proc/self/status.
func PeakRSS() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte("VmHWM:"))
		if !ok {
			continue
		}
		kib, ok := bytes.CutSuffix(bytes.TrimSpace(rest), []byte(" kB"))
		n, err := strconv.ParseInt(string(kib), 10, 64)
		if !ok || err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
