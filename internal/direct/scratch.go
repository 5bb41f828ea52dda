package direct

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Scratch is a file for data that does not fit in memory. A file without a name is gone when it is closed, or when the
// process ends. The caller decides the layout. Calls for parts that do not overlap may run at the same time.
type Scratch struct {
	handle
	name string // for errors

	mu       sync.Mutex
	end      int64 // end of the written bytes
	reserved int64 // bytes with reserved disk space
}

// Space is reserved in steps as large as the file, within these bounds: so much that writers need not wait for each
// other at every extent, and at most as much again as is used.
const (
	leastStep = 1 << 20
	mostStep  = 64 << 20
)

// NewScratch makes an empty file on the disk of a folder.
func NewScratch(fsys vfs.FS, dir string) (*Scratch, error) {
	f, err := fsys.Temp(dir)
	if err != nil {
		return nil, err
	}
	return newScratch(f, "temporary file in "+dir, 0)
}

// KeepScratch makes an empty file with a name, which stays when it is closed.
func KeepScratch(fsys vfs.FS, name string) (*Scratch, error) {
	f, err := fsys.Create(name)
	if err != nil {
		return nil, err
	}
	return newScratch(f, name, 0)
}

// ReopenScratch opens the first size bytes of a file from KeepScratch.
func ReopenScratch(fsys vfs.FS, name string, size int64) (*Scratch, error) {
	f, err := fsys.Reopen(name, size)
	if err != nil {
		return nil, err
	}
	return newScratch(f, name, size)
}

func newScratch(f vfs.File, name string, size int64) (*Scratch, error) {
	s := &Scratch{handle: handle{f: f}, name: name, end: size, reserved: size}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Name is the path of a file that is kept, or a description with the folder.
func (s *Scratch) Name() string { return s.name }

// Size is the end of the written bytes.
func (s *Scratch) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// Sync brings the written bytes to the disk.
func (s *Scratch) Sync() error { return s.f.Sync() }

// Written is the number of bytes written so far.
func (s *Scratch) Written() int64 { return s.written.Load() }

// WriteAt stores all of p. An error that wraps one of vfs.DiskFull says that the disk is full.
func (s *Scratch) WriteAt(p []byte, off int64) error {
	if err := s.aligned(p, off); err != nil {
		return err
	}
	s.reserve(off, off+int64(len(p)))
	n, err := s.writeAt(p, off)
	if slices.ContainsFunc(vfs.DiskFull, func(e error) bool { return errors.Is(err, e) }) {
		return fmt.Errorf("%s: no room for %d bytes after %d; free space there or choose another folder: %w",
			s.name, len(p)-n, off+int64(n), cause(err))
	}
	if err != nil {
		return s.named(off+int64(n), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = max(s.end, off+int64(n))
	return nil
}

// reserve reserves space for a write and for later ones. The write reports a full disk.
func (s *Scratch) reserve(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to > s.reserved {
		// A gap that the write leaves may never be written.
		from = max(from, s.reserved)
		to = max(to, from+min(max(s.reserved, leastStep), mostStep))
		s.f.Reserve(from, to-from)
		s.reserved = to
	}
}

// ReadAt fills p with the stored bytes. A read after the end is an error.
func (s *Scratch) ReadAt(p []byte, off int64) error {
	if err := s.aligned(p, off); err != nil {
		return err
	}
	if end := s.Size(); off+int64(len(p)) > end {
		return s.named(max(off, end), io.ErrUnexpectedEOF)
	}
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
	return fmt.Errorf("%s: byte offset %d: %w", s.name, off, cause(err))
}

// cause is an error without the name of the file, which may not exist in any folder.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
