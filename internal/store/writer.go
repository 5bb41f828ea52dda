package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Writer makes an output folder. Array, Create and WriteFile may be called from several goroutines. Seal, Report,
// Publish and Abort are called by one goroutine, in this order, after every array is closed.
type Writer struct {
	fs        vfs.FS
	out       string // the folder that Publish makes
	dir       string // the partial folder
	force     bool
	sealed    bool
	published bool         // dir was renamed to out
	unlock    func() error // nil after the end
	resume    *resumable   // nil for a Writer from Create
	share     *Share       // nil for a Writer of a whole output
	abandoned atomic.Bool  // see Abandon
	scratch   bool         // see CreateScratch

	checkpoints checkpoints

	mu     sync.Mutex
	files  map[string]bool // true while open
	dirs   map[string]bool
	linked map[string]ManifestFor // files from Link, whose checksums are known
}

// ErrExists is the error of Create for a folder that exists.
var ErrExists = errors.New("exists")

// Create begins the output folder out, and makes its parents. An existing out is an error, unless it is empty, or force is
// set and it is the output of an earlier run. Such an out stays until Publish.
func Create(fsys vfs.FS, out string, force bool) (*Writer, error) {
	w, err := lock(fsys, out, force)
	if err != nil {
		return nil, err
	}
	if err := w.clear(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// clear empties the partial folder of an earlier run.
func (w *Writer) clear() error {
	entries, err := w.fs.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.fs.RemoveAll(filepath.Join(w.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Dir is the folder of the files until Publish. Temporary files in it are on the same disk.
func (w *Writer) Dir() string { return w.dir }

// Out is the name that the folder gets in the end.
func (w *Writer) Out() string { return w.out }

// Create makes a file of the output. The caller writes and closes it.
func (w *Writer) Create(name string) (vfs.File, error) {
	if w.share != nil && w.share.Index != Rest {
		f, err := w.createShared(name)
		if err != nil {
			return nil, err // not an interface that holds a nil *shareFile
		}
		return f, nil
	}
	f, err := w.create(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (w *Writer) create(name string) (*outFile, error) {
	if err := checkLocal(name); err != nil {
		return nil, err
	}
	if outside(name) || name == MetaFile && !w.sealed {
		return nil, fmt.Errorf("found file name %q, which is reserved", name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.mkdir(path.Dir(name)); err != nil {
		return nil, err
	}
	f, err := w.openFile(name)
	if err != nil {
		return nil, err
	}
	w.files[name] = true
	return f, nil
}

func (w *Writer) mkdir(dir string) error {
	if w.dirs[dir] {
		return nil
	}
	if err := w.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.fs.Mkdir(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
		return err
	}
	w.dirs[dir] = true
	return nil
}

// WriteFile makes a small file of the output.
func (w *Writer) WriteFile(name string, data []byte) error {
	f, err := w.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Take moves a file that another process made and synced into the output. from is a folder on the same disk that has the file
// under the same name; from an object store it is copied.
func (w *Writer) Take(name, from string) error {
	if err := checkLocal(name); err != nil {
		return err
	}
	if outside(name) || name == MetaFile {
		return fmt.Errorf("found file name %q, which is reserved", name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.mkdir(path.Dir(name)); err != nil {
		return err
	}
	local := filepath.FromSlash(name)
	at, to := filepath.Join(from, local), filepath.Join(w.dir, local)
	var err error
	if vfs.SenderOf(w.fs, at) != nil {
		err = vfs.Copy(w.fs, at, to)
	} else {
		err = w.fs.Rename(at, to)
	}
	if err == nil {
		w.files[name] = false
	}
	return err
}

// Remove removes a closed file from the output, and the folders that are empty without it.
func (w *Writer) Remove(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if open, made := w.files[name]; open || !made {
		return fmt.Errorf("%s: found a file that is open or not there, expected one that was closed", name)
	}
	delete(w.files, name)
	delete(w.linked, name)
	delete(w.checkpoints.last.Files, name)
	if err := w.fs.Remove(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "." && !w.used(dir); dir = path.Dir(dir) {
		if err := w.fs.Remove(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
			return err
		}
		delete(w.dirs, dir)
	}
	return nil
}

// used reports whether a folder has a file or another folder.
func (w *Writer) used(dir string) bool {
	for name := range w.files {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	for name := range w.dirs {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// WriteMade writes how a folder without graph.json was made.
func (w *Writer) WriteMade(made Made) error {
	b, err := EncodeJSON(made)
	if err != nil {
		return err
	}
	return w.WriteFile(madeFile, b)
}

// outFile syncs when it is closed, so that a manifest never names bytes that a crash can lose. A scratch has no manifest.
type outFile struct {
	vfs.File
	w     *Writer
	name  string
	soFar *fileSoFar // nil for a Writer without checkpoints
}

func (f *outFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.soFar.wrote(b[:n], err)
	return n, err
}

func (f *outFile) Close() error {
	var err error
	if !f.w.scratch {
		err = f.Sync()
	}
	if err := errors.Join(err, f.File.Close()); err != nil {
		return err
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.files[f.name] = false
	f.w.checkpoints.closed(f)
	return nil
}

// Array is an .npy file that is being written. Its first dimension follows from the number of bytes. Write appends
// through a buffer. WriteAt writes anywhere after the header, and may be called from several goroutines. An array takes
// either Write or WriteAt.
type Array struct {
	file  vfs.File // nil where no byte is wanted
	buf   []byte   // of Write, of at most arrayBuffer bytes; it grows with what is written, as a store can have thousands of arrays
	descr string
	row   []int
	width int64
	part  *window // nil for a whole array
}

// arrayBuffer is small, because a graph has many columns.
const arrayBuffer = 64 << 10

// newArray describes an array with rows of the given shape.
func newArray(name string, dtype graph.DType, row []int) (*Array, error) {
	a := &Array{descr: Descr(dtype), row: row, width: int64(dtype.Size())}
	if a.descr == "" {
		return nil, fmt.Errorf("%s: found dtype %s, which an array cannot hold", name, dtype)
	}
	for _, d := range row {
		a.width *= int64(d)
	}
	return a, nil
}

// Array begins an array with rows of the given shape. name ends in ".npy". The Writer of a share leaves it out, unless it is the one of the rest.
func (w *Writer) Array(name string, dtype graph.DType, row ...int) (*Array, error) {
	a, err := newArray(name, dtype, row)
	if err != nil {
		return nil, err
	}
	if w.share != nil && w.share.Index != Rest {
		a.part = &window{}
		return a, nil
	}
	f, err := w.create(name)
	if err != nil {
		return nil, err
	}
	a.file = f
	if err := f.leaveHead(npy.HeaderSize); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// Write appends little-endian values.
func (a *Array) Write(b []byte) (int, error) {
	if !a.WantsNext(int64(len(b))) {
		return len(b), a.Skip(int64(len(b)))
	}
	if len(a.buf)+len(b) > arrayBuffer {
		if err := a.Flush(); err != nil {
			return 0, err
		}
	}
	if len(b) >= arrayBuffer {
		return a.put(b)
	}
	a.buf = append(a.buf, b...)
	return len(b), nil
}

// WriteAt writes little-endian values at a byte offset from the first value.
func (a *Array) WriteAt(b []byte, off int64) (int, error) {
	if a.part != nil {
		if a.file == nil {
			return len(b), nil
		}
		return len(b), a.part.write(a.file, b, npy.HeaderSize+off)
	}
	return a.file.WriteAt(b, npy.HeaderSize+off)
}

// Flush writes out the buffer of Write, for Writer.Checkpoint.
func (a *Array) Flush() error {
	if len(a.buf) == 0 {
		return nil
	}
	_, err := a.put(a.buf)
	a.buf = a.buf[:0]
	return err
}

// put appends bytes to the file.
func (a *Array) put(b []byte) (int, error) {
	if a.part == nil {
		return a.file.Write(b)
	}
	a.part.at += int64(len(b))
	return len(b), a.part.write(a.file, b, a.part.at-int64(len(b)))
}

// Close writes the header, syncs and closes.
func (a *Array) Close() error {
	err := a.Flush()
	if a.part != nil {
		return a.closeShard(err)
	}
	if err == nil {
		err = a.finish()
	}
	return errors.Join(err, a.file.Close())
}

func (a *Array) finish() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	rows, rest := int64(0), info.Size()-npy.HeaderSize
	if a.width > 0 {
		rows, rest = rest/a.width, rest%a.width
	}
	if rest != 0 {
		return fmt.Errorf("%s: found %d bytes after the last row of %d bytes, expected whole rows", a.file.Name(), rest, a.width)
	}
	h, err := npy.AppendHeader(nil, a.descr, append([]int{int(rows)}, a.row...))
	if err != nil {
		return err
	}
	_, err = a.file.WriteAt(h, 0)
	return err
}

// Descr is the NumPy type string of a dtype, "" for strings.
func Descr(d graph.DType) string {
	switch {
	case d == graph.Bool:
		return "b1"
	case d >= graph.Int8 && d <= graph.Int64:
		return fmt.Sprintf("i%d", d.Size())
	case d >= graph.Uint8 && d <= graph.Uint64 || d == graph.BFloat16:
		return fmt.Sprintf("u%d", d.Size())
	case d.IsFloat():
		return fmt.Sprintf("f%d", d.Size())
	}
	return ""
}

// Seal writes graph.json (which a nil meta leaves out) and the manifest. Afterwards only a report can be added to the
// folder.
func (w *Writer) Seal(ctx context.Context, meta *Meta, threads int) error {
	for name, open := range w.files {
		if open {
			return fmt.Errorf("%s: still open", name)
		}
		if f := w.checkpoints.last.Files[name]; f != nil && f.Open {
			return fmt.Errorf("%s: found a file of the resumed run that was not opened, expected its rest", name)
		}
	}
	w.sealed = true
	if meta != nil {
		b, err := EncodeJSON(meta)
		if err != nil {
			return err
		}
		if err := w.WriteFile(MetaFile, b); err != nil {
			return err
		}
	}
	names, err := w.tidy()
	if err != nil {
		return err
	}
	if w.resume != nil { // Publish removes the list, because Seal can fail
		names = slices.DeleteFunc(names, func(name string) bool { return name == resumeFile })
	}
	if w.checkpoints.there {
		names = slices.DeleteFunc(names, func(name string) bool { return name == checkpointFile })
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, known := w.linked[name]
		return known
	})
	m, err := SumFiles(ctx, w.fs, w.dir, names, threads)
	if err != nil {
		return err
	}
	maps.Copy(m.Files, w.linked)
	text, sum, err := m.Encode()
	if err != nil {
		return err
	}
	for dir := range w.dirs {
		if err := w.fs.SyncDir(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	if err := vfs.WriteFile(w.fs, filepath.Join(w.dir, ManifestFile), text); err != nil {
		return err
	}
	return vfs.WriteFile(w.fs, filepath.Join(w.dir, ManifestSumFile), sum)
}

// tidy removes the folders that Remove has left without a file, and lists the files.
func (w *Writer) tidy() ([]string, error) {
	for {
		names, empty, err := list(w.fs, w.dir)
		if err != nil || len(empty) == 0 {
			return names, err
		}
		for _, dir := range empty {
			dir = path.Clean(dir)
			if err := w.fs.Remove(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
				return nil, err
			}
			delete(w.dirs, dir)
		}
	}
}
