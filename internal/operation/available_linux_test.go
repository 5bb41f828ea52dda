package operation

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// lies opens what lies in a folder in the place of the system's own files.
type lies struct {
	vfs.FS
	root string
}

func (b lies) Open(name string) (vfs.File, error) { return b.FS.Open(filepath.Join(b.root, name)) }

func TestAvailable(t *testing.T) {
	const machine = "MemTotal:  100 kB\nMemAvailable:   64 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"unknown": {map[string]string{}, 0},
		"machine": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n"}, 64 << 10},
		"container": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "4096\n",
		}, 4096},
		"no limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/user\n", "sys/fs/cgroup/user/memory.max": "max\n",
		}, 64 << 10},
		"group above": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/user/memory.max": "8192\n", "sys/fs/cgroup/user/job/memory.max": "16384\n",
		}, 8192},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:devices:/a\n4:memory:/a/b\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "4096\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
		}, 4096},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), fs.FileMode(0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if got := Available(lies{vfs.OS, root}); got != c.want {
				t.Errorf("found %d, expected %d", got, c.want)
			}
		})
	}
}
