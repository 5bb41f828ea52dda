//go:build unix

package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Free implements FS.
func (osFS) Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // other systems have other types
}
