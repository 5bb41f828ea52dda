package vfs

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Volatile is a file system that loses at Crash what was not synced, as a machine does that loses power: the bytes of a
// file after its size at the last Sync, and files and folders that were made after the last SyncDir of their parent.
// The folders of MkdirAll are not lost, and a rename counts as durable.
type Volatile struct {
	FS
	mu   sync.Mutex
	made map[string]*lasting // by path: files and folders that were made or reopened
}

// lasting is the part of a file or folder that is on the disk.
type lasting struct {
	named  bool
	folder bool
	size   int64
}

type volatileFile struct {
	File
	v *Volatile
	l *lasting
}

func (v *Volatile) keep(name string, l *lasting) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.made == nil {
		v.made = map[string]*lasting{}
	}
	v.made[filepath.Clean(name)] = l
}

// Create implements FS.
func (v *Volatile) Create(name string) (File, error) {
	f, err := v.FS.Create(name)
	if err != nil {
		return nil, err
	}
	l := &lasting{}
	v.keep(name, l)
	return &volatileFile{f, v, l}, nil
}

// Reopen implements FS. The reopened bytes are durable.
func (v *Volatile) Reopen(name string, size int64) (File, error) {
	f, err := v.FS.Reopen(name, size)
	if err != nil {
		return nil, err
	}
	l := &lasting{named: true, size: size}
	v.keep(name, l)
	return &volatileFile{f, v, l}, nil
}

// Mkdir implements FS.
func (v *Volatile) Mkdir(name string) error {
	err := v.FS.Mkdir(name)
	if err == nil {
		v.keep(name, &lasting{folder: true})
	}
	return err
}

// Sync implements File.
func (f *volatileFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	f.l.size = info.Size()
	return nil
}

// SyncDir implements FS.
func (v *Volatile) SyncDir(name string) error {
	if err := v.FS.SyncDir(name); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for path, l := range v.made {
		if filepath.Dir(path) == filepath.Clean(name) {
			l.named = true
		}
	}
	return nil
}

// Rename implements FS.
func (v *Volatile) Rename(o, n string) error {
	if err := v.FS.Rename(o, n); err != nil {
		return err
	}
	v.move(o, n)
	return nil
}

// Link implements FS. The bytes of the file are taken as durable, its new name is not.
func (v *Volatile) Link(o, n string) error {
	if err := v.FS.Link(o, n); err != nil {
		return err
	}
	v.keep(n, &lasting{size: math.MaxInt64})
	return nil
}

// Exchange implements FS.
func (v *Volatile) Exchange(a, b string) error {
	if err := v.FS.Exchange(a, b); err != nil {
		return err
	}
	v.move(a, b)
	return nil
}

// move renames the entries of o and all below it, and removes the entries of n.
func (v *Volatile) move(o, n string) {
	o, n = filepath.Clean(o), filepath.Clean(n)
	v.mu.Lock()
	defer v.mu.Unlock()
	moved := map[string]*lasting{}
	for path, l := range v.made {
		if rest, is := below(path, o); is {
			moved[n+rest] = l
			delete(v.made, path)
		} else if _, is := below(path, n); is {
			delete(v.made, path)
		}
	}
	for path, l := range moved {
		l.named = l.named || path == n
		v.made[path] = l
	}
}

// below is the part of a path after dir, if the path is dir or below it.
func below(path, dir string) (rest string, is bool) {
	rest, is = strings.CutPrefix(path, dir)
	return rest, is && (rest == "" || rest[0] == filepath.Separator)
}

// Crash loses what is not durable. Open files must not be used afterwards.
func (v *Volatile) Crash() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for path, l := range v.made {
		switch info, err := os.Lstat(path); {
		case err != nil: // removed since, or in a folder that is
		case !l.named:
			errs = append(errs, os.RemoveAll(path))
		case !l.folder && info.Size() > l.size:
			errs = append(errs, os.Truncate(path, l.size))
		}
	}
	v.made = nil
	return errors.Join(errs...)
}
