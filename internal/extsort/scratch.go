package extsort

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Scratch is an array of bytes with random access, in memory or in an unnamed temporary file. Calls for parts that do
// not overlap may run at the same time.
type Scratch struct {
	mem  []byte
	file vfs.File
	dir  string
}

// NewScratch makes an array of size bytes. It is in memory if size is at most memory.
func NewScratch(fsys vfs.FS, dir string, size, memory int64) (*Scratch, error) {
	s := &Scratch{dir: dir}
	var err error
	if size <= memory {
		s.mem, err = Slab(int(size))
	} else {
		s.file, err = fsys.Temp(dir)
	}
	return s, err
}

// WriteAt stores b.
func (s *Scratch) WriteAt(b []byte, off int64) error {
	if s.file == nil {
		copy(s.mem[off:], b)
		return nil
	}
	if _, err := s.file.WriteAt(b, off); err != nil {
		return fmt.Errorf("temporary file in %s: %w", s.dir, err)
	}
	return nil
}

// ReadAt fills b with the stored bytes.
func (s *Scratch) ReadAt(b []byte, off int64) error {
	if s.file == nil {
		copy(b, s.mem[off:])
		return nil
	}
	if n, err := s.file.ReadAt(b, off); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return fmt.Errorf("temporary file in %s: %w", s.dir, err)
	}
	return nil
}

// Close frees the array.
func (s *Scratch) Close() error {
	Free(s.mem)
	s.mem = nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
