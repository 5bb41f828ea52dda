package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// checkpointFile is the last checkpoint of a partial folder. Publish removes it.
const checkpointFile = ".checkpoint.json"

// ErrOtherRun is the error of Begin for the checkpoint of a run that makes another output.
var ErrOtherRun = errors.New("checkpoint of another run")

// checkpoint is the JSON of a checkpoint. Of is the inputs and options that determine the output, State is the state of the
// caller, and Files are all files of the output.
type checkpoint struct {
	Format int                   `json:"format"`
	Of     map[string]string     `json:"of"`
	State  json.RawMessage       `json:"state"`
	Files  map[string]*fileSoFar `json:"files"`
}

// fileSoFar is a file up to its first Bytes bytes. XXH3 is the checksum of the bytes after the first Head bytes, which
// may be written again at the end.
type fileSoFar struct {
	Bytes int64  `json:"bytes"`
	Head  int64  `json:"head,omitempty"`
	XXH3  string `json:"xxh3"`
	Open  bool   `json:"open,omitempty"` // more bytes will follow

	hash   *xxh3.Hasher // while it is open
	synced int64        // bytes that are on the disk
	broken error        // the error of a write or sync, after which the content of the file is unknown
}

// checkpoints is the state of a Writer that makes checkpoints.
type checkpoints struct {
	last  checkpoint
	began bool // Begin was called: files are counted
	there bool // checkpointFile exists
	open  map[string]*outFile
}

// Continue is Create, but it keeps the files of an interrupted run that made a checkpoint. Begin then checks whether
// the checkpoint fits.
func Continue(fsys vfs.FS, out string, force bool) (*Writer, error) {
	w, err := lock(fsys, out, force)
	if err != nil {
		return nil, err
	}
	_, err = fsys.Lstat(filepath.Join(w.dir, checkpointFile))
	w.checkpoints.there = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = w.clear()
	}
	if err != nil {
		return nil, errors.Join(err, w.Leave())
	}
	return w, nil
}

// Begin lets w make checkpoints. It must be called before the first file is made. of is the inputs and options that
// determine the output, each under a name.
//
// If Continue found a checkpoint, the output resumes from it: State is the state of the caller at that time, and Create
// and Array open the files that were open then and append to them. A checkpoint with another of is an error that wraps
// ErrOtherRun, and stays as it is. Where the checkpoint or its files are damaged, warn gets an error and the output
// begins anew. All files are read to check them, by the given number of threads.
func (w *Writer) Begin(ctx context.Context, of map[string]string, threads int, warn func(error)) error {
	c := &w.checkpoints
	if c.there {
		err := w.restore(ctx, of, threads)
		if errors.Is(err, ErrDamaged) {
			warn(fmt.Errorf("%w; the output begins anew", err))
			c.there, c.last = false, checkpoint{}
			err = w.clear()
		}
		if err != nil {
			return err
		}
	}
	c.began, c.open = true, map[string]*outFile{}
	c.last.Format, c.last.Of = 1, of
	if c.last.Files == nil {
		c.last.Files = map[string]*fileSoFar{}
	}
	return nil
}

// State is the state that the caller passed to the last checkpoint, which may be one of the run that this one resumes.
// It is nil if there is none.
func (w *Writer) State() json.RawMessage { return w.checkpoints.last.State }

// sealedText is a JSON text and its checksum.
type sealedText struct {
	XXH3       string          `json:"xxh3"`
	Checkpoint json.RawMessage `json:"checkpoint"`
}

