package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
)

// Shard is a part of the bytes of a file: a range of another file.
type Shard struct {
	Path  string
	From  int64 // the first byte
	Bytes int64
	Part  bool // the file may have more bytes after them
}

// Joined is fsys with more files to read: those of files, by path, whose bytes are those of their shards, one after the other. Such a file opens its shards when they
// are read. It cannot be written. It can be mapped, and read past the page cache, if each shard begins at a multiple of a page, and the size of each but the last is one.
func Joined(fsys FS, files map[string][]Shard) FS {
	if len(files) == 0 {
		return fsys
	}
	return joined{fsys, files}
}

type joined struct {
	FS
	files map[string][]Shard
}

// Open implements FS.
func (j joined) Open(name string) (File, error) {
	shards, ok := j.files[filepath.Clean(name)]
	if !ok {
		return j.FS.Open(name)
	}
	f := &joinedFile{fs: j.FS, name: name, shards: shards, open: make([]File, len(shards))}
	for _, s := range shards {
		f.size += s.Bytes
		f.ends = append(f.ends, f.size)
	}
	first, err := f.shard(0)
	if err != nil {
		return nil, err
	}
	if _, later := first.(Later); later {
		return &joinedLater{f}, nil
	}
	return f, nil
}

// OpenStream implements FS.
func (j joined) OpenStream(name string) (File, error) {
	if _, ok := j.files[filepath.Clean(name)]; !ok {
		return j.FS.OpenStream(name)
	}
	return j.Open(name)
}

// Stat implements FS.
func (j joined) Stat(name string) (fs.FileInfo, error) {
	shards, ok := j.files[filepath.Clean(name)]
	if !ok {
		return j.FS.Stat(name)
	}
	info, err := j.FS.Stat(shards[0].Path)
	if err != nil {
		return nil, err
	}
	x := joinedInfo{info, filepath.Base(name), 0}
	for _, s := range shards {
		x.size += s.Bytes
	}
	return x, nil
}

// Lstat implements FS.
func (j joined) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := j.files[filepath.Clean(name)]; !ok {
		return j.FS.Lstat(name)
	}
	return j.Stat(name)
}

// joinedInfo is the information about the first shard, with the name and the size of all of them.
type joinedInfo struct {
	fs.FileInfo
	name string
	size int64
}

// Name implements fs.FileInfo.
func (i joinedInfo) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i joinedInfo) Size() int64 { return i.size }

// joinedFile is a File over shards. They are opened when they are needed, and closed with it.
type joinedFile struct {
	fs     FS
	name   string
	shards []Shard
	ends   []int64 // the byte after each shard
	size   int64

	mu     sync.Mutex
	open   []File
	direct bool
	at     int64
}

