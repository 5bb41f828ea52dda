package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func (osFS) Exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if err == nil {
		return nil
	}
	if unsupported(err) || err == unix.EINVAL { // not supported by the file system
		return exchange(a, b)
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