// readCheckpoint reads the checkpoint. A file that is no checkpoint is an error that wraps ErrDamaged.
func (w *Writer) readCheckpoint() (c checkpoint, err error) {
	name := filepath.Join(w.dir, checkpointFile)
	b, err := vfs.ReadFile(w.fs, name, maxMeta)
	if err != nil {
		return c, err
	}
	damaged := func(err error) (checkpoint, error) {
		return checkpoint{}, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
	}
	var text sealedText
	if err := DecodeJSON(b, &text); err != nil {
		return damaged(err)
	}
	if got := sum(text.Checkpoint); got != text.XXH3 {
		return damaged(fmt.Errorf("found checksum %s, expected %s", got, text.XXH3))
	}
	if err := DecodeJSON(text.Checkpoint, &c); err != nil {
		return damaged(err)
	}
	if c.Format != 1 {
		return damaged(fmt.Errorf("found format %d, expected 1", c.Format))
	}
	if c.State == nil {
		return damaged(errors.New("found no state"))
	}
	return c, nil
}

// restore reads the checkpoint, checks its files, and removes all others.
func (w *Writer) restore(ctx context.Context, of map[string]string, threads int) error {
	c, err := w.readCheckpoint()
	if err != nil {
		return err
	}
	if what := difference(c.Of, of); what != "" {
		return fmt.Errorf("%s: found the %w: %s; give the same options and inputs to resume it, or leave out `Resume` to begin anew", w.dir, ErrOtherRun, what)
	}
	all, _, err := list(w.fs, w.dir)
	if err != nil {
		return err
	}
	if err := w.hold(ctx, c.Files, all, threads); err != nil {
		return err
	}
	for _, name := range all {
		if c.Files[name] != nil || name == checkpointFile {
			continue
		}
		if err := w.fs.Remove(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name := range c.Files {
		w.files[name] = false
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			w.dirs[dir] = true
		}
	}
	w.checkpoints.last = c
	return w.emptyDirs("")
}

// difference describes the keys in which two maps differ. It is "" where they are equal.
func difference(there, here map[string]string) string {
	keys := slices.Sorted(maps.Keys(there))
	for k := range here {
		if _, both := there[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var what string
	for _, k := range keys {
		a, isThere := there[k]
		b, isHere := here[k]
		if a == b && isThere == isHere {
			continue
		}
		if what != "" {
			what += ", "
		}
		if len(a)+len(b) > 200 {
			what += k + " differs"
		} else {
			what += fmt.Sprintf("%s was %s and is %s", k, quoted(a, isThere), quoted(b, isHere))
		}
	}
	return what
}

func quoted(s string, is bool) string {
	if !is {
		return "not given"
	}
	return fmt.Sprintf("%q", s)
}

// hold is an error that wraps ErrDamaged if files do not match a checkpoint. all is the files in the folder, where
// links are not followed.
func (w *Writer) hold(ctx context.Context, files map[string]*fileSoFar, all []string, threads int) error {
	for name, f := range files {
		if _, there := slices.BinarySearch(all, name); !there || f == nil {
			return fmt.Errorf("%s: %w: found no file %q, expected one", w.dir, ErrDamaged, name)
		}
	}
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(max(threads, 1))
	for name, f := range files {
		g.Go(func() error { return f.check(ctx, w.fs, filepath.Join(w.dir, filepath.FromSlash(name))) })
	}
	return g.Wait()
}

// check compares the file with f.
func (f *fileSoFar) check(ctx context.Context, fsys vfs.FS, name string) (err error) {
	damaged := func(format string, a ...any) error {
		return fmt.Errorf("%s: %w: %s", name, ErrDamaged, fmt.Sprintf(format, a...))
	}
	info, err := fsys.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return damaged("found a link or device, expected a file")
	}
	if f.Head < 0 || f.Bytes < f.Head || info.Size() < f.Bytes || !f.Open && info.Size() > f.Bytes {
		return damaged("found %d bytes, expected %d", info.Size(), f.Bytes)
	}
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := xxh3.New()
	part, buf := io.NewSectionReader(file, f.Head, f.Bytes-f.Head), make([]byte, hashBuffer)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := part.Read(buf)
		_, _ = hash.Write(buf[:n]) // a hash never fails
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if got := fmt.Sprintf("%016x", hash.Sum64()); got != f.XXH3 {
		return damaged("found checksum %s of %d bytes, expected %s", got, f.Bytes, f.XXH3)
	}
	if f.Open {
		f.hash = hash
	}
	f.synced = f.Bytes
	return nil
}

// Checkpoint makes a checkpoint of the files so far, with the state that the caller needs to resume. It first brings
// all files to the disk. Meanwhile no file may be written, closed or made. The caller must have flushed its buffers
// (Array.Flush).
func (w *Writer) Checkpoint(state any) error {
	c := &w.checkpoints
	if !c.began {
		return fmt.Errorf("%s: checkpoint before begin", w.out)
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	for _, f := range c.last.Files {
		if f.broken != nil {
			return fmt.Errorf("checkpoint of a file that could not be written: %w", f.broken)
		}
	}
	if err := w.syncAll(); err != nil {
		return err
	}
	next := c.last
	next.State = text
	for _, f := range next.Files {
		if f.Open {
			f.XXH3 = fmt.Sprintf("%016x", f.hash.Sum64())
		}
	}
	inner, err := json.Marshal(next)
	if err != nil {
		return err
	}
	b, err := json.Marshal(sealedText{sum(inner), inner})
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(w.fs, filepath.Join(w.dir, checkpointFile), b); err != nil {
		return err
	}
	c.last, c.there = next, true
	return nil
}

// maxSyncing is the number of files that are synced at a time. A disk syncs many in the time of one.
const maxSyncing = 16

// syncAll brings all files and their names to the disk.
func (w *Writer) syncAll() error {
	var g guard.Group
	g.SetLimit(maxSyncing)
	for _, f := range w.checkpoints.open {
		if f.soFar.synced < f.soFar.Bytes {
			g.Go(func() error {
				f.soFar.broken, f.soFar.synced = f.Sync(), f.soFar.Bytes
				return f.soFar.broken
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for dir := range w.dirs {
		if err := w.fs.SyncDir(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	return w.fs.SyncDir(filepath.Dir(w.dir))
}

// openFile makes a file, or opens one that the resumed run had open, at its end.
func (w *Writer) openFile(name string) (*outFile, error) {
	c, path := &w.checkpoints, filepath.Join(w.dir, filepath.FromSlash(name))
	f := &outFile{w: w, name: name, soFar: c.last.Files[name]}
	var err error
	if old := f.soFar != nil && f.soFar.Open && c.open[name] == nil; old {
		f.File, err = w.fs.Reopen(path, f.soFar.Bytes)
	} else {
		f.File, err = w.fs.Create(path)
	}
	if err != nil {
		return nil, err
	}
	if c.began {
		if f.soFar == nil {
			f.soFar = &fileSoFar{Open: true, hash: xxh3.New()}
			c.last.Files[name] = f.soFar
		}
		c.open[name] = f
	}
	return f, nil
}

// leaveHead leaves n bytes at the front of a new file, which are written when the file ends.
func (f *outFile) leaveHead(n int64) error {
	if f.soFar != nil && f.soFar.Bytes > 0 {
		return nil
	}
	_, err := f.File.Write(make([]byte, n))
	if f.soFar != nil {
		f.soFar.Bytes, f.soFar.Head = n, n
	}
	return err
}

// closed notes the checksum of a file that is complete.
func (c *checkpoints) closed(f *outFile) {
	if f.soFar != nil {
		f.soFar.XXH3, f.soFar.Open, f.soFar.hash = fmt.Sprintf("%016x", f.soFar.hash.Sum64()), false, nil
		delete(c.open, f.name)
	}
}

// wrote counts appended bytes.
func (f *fileSoFar) wrote(b []byte, err error) {
	if f != nil {
		f.Bytes += int64(len(b))
		_, _ = f.hash.Write(b) // a hash never fails
		f.broken = cmp.Or(f.broken, err)
	}
}
