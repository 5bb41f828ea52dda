package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// WithFile is fsys with one more file to read: name means f, an open file, which may have no name of its own. The caller closes
// f after all files that were opened by name.
func WithFile(fsys FS, name string, f File) FS { return withFile{fsys, name, f} }

type withFile struct {
	FS
	name string
	file File
}

// Open implements FS.
func (w withFile) Open(name string) (File, error) {
	if name != w.name {
		return w.FS.Open(name)
	}
	return &view{File: w.file}, nil
}

// OpenStream implements FS.
func (w withFile) OpenStream(name string) (File, error) {
	if name != w.name {
		return w.FS.OpenStream(name)
	}
	return w.Open(name)
}

// Stat implements FS.
func (w withFile) Stat(name string) (fs.FileInfo, error) {
	if name != w.name {
		return w.FS.Stat(name)
	}
	return w.file.Stat()
}

// Lstat implements FS.
func (w withFile) Lstat(name string) (fs.FileInfo, error) {
	if name != w.name {
		return w.FS.Lstat(name)
	}
	return w.file.Stat()
}

// view reads a file from its start, and leaves it open.
type view struct {
	File
	at int64
}

// Read implements File.
func (v *view) Read(b []byte) (int, error) {
	n, err := v.ReadAt(b, v.at)
	v.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Close implements File.
func (v *view) Close() error { return nil }
