package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func (osFS) Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if err == nil {
		return nil
	}
	if err == unix.EINVAL || err == unix.ENOSYS { // not supported by the file system or the kernel
		return exchange(a, b)
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
