package vfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// Sender is an FS of objects, in which a file gets its name by being sent: nothing is renamed there, and nobody sees half of a file.
type Sender interface {
	FS
	// Sends says whether files of a name are made by Send.
	Sends(name string) bool
	// Send makes a file of f, which is from Temp. With replace it takes the place of one of that name. Without, such a file stays, and is no
	// error: processes that do the same work make the same bytes.
	Send(name string, f File, replace bool) error
}

// SenderOf is the Sender that makes files of a name; nil where a file is written beside it, and renamed.
func SenderOf(fsys FS, name string) Sender {
	switch f := fsys.(type) {
	case mounts:
		fsys = fsOf(name)
	case *confined:
		return SenderOf(f.FS, name)
	case withFile:
		return SenderOf(f.FS, name)
	case joined:
		return SenderOf(f.FS, name)
	}
	if s, ok := fsys.(Sender); ok && s.Sends(name) {
		return s
	}
	return nil
}

// WriteWhole makes a file of what fn writes. It has its name when it is whole and durable, and nobody sees it before. Several processes may make it at
// the same time, of the same bytes. A process that is killed leaves at most a file with another name beside it, which begins with a dot, and in an object store
// nothing.
func WriteWhole(fsys FS, name string, fn func(File) error) error {
	return writeTo(fn)(CreateWhole(fsys, name))
}

// WriteFile makes a whole file as WriteWhole does. It replaces an existing one.
func WriteFile(fsys FS, name string, data []byte) error {
	temp := Beside(name)
	if SenderOf(fsys, name) == nil {
		if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return writeTo(func(f File) error {
		_, err := f.Write(data)
		return err
	})(createWhole(fsys, temp, name, true))
}

// writeTo is a function that makes a file of what fn writes.
func writeTo(fn func(File) error) func(f *Whole, err error) error {
	return func(f *Whole, err error) error {
		if err != nil {
			return err
		}
		if err := fn(f.File); err != nil {
			return errors.Join(err, f.Close())
		}
		return f.Commit()
	}
}

// Whole is a file that is being written. It has its name after Commit, as WriteWhole says; after Close in its place nothing is left.
type Whole struct {
	File
	fs         FS
	sender     Sender // nil where the file is written beside its name
	temp, name string
	replace    bool // of a sender
}

// CreateWhole begins a file. The caller calls Commit or Close.
func CreateWhole(fsys FS, name string) (*Whole, error) {
	dir, base := filepath.Split(name)
	return createWhole(fsys, filepath.Join(dir, "."+base+"."+rand.Text()+".partial"), name, false)
}

func createWhole(fsys FS, temp, name string, replace bool) (w *Whole, err error) {
	w = &Whole{fs: fsys, sender: SenderOf(fsys, name), temp: temp, name: name, replace: replace}
	if w.sender != nil {
		w.File, err = w.sender.Temp(filepath.Dir(name))
	} else {
		w.File, err = fsys.Create(temp)
	}
	return w, err
}

// Commit ends the file and gives it its name.
func (w *Whole) Commit() error {
	if w.sender != nil {
		return errors.Join(w.sender.Send(w.name, w.File, w.replace), w.File.Close())
	}
	err := errors.Join(w.Sync(), w.File.Close())
	if err == nil {
		err = w.fs.Rename(w.temp, w.name)
	}
	if err != nil {
		return errors.Join(err, w.fs.RemoveAll(w.temp))
	}
	if err := w.fs.SyncDir(filepath.Dir(w.name)); err != nil {
		return fmt.Errorf("%s: the file is complete, but its folder could not be synced: %w", w.name, err)
	}
	return nil
}

// Close implements File: the file is given up.
func (w *Whole) Close() error {
	err := w.File.Close()
	if w.sender == nil {
		err = errors.Join(err, w.fs.RemoveAll(w.temp))
	}
	return err
}

// Beside is the name under which WriteFile writes a file before it renames it.
func Beside(name string) string {
	dir, base := filepath.Split(name)
	return filepath.Join(dir, "."+base+".partial")
}

// Copy makes a whole file of the bytes of another.
func Copy(fsys FS, from, to string) (err error) {
	f, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return WriteWhole(fsys, to, func(w File) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 1<<20))
		return err
	})
}

// Remote is a File on another machine, of which a reader can ask for a range alone.
type Remote interface {
	File
	// ReadRange reads all of b from an offset, and nothing around it. The bytes are not kept on the disk. It may be called by several goroutines.
	ReadRange(ctx context.Context, b []byte, off int64) error
}

// readWhole is the most bytes of a Remote that ReadFile reads by one request: larger ones are read in blocks, several at a time.
const readWhole = 8 << 20

// readAll reads b from the start of a file.
func readAll(f File, b []byte) (int, error) {
	if r, ok := f.(Remote); ok && len(b) <= readWhole {
		if err := r.ReadRange(context.Background(), b, 0); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return io.ReadFull(f, b)
}
