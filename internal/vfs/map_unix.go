//go:build unix

package vfs

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/guard"
)

// errTooLarge is the error of a file that has more bytes than there are addresses.
const errTooLarge = unix.EOVERFLOW

// mapFile maps the first size bytes of a file.
func mapFile(f *os.File, size int) (b []byte, unmap func() error, err error) {
	b, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	return b, func() error { return unix.Munmap(b) }, err
}

// Reserve reserves the addresses of a map of size bytes, which is more than 0, and makes head its first bytes, at
// most HeadBytes. A read of the rest is an error of guard.Do, which names the file name.
func Reserve(size int64, head []byte, name string, info fs.FileInfo) (b []byte, unmap func() error, err error) {
	if int64(int(size)) != size {
		return nil, nil, &fs.PathError{Op: "mmap", Path: name, Err: errTooLarge}
	}
	b, err = unix.Mmap(-1, 0, int(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "mmap", Path: name, Err: err}
	}
	first := b[:min(len(b), os.Getpagesize())]
	err = unix.Mprotect(first, unix.PROT_READ|unix.PROT_WRITE)
	if err == nil {
		copy(first, head)
		err = unix.Mprotect(first, unix.PROT_READ)
	}
	if err != nil {
		_ = unix.Munmap(b) // the first error says more
		return nil, nil, &fs.PathError{Op: "mprotect", Path: name, Err: err}
	}
	guard.Register(b, name, info)
	return b, func() error {
		guard.Unregister(b)
		return unix.Munmap(b)
	}, nil
}

// MapOver maps a file of the operating system from off on, a multiple of a page, in the place of bytes of Reserve. The file has at least as many.
func MapOver(b []byte, f File, off int64) error {
	fd, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return &fs.PathError{Op: "mmap", Path: f.Name(), Err: fs.ErrInvalid}
	}
	if _, err := unix.MmapPtr(int(fd.Fd()), off, unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return nil
}

// Release gives the memory of the pages of a map back. They are read again when they are needed. b is the result of
// File.Map.
func Release(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return unix.Madvise(b, unix.MADV_DONTNEED)
}

// ReadAtRandom says that a map is read in no order, so that a page which is not in memory is read alone. b is the result of File.Map.
func ReadAtRandom(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_RANDOM) // a hint
	}
}
