package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback is a hint. Sync reports errors.
func startWriteback(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
