package report

import (
	"bytes"
	"os"
	"strconv"
)

// PeakRSS is the most memory that the process has had resident, in bytes, mapped
// pages included: VmHWM of /proc/self/status. It is 0 where that is not told.
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