// shard is a shard that stays open.
func (f *joinedFile) shard(i int) (_ File, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[i] != nil {
		return f.open[i], nil
	}
	x, err := f.openShard(i)
	if err != nil {
		return nil, err
	}
	if f.direct {
		if err := x.SetDirect(true); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	f.open[i] = x
	return x, nil
}

// openShard opens a shard that has the size that it should have.
func (f *joinedFile) openShard(i int) (File, error) {
	x, err := f.fs.Open(f.shards[i].Path)
	if err != nil {
		return nil, err
	}
	info, err := x.Stat()
	if s := f.shards[i]; err == nil && info.Size() != s.From+s.Bytes && !(s.Part && info.Size() > s.From+s.Bytes) {
		err = fmt.Errorf("%s: found %d bytes, expected %d; graphmill verify finds damage", s.Path, info.Size(), s.From+s.Bytes)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Read implements File.
func (f *joinedFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt implements File.
func (f *joinedFile) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	}
	for i := sort.Search(len(f.ends), func(i int) bool { return f.ends[i] > off }); len(b) > 0; i++ {
		if i == len(f.shards) {
			return n, io.EOF
		}
		x, err := f.shard(i)
		if err != nil {
			return n, err
		}
		part := b
		if left := f.ends[i] - off; (i < len(f.shards)-1 || f.shards[i].Part) && left < int64(len(b)) {
			part = b[:left]
		}
		k, err := x.ReadAt(part, off-f.ends[i]+f.shards[i].Bytes+f.shards[i].From)
		n, off, b = n+k, off+int64(k), b[k:]
		if k < len(part) || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	return n, nil
}

// Close implements File.
func (f *joinedFile) Close() (err error) {
	for _, x := range f.open {
		if x != nil {
			err = errors.Join(err, x.Close())
		}
	}
	return err
}

// Name implements File.
func (f *joinedFile) Name() string { return f.name }

// Stat implements File.
func (f *joinedFile) Stat() (fs.FileInfo, error) {
	x, err := f.shard(0)
	if err != nil {
		return nil, err
	}
	info, err := x.Stat()
	return joinedInfo{info, filepath.Base(f.name), f.size}, err
}

// Map implements File: the shards are mapped next to each other.
func (f *joinedFile) Map() ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, free, err := Reserve(f.size, nil, f.name, info)
	if err != nil {
		return nil, nil, err
	}
	unmap, err := f.mapAt(context.Background(), b, 0, f.size)
	if err != nil {
		return nil, nil, errors.Join(err, free())
	}
	return b, func() error { return errors.Join(unmap(), free()) }, nil
}

// inPages is an error where a shard does not end with a page.
func (f *joinedFile) inPages() error {
	for i, s := range f.shards {
		if page := int64(os.Getpagesize()); s.From%page != 0 || i < len(f.shards)-1 && s.Bytes%page != 0 {
			return fmt.Errorf("%s: found a shard of %d bytes from byte %d on, expected multiples of %d; graphmill verify finds damage", s.Path, s.Bytes, s.From, page)
		}
	}
	return nil
}

// mapAt maps the shards that have bytes from one place to another in the place of the bytes of Reserve.
func (f *joinedFile) mapAt(ctx context.Context, b []byte, from, to int64) (unmap func() error, err error) {
	if err := f.inPages(); err != nil {
		return nil, err
	}
	if from <= 0 && to >= f.size {
		guard.Unregister(b)
	}
	var unmaps []func() error
	unmap = func() (err error) {
		for _, u := range unmaps {
			err = errors.Join(err, u())
		}
		return err
	}
	for i, s := range f.shards {
		if s.Bytes == 0 || f.ends[i] <= from || f.ends[i]-s.Bytes >= to {
			continue
		}
		u, err := f.mapShard(ctx, i, b[f.ends[i]-s.Bytes:f.ends[i]:f.ends[i]])
		if err != nil {
			return nil, errors.Join(err, unmap())
		}
		unmaps = append(unmaps, u)
	}
	return unmap, nil
}

// mapShard maps a shard, and leaves it closed: a store has more shards than a process may have open.
func (f *joinedFile) mapShard(ctx context.Context, i int, b []byte) (unmap func() error, err error) {
	x, err := f.openShard(i)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := x.Close(); failed != nil && err == nil {
			err = errors.Join(failed, unmap())
		}
	}()
	return x.MapAt(ctx, b, f.shards[i].From)
}

// MapAt implements File, of the whole file alone.
func (f *joinedFile) MapAt(ctx context.Context, b []byte, off int64) (func() error, error) {
	if off != 0 || int64(len(b)) != f.size {
		return nil, &fs.PathError{Op: "mmap", Path: f.name, Err: fs.ErrInvalid}
	}
	return f.mapAt(ctx, b, 0, f.size)
}

// SetDirect implements File.
func (f *joinedFile) SetDirect(on bool) (err error) {
	if err := f.inPages(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.open {
		if x != nil {
			err = errors.Join(err, x.SetDirect(on))
		}
	}
	if err == nil {
		f.direct = on
	}
	return err
}

// Evict implements File.
func (f *joinedFile) Evict(off, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, x := range f.open {
		first := f.ends[i] - f.shards[i].Bytes
		if from, to := max(off, first), min(off+n, f.ends[i]); x != nil && from < to {
			x.Evict(from-first+f.shards[i].From, to-from)
		}
	}
}

// readOnly is the error of the methods that write.
func (f *joinedFile) readOnly() error {
	return &fs.PathError{Op: "write", Path: f.name, Err: os.ErrPermission}
}

// Write implements File: it is an error, as the other methods that write are.
func (f *joinedFile) Write([]byte) (int, error) { return 0, f.readOnly() }

// WriteAt implements File.
func (f *joinedFile) WriteAt([]byte, int64) (int, error) { return 0, f.readOnly() }

// Truncate implements File.
func (f *joinedFile) Truncate(int64) error { return f.readOnly() }

// Sync implements File.
func (f *joinedFile) Sync() error { return nil }

// Reserve implements File.
func (f *joinedFile) Reserve(int64, int64) {}

// Discard implements File.
func (f *joinedFile) Discard(int64, int64) {}

// joinedLater is a joinedFile whose shards are on another machine.
type joinedLater struct{ *joinedFile }

// MapLater implements Later.
func (f *joinedLater) MapLater() (b []byte, fetch FetchBytes, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, nil, err
	}
	head := make([]byte, min(f.size, HeadBytes))
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, nil, err
	}
	b, free, err := Reserve(f.size, head, f.name, info)
	if err != nil {
		return nil, nil, nil, err
	}
	again := &joinedFile{fs: f.fs, name: f.name, shards: f.shards, ends: f.ends, size: f.size, open: make([]File, len(f.shards))} // f may be closed then
	var fetched func() error
	return b, func(ctx context.Context, from, to int64) error {
			var err error
			fetched, err = again.mapAt(ctx, b, from, to)
			return errors.Join(err, again.Close())
		}, func() error {
			var err error
			if fetched != nil {
				err = fetched()
			}
			return errors.Join(err, free())
		}, nil
}
