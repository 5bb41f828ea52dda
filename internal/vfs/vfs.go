package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/graphmill/graphmill/internal/guard"
)

// FS is a file system. Paths are as in the operating system.
type FS interface {
	// Open opens a regular file for reading. A folder, a pipe and a device are errors; a pipe could make the call wait for ever.
	Open(name string) (File, error)
	// OpenStream opens a file, pipe or device that is read once, from its start.
	OpenStream(name string) (File, error)
	// Create makes a new file for reading and writing. It is an error if the file exists.
	Create(name string) (File, error)
	// Reopen opens a file from Create, to append to its first size bytes; the rest is cut off. A shorter file is an
	// error.
	Reopen(name string, size int64) (File, error)
	// Temp makes an unnamed file in dir. It is gone when it is closed, or when the process ends.
	Temp(dir string) (File, error)
	Mkdir(name string) error
	MkdirAll(name string) error
	// Rename replaces newname, if it is a file.
	Rename(oldname, newname string) error
	// Link gives a file a second name, which must be new. The error is errors.ErrUnsupported where the file system or the
	// system gives the file none, so that only a copy can have the name.
	Link(oldname, newname string) error
	Remove(name string) error
	RemoveAll(name string) error
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	// SyncDir makes renames and new names in a folder durable, where the file system can.
	SyncDir(name string) error
	// Exchange swaps two names, atomically where the system supports it.
	Exchange(a, b string) error
	// Free is the number of bytes that can still be written below a folder.
	Free(dir string) (int64, error)
	// Lock locks a folder for this process until unlock is called or the process ends. The error is ErrLocked where
	// another process holds it. Where the file system has no locks, a file beside the folder is the lock (LockFile): unlock
	// removes it.
	Lock(dir string) (unlock func() error, err error)
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	// Map maps the whole file read-only. The bytes are valid until the returned function is called, also after Close.
	// An empty file has no bytes. Where the disk fails, and where another program cuts the file, a read of the bytes is an
	// error of guard.Do, and ends the process outside of it (SIGBUS).
	Map() ([]byte, func() error, error)
	// MapAt maps the bytes of the file from off on, a multiple of a page, in the place of b, which begins at a page and is not used otherwise (Reserve). The file has at least as
	// many bytes. The addresses stay the caller's after unmap, which is called before they are used again. It may be called after Close.
	MapAt(ctx context.Context, b []byte, off int64) (unmap func() error, err error)
	// SetDirect makes reads and writes bypass the page cache, or stops that. Their offsets, lengths and addresses must
	// be multiples of 4096. The error is EINVAL or errors.ErrUnsupported where the file system or the system does not
	// support it. Where that is not known in advance, the first read or write returns EINVAL.
	SetDirect(on bool) error
	// Evict asks the system to remove a range from the page cache. It is a hint.
	Evict(off, n int64)
	// Reserve reserves disk space for a range, also after the end, so that several goroutines can write there at the
	// same time. The file may become longer. It is a hint.
	Reserve(off, n int64)
	// Discard gives the disk space of a range back, where the file system can. The bytes of the range are then lost: they read as
	// zeros or as they were. The file keeps its length. It is a hint.
	Discard(off, n int64)
}

// OS is the file system of the operating system, with those that Mount adds.
var OS FS = mounts{}

type osFS struct{}

type osFile struct{ *os.File }

func wrap(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, tooMany(err)
	}
	return osFile{f}, nil
}

func (osFS) Create(name string) (File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return wrapNew(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644))
}
func (osFS) Mkdir(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return os.Mkdir(name, 0o755)
}
func (osFS) MkdirAll(name string) error             { return os.MkdirAll(name, 0o755) }
func (osFS) Rename(o, n string) error               { return inUse(os.Rename(o, n)) }
func (osFS) Remove(name string) error               { return inUse(os.Remove(name)) }
func (osFS) Stat(name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(name)
	return entries, tooMany(err)
}

// Map implements File.
func (f osFile) Map() ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	if int64(int(size)) != size {
		return nil, nil, &fs.PathError{Op: "mmap", Path: f.Name(), Err: errTooLarge}
	}
	b, unmap, err := mapFile(f.File, int(size))
	if err != nil {
		return nil, nil, &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	guard.Register(b, f.Name(), info)
	return b, func() error {
		guard.Unregister(b)
		return unmap()
	}, nil
}

// MapAt implements File.
func (f osFile) MapAt(_ context.Context, b []byte, off int64) (func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := MapOver(b, f, off); err != nil {
		return nil, err
	}
	guard.Register(b, f.Name(), info)
	return func() error {
		guard.Unregister(b)
		return nil
	}, nil
}

// Write implements File. The error is a *guard.Error where b lies in a map that cannot be read.
func (f osFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, guard.Call(err, b, n)
}

// WriteAt implements File. It has the errors of Write.
func (f osFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	return n, guard.Call(err, b, n)
}

// ReadFile reads a whole file of at most limit bytes. A larger file is an error, before memory is allocated for it.
func ReadFile(fsys FS, name string, limit int64) (b []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: found %d bytes, expected at most %d", name, info.Size(), limit)
	}
	b = make([]byte, info.Size())
	if n, err := readAll(f, b); err != nil {
		return nil, fmt.Errorf("%s: read %d of %d bytes: %w", name, n, len(b), err)
	}
	return b, nil
}
