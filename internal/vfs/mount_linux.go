//go:build !portable

package vfs

import "golang.org/x/sys/unix"

// IsMount says whether a file system is mounted on the folder, so that no rename can replace it.
func IsMount(dir string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE, &s)
	return err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
