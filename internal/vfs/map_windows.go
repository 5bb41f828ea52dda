package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/graphmill/graphmill/internal/guard"
)

// errTooLarge is the error of a file that has more bytes than there are addresses.
const errTooLarge = windows.ERROR_ARITHMETIC_OVERFLOW

// mapFile maps the first size bytes of a file.
func mapFile(f *os.File, size int) (b []byte, unmap func() error, err error) {
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	at, err := windows.MapViewOfFile(m, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err := errors.Join(err, windows.CloseHandle(m)); err != nil { // the view keeps the map
		return nil, nil, err
	}
	return bytesAt(at, size), func() error { return windows.UnmapViewOfFile(at) }, nil
}

// bytesAt are n bytes at an address outside the heap.
func bytesAt(at uintptr, n int) []byte { return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n) }

// Reserve reserves the addresses of a map of size bytes, which is more than 0, and makes head its first bytes, at
// most HeadBytes. A read of the rest is an error of guard.Do, which names the file name.
func Reserve(size int64, head []byte, name string, info fs.FileInfo) (b []byte, unmap func() error, err error) {
	if int64(int(size)) != size {
		return nil, nil, &fs.PathError{Op: "mmap", Path: name, Err: errTooLarge}
	}
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "mmap", Path: name, Err: err}
	}
	free := func() error { return windows.VirtualFree(at, 0, windows.MEM_RELEASE) }
	b = bytesAt(at, int(size))
	first := b[:min(len(b), os.Getpagesize())]
	if _, err := windows.VirtualAlloc(at, uintptr(len(first)), windows.MEM_COMMIT, windows.PAGE_READWRITE); err != nil {
		return nil, nil, errors.Join(&fs.PathError{Op: "mmap", Path: name, Err: err}, free())
	}
	copy(first, head)
	guard.Register(b, name, info)
	return b, func() error {
		guard.Unregister(b)
		return free()
	}, nil
}

// MapOver makes bytes of Reserve those of a file of the operating system from off on, a multiple of a page. The file has at least as many. They are
// a copy, which takes memory: Windows maps files at addresses of its own.
func MapOver(b []byte, f File, off int64) error {
	if len(b) == 0 {
		return nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if _, err := windows.VirtualAlloc(at, uintptr(len(b)), windows.MEM_COMMIT, windows.PAGE_READWRITE); err != nil {
		return &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	n, err := f.ReadAt(b, off)
	if n < len(b) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return nil
}

// Release does nothing: Windows takes the memory of a map back when it needs it.
func Release([]byte) error { return nil }

// ReadAtRandom does nothing: Windows has no such hint for maps.
func ReadAtRandom([]byte) {}
