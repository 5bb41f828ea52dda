package direct

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/fsx"
)

// Scratch is an unnamed file for what does not fit in memory. It is gone when it is
// closed, however the process ends. The caller says what lies where; calls for
// parts that do not overlap may run at once.
type Scratch struct {
	handle
	dir string
}

// NewScratch makes an empty file on the disk of a folder.
func NewScratch(fsys fsx.FS, dir string) (*Scratch, error) {
	f, err := fsys.Temp(dir)
	if err != nil {
		return nil, err
	}
	s := &Scratch{handle: handle{f: f}, dir: dir}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Written is the number of bytes written so far.
func (s *Scratch) Written() int64 { return s.written.Load() }

// WriteAt stores all of p. An error that wraps ENOSPC says that the disk is full.
func (s *Scratch) WriteAt(p []byte, off int64) error {
	n, err := s.writeAt(p, off)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("temporary file in %s: no room for %d bytes after %d; free space there or choose another folder: %w",
			s.dir, len(p)-n, off+int64(n), cause(err))
	}
	return s.named(off+int64(n), err)
}

// ReadAt fills p with what was stored there; it is an error if nothing was.
func (s *Scratch) ReadAt(p []byte, off int64) error {
	n, err := s.readAt(p, off)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.named(off+int64(n), err)
}

func (s *Scratch) named(off int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporary file in %s: byte offset %d: %w", s.dir, off, cause(err))
}

// cause is an error without the file's name, which nobody can look up.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
