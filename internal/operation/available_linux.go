package operation

import (
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Available returns the bytes of memory that can be taken without harm to other programs: the available memory of the
// machine, at most the limits of the process's control groups. 0 means unknown.
func Available(fsys vfs.FS) int64 {
	text := func(name string) string {
		f, err := fsys.Open(name)
		if err != nil {
			return ""
		}
		b, _ := io.ReadAll(io.LimitReader(f, 1<<16)) // these files have no size
		_ = f.Close()
		return strings.TrimSpace(string(b))
	}
	var least int64
	for line := range strings.Lines(text("/proc/meminfo")) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemAvailable:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			least = kib << 10
		}
	}
	for line := range strings.Lines(text("/proc/self/cgroup")) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		kind, group, _ := strings.Cut(rest, ":")
		var limit string
		switch {
		case number == "0":
			limit = "/sys/fs/cgroup/*/memory.max"
		case kind == "memory": // version 1
			limit = "/sys/fs/cgroup/memory/*/memory.limit_in_bytes"
		default:
			continue
		}
		// The parent groups have limits as well. A container sees its own group as the root.
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			if n, err := strconv.ParseInt(text(path.Clean(strings.Replace(limit, "*", group, 1))), 10, 64); err == nil {
				least = min(least, n)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}
