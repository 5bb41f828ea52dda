package direct

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// File is a file that is only read. Its methods are safe for concurrent use.
type File struct {
	handle
	size int64
}

// Open opens a regular file.
func Open(fsys vfs.FS, path string) (*File, error) {
	if _, err := vfs.Regular(fsys, path); err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	file := &File{handle: handle{f: f}}
	info, err := f.Stat()
	if err == nil {
		file.size = info.Size()
		err = file.start()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, nil
}

// Name is the path that was opened.
func (f *File) Name() string { return f.f.Name() }

// Size is the size in bytes at the time of Open.
func (f *File) Size() int64 { return f.size }

// ReadAt fills p, or the part of it before the end of the file. In the second case it returns fewer bytes than p has,
// and no error. At or after the end it returns io.EOF. Any other error names the file. The error for a file that has
// become shorter since Open wraps io.ErrUnexpectedEOF.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.aligned(p, off); err != nil {
		return 0, err
	}
	if off >= f.size {
		return 0, io.EOF
	}
	want := len(p)
	if left := f.size - off; left < int64(want) {
		want = int(left)
		// No memory is needed for bytes after the end.
		p = p[:min(len(p), (want+Align-1)/Align*Align)]
	}
	n, err := f.readAt(p, off)
	switch {
	case n >= want:
		// The call that found the end may have failed: its offset is no multiple of Align.
		return want, nil
	case errors.Is(err, io.EOF):
		return n, fmt.Errorf("%s: byte offset %d: found the end of the file, expected %d bytes; do not change it while it is read: %w",
			f.Name(), off+int64(n), f.size, io.ErrUnexpectedEOF)
	default:
		return n, fmt.Errorf("byte offset %d: %w", off+int64(n), err)
	}
}
