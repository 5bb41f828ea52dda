package direct

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/graphmill/graphmill/internal/vfs"
)

// handle is an open file that is read and written without the page cache, where its file system allows it.
type handle struct {
	f             vfs.File
	direct        atomic.Bool
	read, written atomic.Int64
}

// Read is the number of bytes read so far.
func (h *handle) Read() int64 { return h.read.Load() }

// Close closes the file.
func (h *handle) Close() error { return h.f.Close() }

func (h *handle) start() error {
	err := h.f.SetDirect(true)
	h.direct.Store(err == nil)
	if refused(err) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// refused reports whether an error says that a file system has no direct reads or writes, or none of this alignment.
func refused(err error) bool { return errors.Is(err, syscall.EINVAL) }

// aligned refuses addresses, lengths and offsets that only some file systems read or write directly.
func (h *handle) aligned(p []byte, off int64) error {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	if off < 0 || (address|uintptr(len(p))|uintptr(off))%Align != 0 {
		return fmt.Errorf("%s: found %d bytes at offset %d, address %#x, expected multiples of %d", h.f.Name(), len(p), off, address, Align)
	}
	return nil
}

func (h *handle) readAt(p []byte, off int64) (int, error) {
	n, err := h.do(h.f.ReadAt, p, off)
	h.read.Add(int64(n))
	return n, err
}

func (h *handle) writeAt(p []byte, off int64) (int, error) {
	n, err := h.do(h.f.WriteAt, p, off)
	h.written.Add(int64(n))
	return n, err
}

func (h *handle) do(call func([]byte, int64) (int, error), p []byte, off int64) (int, error) {
	direct := h.direct.Load()
	n, err := call(p, off)
	if direct && n == 0 && refused(err) {
		if err := h.f.SetDirect(false); err != nil {
			return 0, err
		}
		h.direct.Store(false)
		direct = false
		n, err = call(p, off)
	}
	if !direct {
		h.f.Evict(off, int64(len(p)))
	}
	return n, err
}
