package vfs

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// failPage makes the first page of b fail: it puts an empty file in its place.
func failPage(b []byte) (err error) {
	fd, err := unix.MemfdCreate("graphmill-fault", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	_, err = unix.MmapPtr(fd, 0, unsafe.Pointer(unsafe.SliceData(b)), uintptr(os.Getpagesize()), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}
