package vfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
)

// Fault is a file system that fails one call with Err: call number FailAt, counted from 1 over all files. With FailAt 0
// it never fails and only counts. It can also fail page FailPage of the mapped files, counted from 1 over all maps in the
// order of their making: a read of the page is then a fault (package guard). Hints (Evict, Reserve, Discard) are not counted, because
// they return no error.
type Fault struct {
	FS     FS
	FailAt int64
	Err    error
	// FailPage is the page of a map that fails; 0 is none.
	FailPage int64
	// Short makes a failing write store half of its bytes first, and a failing read return half of them.
	Short bool
	// Dead also fails all later calls, as for a process that was killed.
	Dead bool
	// Trace, if not nil, gets each call and each map before its result is returned, from the goroutine that makes it.
	Trace func(Call)

	calls atomic.Int64
	pages atomic.Int64
}

// Call is a call that a Fault saw, or a map that it made.
type Call struct {
	Number int64 // of the call, from 1; 0 for a map
	Op     string
	Path   string
	Failed bool
	// Page is the number of the map's first page, Pages how many pages it has; 0 for a call.
	Page, Pages int64
}

// Calls is the number of calls so far.
func (t *Fault) Calls() int64 { return t.calls.Load() }

// Pages is the number of pages of all maps so far.
func (t *Fault) Pages() int64 { return t.pages.Load() }

func (t *Fault) hit(op, name string) error {
	n := t.calls.Add(1)
	fails := n == t.FailAt || t.Dead && t.FailAt > 0 && n > t.FailAt
	if t.Trace != nil {
		t.Trace(Call{Number: n, Op: op, Path: name, Failed: fails})
	}
	if fails {
		return &fs.PathError{Op: op, Path: name, Err: t.Err}
	}
	return nil
}

func (t *Fault) open(op, name string, f func(string) (File, error)) (File, error) {
	if err := t.hit(op, name); err != nil {
		return nil, err
	}
	file, err := f(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, t}, nil
}

func (t *Fault) do(op, name string, f func(string) error) error {
	if err := t.hit(op, name); err != nil {
		return err
	}
	return f(name)
}

// Open implements FS.
func (t *Fault) Open(name string) (File, error) { return t.open("open", name, t.FS.Open) }

// OpenStream implements FS.
func (t *Fault) OpenStream(name string) (File, error) { return t.open("open", name, t.FS.OpenStream) }

// Create implements FS.
func (t *Fault) Create(name string) (File, error) { return t.open("create", name, t.FS.Create) }

// Temp implements FS.
func (t *Fault) Temp(dir string) (File, error) { return t.open("temp", dir, t.FS.Temp) }

// Mkdir implements FS.
func (t *Fault) Mkdir(name string) error { return t.do("mkdir", name, t.FS.Mkdir) }

// MkdirAll implements FS.
func (t *Fault) MkdirAll(name string) error { return t.do("mkdir", name, t.FS.MkdirAll) }

// Remove implements FS.
func (t *Fault) Remove(name string) error { return t.do("remove", name, t.FS.Remove) }

// RemoveAll implements FS.
func (t *Fault) RemoveAll(name string) error { return t.do("remove", name, t.FS.RemoveAll) }

// SyncDir implements FS.
func (t *Fault) SyncDir(name string) error { return t.do("syncdir", name, t.FS.SyncDir) }

// Rename implements FS.
func (t *Fault) Rename(o, n string) error {
	return t.do("rename", o, func(string) error { return t.FS.Rename(o, n) })
}

// Link implements FS.
func (t *Fault) Link(o, n string) error {
	return t.do("link", n, func(string) error { return t.FS.Link(o, n) })
}

// Exchange implements FS.
func (t *Fault) Exchange(a, b string) error {
	return t.do("exchange", a, func(string) error { return t.FS.Exchange(a, b) })
}

// Free implements FS.
func (t *Fault) Free(dir string) (int64, error) {
	if err := t.hit("statfs", dir); err != nil {
		return 0, err
	}
	return t.FS.Free(dir)
}

