package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func (f osFile) SetDirect(on bool) error {
	fd := f.Fd()
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err == nil {
		if flags &^= unix.O_DIRECT; on {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(fd, unix.F_SETFL, flags)
	}
	if err != nil {
		return &fs.PathError{Op: "direct", Path: f.Name(), Err: err}
	}
	return nil
}

func (f osFile) Evict(off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED)
}

func (f osFile) Reserve(off, n int64) {
	_ = unix.Fallocate(int(f.Fd()), 0, off, n)
}

func (f osFile) Discard(off, n int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}
