//go:build unix && (!linux || portable)

package vfs

import (
	"os"
	"path/filepath"
	"syscall"
)

// IsMount says whether a file system is mounted on the folder, so that no rename can replace it.
func IsMount(dir string) bool {
	inside, err := os.Lstat(dir)
	above, err2 := os.Stat(filepath.Dir(filepath.Clean(dir)))
	if err != nil || err2 != nil {
		return false // a later call says why
	}
	a, isStat := inside.Sys().(*syscall.Stat_t)
	b, areStats := above.Sys().(*syscall.Stat_t)
	return isStat && areStats && inside.IsDir() && a.Dev != b.Dev
}