// Lock implements FS.
func (t *Fault) Lock(dir string) (func() error, error) {
	if err := t.hit("lock", dir); err != nil {
		return nil, err
	}
	unlock, err := t.FS.Lock(dir)
	if err != nil {
		return nil, err
	}
	return func() error {
		failed := t.hit("unlock", dir)
		if err := unlock(); failed == nil {
			return err
		}
		return failed
	}, nil
}

// Stat implements FS.
func (t *Fault) Stat(name string) (fs.FileInfo, error) {
	if err := t.hit("stat", name); err != nil {
		return nil, err
	}
	return t.FS.Stat(name)
}

// Lstat implements FS.
func (t *Fault) Lstat(name string) (fs.FileInfo, error) {
	if err := t.hit("lstat", name); err != nil {
		return nil, err
	}
	return t.FS.Lstat(name)
}

// ReadDir implements FS.
func (t *Fault) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := t.hit("readdir", name); err != nil {
		return nil, err
	}
	return t.FS.ReadDir(name)
}

type faultFile struct {
	File
	t *Fault
}

func (f *faultFile) Read(b []byte) (int, error) {
	if err := f.t.hit("read", f.Name()); err != nil {
		n := 0
		if f.t.Short {
			n, _ = f.File.Read(b[:len(b)/2])
		}
		return n, err
	}
	return f.File.Read(b)
}

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.t.hit("read", f.Name()); err != nil {
		n := 0
		if f.t.Short {
			n, _ = f.File.ReadAt(b[:len(b)/2], off)
		}
		return n, err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.t.hit("write", f.Name()); err != nil {
		n := 0
		if f.t.Short {
			n, _ = f.File.Write(b[:len(b)/2])
		}
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.t.hit("write", f.Name()); err != nil {
		n := 0
		if f.t.Short {
			n, _ = f.File.WriteAt(b[:len(b)/2], off)
		}
		return n, err
	}
	return f.File.WriteAt(b, off)
}

// Close closes the file also when it fails, as the kernel does.
func (f *faultFile) Close() error {
	if err := f.t.hit("close", f.Name()); err != nil {
		_ = f.File.Close()
		return err
	}
	return f.File.Close()
}

func (f *faultFile) Stat() (fs.FileInfo, error) {
	if err := f.t.hit("stat", f.Name()); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultFile) Sync() error {
	if err := f.t.hit("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.t.hit("truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Map() ([]byte, func() error, error) {
	if err := f.t.hit("mmap", f.Name()); err != nil {
		return nil, nil, err
	}
	b, unmap, err := f.File.Map()
	if err != nil {
		return nil, nil, err
	}
	if err := f.failPage(b); err != nil {
		return nil, nil, errors.Join(err, unmap())
	}
	return b, unmap, nil
}

func (f *faultFile) MapAt(ctx context.Context, b []byte, off int64) (func() error, error) {
	if err := f.t.hit("mmap", f.Name()); err != nil {
		return nil, err
	}
	unmap, err := f.File.MapAt(ctx, b, off)
	if err != nil {
		return nil, err
	}
	if err := f.failPage(b); err != nil {
		return nil, errors.Join(err, unmap())
	}
	return unmap, nil
}

// failPage counts the pages of a map, and makes the one that is to fail fail.
func (f *faultFile) failPage(b []byte) error {
	page := int64(os.Getpagesize())
	n := (int64(len(b)) + page - 1) / page
	before := f.t.pages.Add(n) - n
	if f.t.Trace != nil {
		f.t.Trace(Call{Op: "map", Path: f.Name(), Page: before + 1, Pages: n, Failed: before < f.t.FailPage && f.t.FailPage <= before+n})
	}
	if i := f.t.FailPage - before - 1; i >= 0 && i < n {
		if err := failPage(b[i*page:]); err != nil {
			return &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
		}
	}
	return nil
}

func (f *faultFile) SetDirect(on bool) error {
	if err := f.t.hit("direct", f.Name()); err != nil {
		return err
	}
	return f.File.SetDirect(on)
}
