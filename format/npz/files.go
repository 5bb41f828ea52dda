package npz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Files is a file system in which arrays of archives have names, besides the files of another one. The arrays can be
// opened and read, also by several goroutines, until Close.
type Files struct {
	vfs.FS
	temp string

	mu       sync.Mutex // guards the fields below
	archives map[string]*Archive
	arrays   map[string]*window
	temps    []vfs.File
}

// NewFiles makes a file system without arrays. Temporary files lie in the folder temp. The caller closes it.
func NewFiles(fsys vfs.FS, temp string) *Files {
	return &Files{FS: fsys, temp: temp, archives: map[string]*Archive{}, arrays: map[string]*window{}}
}

// Close frees the arrays.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, a := range f.archives {
		errs = append(errs, a.Close())
	}
	for _, t := range f.temps {
		errs = append(errs, t.Close())
	}
	f.archives, f.arrays, f.temps = map[string]*Archive{}, map[string]*window{}, nil
	return errors.Join(errs...)
}

// Open implements vfs.FS.
func (f *Files) Open(name string) (vfs.File, error) {
	f.mu.Lock()
	w := f.arrays[name]
	f.mu.Unlock()
	if w != nil {
		c := *w // with a position of its own
		return &c, nil
	}
	return f.FS.Open(name)
}

// Archive opens an archive, once.
func (f *Files) Archive(path string) (*Archive, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := f.archives[path]; a != nil {
		return a, nil
	}
	a, err := Open(f.FS, path)
	if err == nil {
		f.archives[path] = a
	}
	return a, err
}

// Array gives an array of an archive a name, PATH:NAME, and returns it. The file is a little-endian .npy file in C
// order. An array that has to be unpacked or converted is written to a temporary file before Array returns.
func (f *Files) Array(ctx context.Context, path, name string) (string, error) {
	a, err := f.Archive(path)
	if err != nil {
		return "", err
	}
	at := path + ":" + name
	f.mu.Lock()
	known := f.arrays[at] != nil
	f.mu.Unlock()
	if known {
		return at, nil
	}
	m, h, l, err := a.header(name)
	if err != nil {
		return "", err
	}
	if l.Fortran && len(h.Shape) > 2 {
		return "", a.bad("%q: found Fortran order with shape %v, expected at most two dimensions; save numpy.ascontiguousarray(a)", m.Name, h.Shape)
	}
	if m.Method == 0 && l == (npy.Layout{}) {
		if err := a.Check(ctx, name); err != nil {
			return "", err
		}
		f.mu.Lock()
		f.arrays[at] = &window{name: at, file: a.file, offset: m.offset, size: int64(m.UncompressedSize64)}
		f.mu.Unlock()
		return at, nil
	}
	return at, f.New(at, h.Descr, h.Shape, func(file vfs.File, offset int64) (err error) {
		r, err := m.Open()
		if err != nil {
			return a.problem(m.Name, err)
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		u := &unpacking{archive: a, member: m, header: h, layout: l, r: r}
		if !l.Fortran {
			return u.to(ctx, file, offset)
		}
		raw, err := f.FS.Temp(f.temp)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, raw.Close()) }()
		if err := u.to(ctx, raw, 0); err != nil {
			return err
		}
		return transpose(ctx, file, offset, raw, h)
	})
}

// Unpack is Array for several arrays, on up to threads goroutines at once. Of several errors it returns the error of the first
// array.
func (f *Files) Unpack(ctx context.Context, path string, names []string, threads int) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(names))
	for range min(max(threads, 1), len(names)) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				if _, errs[i] = f.Array(ctx, path, names[i]); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// New makes an array in a temporary file and gives it a name. fill writes the data, little-endian and in C order, from
// an offset of the file on.
func (f *Files) New(name, descr string, shape []int, fill func(file vfs.File, offset int64) error) (err error) {
	head, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h := npy.Header{Descr: descr, Shape: shape}
	size := int64(len(head)) + int64(h.Values())*int64(h.Size())
	free, err := f.FS.Free(f.temp)
	if err != nil {
		return err
	}
	if free < size {
		return fmt.Errorf("%s: found %d free bytes in %s, expected %d for a copy of the array; make space, or save the array uncompressed as .npy", name, free, f.temp, size)
	}
	file, err := f.FS.Temp(f.temp)
	if err != nil {
		return err
	}
	if _, err = file.WriteAt(head, 0); err == nil {
		err = fill(file, int64(len(head)))
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.temps = append(f.temps, file)
	f.arrays[name] = &window{name: name, file: file, size: size}
	return nil
}

// window is a range of a file, as a file of its own that can be read.
type window struct {
	name         string
	file         vfs.File
	offset, size int64
	at           int64 // of Read
}

func (w *window) Name() string { return w.name }

func (w *window) ReadAt(b []byte, off int64) (int, error) {
	return io.NewSectionReader(w.file, w.offset, w.size).ReadAt(b, off)
}

func (w *window) Read(b []byte) (int, error) {
	n, err := w.ReadAt(b, w.at)
	if w.at += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (w *window) Stat() (fs.FileInfo, error) {
	info, err := w.file.Stat()
	return windowInfo{info, w}, err
}

// windowInfo is the information about the file of a window, with the name and size of the window.
type windowInfo struct {
	fs.FileInfo
	w *window
}

func (i windowInfo) Name() string { return i.w.name }
func (i windowInfo) Size() int64  { return i.w.size }

// Close leaves the file open for others.
func (w *window) Close() error { return nil }

func (w *window) Map() ([]byte, func() error, error) { return nil, nil, w.no("map") }
func (w *window) MapAt(context.Context, []byte, int64) (func() error, error) {
	return nil, w.no("map")
}
func (w *window) Write([]byte) (int, error)          { return 0, w.no("write") }
func (w *window) WriteAt([]byte, int64) (int, error) { return 0, w.no("write") }
func (w *window) Truncate(int64) error               { return w.no("truncate") }
func (w *window) SetDirect(bool) error               { return w.no("direct") }
func (w *window) Sync() error                        { return nil }
func (w *window) Evict(off, n int64)                 { w.file.Evict(w.offset+off, n) }
func (w *window) Reserve(int64, int64)               {}
func (w *window) Discard(int64, int64)               {}

func (w *window) no(op string) error {
	return &fs.PathError{Op: op, Path: w.name, Err: errors.ErrUnsupported}
}

// Real returns the paths without arrays of archives, which are in no folder.
func (f *Files) Real(paths []string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return f.arrays[p] != nil })
}
