package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// SetDirect implements File. macOS has no aligned direct reads and writes: with F_NOCACHE it leaves the bytes that it moves out of the
// page cache.
func (f osFile) SetDirect(on bool) error {
	value := 0
	if on {
		value = 1
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_NOCACHE, value); err != nil {
		return &fs.PathError{Op: "direct", Path: f.Name(), Err: err}
	}
	return nil
}

// Evict implements File. macOS has no such hint.
func (osFile) Evict(off, n int64) {}

// Reserve implements File. F_PREALLOCATE of macOS reserves after the end of the file only, not at an offset.
func (osFile) Reserve(off, n int64) {}

// Discard implements File. The space is given back when the file is removed.
func (osFile) Discard(off, n int64) {}
