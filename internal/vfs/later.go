package vfs

import (
	"context"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/guard"
)

// Later is a File whose bytes come from another machine, so that mapping it can wait until it is known whether they are wanted.
type Later interface {
	File
	// MapLater is Map without its bytes, but for the first HeadBytes of them: a read of the others is an error of
	// guard.Do until fetch has returned. fetch is called at most once, before the returned unmap.
	MapLater() (b []byte, fetch FetchBytes, unmap func() error, err error)
}

// FetchBytes brings the bytes of a file from one place to another, perhaps some around them; a place beyond the end is the end.
type FetchBytes func(ctx context.Context, from, to int64) error

// HeadBytes is how many bytes at the start of a map of MapLater are there at once.
const HeadBytes = 4096

// Reserve reserves the addresses of a map of size bytes, which is more than 0, and makes head its first bytes, at
// most HeadBytes. A read of the rest is an error of guard.Do, which names the file name.
func Reserve(size int64, head []byte, name string, info fs.FileInfo) (b []byte, unmap func() error, err error) {
	if int64(int(size)) != size {
		return nil, nil, &fs.PathError{Op: "mmap", Path: name, Err: unix.EOVERFLOW}
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
