//go:build unix

package trial

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/vfs"
)

// usage is what the process, and the machine, have used so far.
type usage struct {
	at            time.Time
	seconds       float64 // of a difference
	cpu           float64
	busy          float64 // seconds of all processors of the machine
	read, written int64   // at the block device
}

// now is the usage up to now. Figures that the system does not tell are 0.
func now(fsys vfs.FS) (usage, error) {
	u := usage{at: time.Now()}
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return u, fmt.Errorf("getrusage: %w", err)
	}
	u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
	for line := range strings.Lines(proc(fsys, "/proc/self/io")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "read_bytes":
			u.read = n
		case "write_bytes":
			u.written = n
		}
	}
	first, _, _ := strings.Cut(proc(fsys, "/proc/stat"), "\n")
	// user, nice, system, idle, iowait, irq, softirq, steal; in hundredths of a second.
	for i, field := range strings.Fields(first) {
		if i >= 1 && i <= 8 && i != 4 && i != 5 {
			n, _ := strconv.ParseInt(field, 10, 64)
			u.busy += float64(n) / 100
		}
	}
	return u, nil
}

func (u usage) since(before usage) usage {
	return usage{at: u.at, seconds: max(u.at.Sub(before.at), 1).Seconds(), cpu: u.cpu - before.cpu, busy: u.busy - before.busy,
		read: u.read - before.read, written: u.written - before.written}
}

// others is the share of the machine that other programs used, in a difference.
func (u usage) others() float64 {
	return max(0, u.busy-u.cpu) / (u.seconds * float64(runtime.NumCPU()))
}

// proc is the content of a file without a size, or nothing.
func proc(fsys vfs.FS, name string) string {
	f, err := fsys.Open(name)
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	_, _ = io.Copy(&b, io.LimitReader(f, 1<<16))
	_ = f.Close()
	return b.String()
}
