package catalog

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// info describes a file or folder that the catalog returned.
type info struct {
	name   string
	size   int64
	sum    string
	folder bool
}

func folderInfo(name string) *info { return &info{name: name, folder: true} }

func (l *loaded) info() *info { return &info{name: l.name, size: int64(len(l.metadata)), sum: l.sum} }

// Name implements fs.FileInfo.
func (i *info) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i *info) Size() int64 { return i.size }

// Mode implements fs.FileInfo.
func (i *info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime implements fs.FileInfo: it is not known.
func (i *info) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (i *info) IsDir() bool { return i.folder }

// Sys implements fs.FileInfo: it is a sum of the bytes, a string.
func (i *info) Sys() any { return i.sum }

// memoryFile is the metadata of an answer as an open file.
type memoryFile struct {
	*bytes.Reader
	path   string
	answer *loaded
}

func newMemoryFile(path string, l *loaded) *memoryFile {
	return &memoryFile{bytes.NewReader(l.metadata), path, l}
}

// Name implements vfs.File.
func (f *memoryFile) Name() string { return f.path }

// Stat implements vfs.File.
func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.answer.info(), nil }

// Close implements vfs.File.
func (f *memoryFile) Close() error { return nil }

// Map implements vfs.File.
func (f *memoryFile) Map() ([]byte, func() error, error) {
	return f.answer.metadata, func() error { return nil }, nil
}

// MapAt implements vfs.File: no file of metadata is mapped into another one.
func (f *memoryFile) MapAt(context.Context, []byte, int64) (func() error, error) {
	return nil, errors.ErrUnsupported
}

// Write implements vfs.File: it is an error, as the other methods that write are.
func (f *memoryFile) Write([]byte) (int, error) { return 0, refuse("write", f.path) }

// WriteAt implements vfs.File.
func (f *memoryFile) WriteAt([]byte, int64) (int, error) { return 0, refuse("write", f.path) }

// Truncate implements vfs.File.
func (f *memoryFile) Truncate(int64) error { return refuse("truncate", f.path) }

// Sync implements vfs.File.
func (f *memoryFile) Sync() error { return nil }

// SetDirect implements vfs.File.
func (f *memoryFile) SetDirect(on bool) error {
	if on {
		return errors.ErrUnsupported
	}
	return nil
}

// Evict implements vfs.File.
func (f *memoryFile) Evict(int64, int64) {}

// Reserve implements vfs.File.
func (f *memoryFile) Reserve(int64, int64) {}

// Discard implements vfs.File.
func (f *memoryFile) Discard(int64, int64) {}

var _ vfs.File = (*memoryFile)(nil)
