package dgl

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// IntReader reads runs of integers of arrays, of any width, as int64. It must be used by one goroutine at a time.
type IntReader struct {
	raw []byte
}

// Read reads len(to) values of an integer array, starting at value first. It fails if the file has become shorter
// since its headers were read.
func (r *IntReader) Read(f vfs.File, a Array, first int64, to []int64) error {
	size := int(a.DType.Size())
	if n := len(to) * size; cap(r.raw) < n {
		r.raw = make([]byte, n)
	}
	raw := r.raw[:len(to)*size]
	if err := readAt(f, raw, a.Offset+first*int64(size)); err != nil {
		return err
	}
	switch a.DType {
	case Int64, Uint64:
		for i := range to {
			to[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	case Int32:
		for i := range to {
			to[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case Uint32:
		for i := range to {
			to[i] = int64(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case Int16:
		for i := range to {
			to[i] = int64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	case Uint16:
		for i := range to {
			to[i] = int64(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case Int8:
		for i := range to {
			to[i] = int64(int8(raw[i]))
		}
	case Uint8:
		for i := range to {
			to[i] = int64(raw[i])
		}
	default:
		return bad("%s: byte %d: found %s of %s, expected integers", f.Name(), a.Offset, a.Name, a.DType)
	}
	return nil
}

// readAt fills b from an offset of a file on.
func readAt(f vfs.File, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = bad("%s: found the end of the file at byte %d, expected %d; the file was cut while it was read", f.Name(), at+int64(n), at+int64(len(b)))
	}
	return err
}
