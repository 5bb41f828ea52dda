package dgl

import (
	"bytes"
	"io/fs"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// memory is a read-only file system of one file, whatever its name. Calls that readers of headers do not need panic.
type memory struct {
	vfs.FS
	b []byte
}

func (m memory) Stat(name string) (fs.FileInfo, error) {
	return info{name, int64(len(m.b))}, nil
}
func (m memory) Open(name string) (vfs.File, error) {
	return memoryFile{Reader: bytes.NewReader(m.b), name: name}, nil
}

type memoryFile struct {
	vfs.File
	*bytes.Reader
	name string
}

func (f memoryFile) Close() error                           { return nil }
func (f memoryFile) Name() string                           { return f.name }
func (f memoryFile) Read(b []byte) (int, error)             { return f.Reader.Read(b) }
func (f memoryFile) ReadAt(b []byte, at int64) (int, error) { return f.Reader.ReadAt(b, at) }
func (f memoryFile) Stat() (fs.FileInfo, error)             { return info{f.name, f.Reader.Size()}, nil }

type info struct {
	name string
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
