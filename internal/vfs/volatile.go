package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Volatile is a file system that forgets at Crash what was not synced, as a machine
// that loses its power: of files the bytes behind the size at their last Sync, and
// files and folders that were made after the last SyncDir of their parent. Parents
// that MkdirAll makes last, and a rename counts as done.
type Volatile struct {
	FS
	mu   sync.Mutex
	made map[string]*lasting // by path: what was made or reopened here
}

// lasting is what of a file or folder is on the disk.
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

// Reopen implements FS. What is left of the file lasts.
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

// Exchange implements FS.
func (v *Volatile) Exchange(a, b string) error {
	if err := v.FS.Exchange(a, b); err != nil {
		return err
	}
	v.move(a, b)
	return nil
}

// move renames what is known of o and all below it; nothing more is known of n.
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

// below is what of a path is behind dir.
func below(path, dir string) (rest string, is bool) {
	rest, is = strings.CutPrefix(path, dir)
	return rest, is && (rest == "" || rest[0] == filepath.Separator)
}

// Crash loses what does not last. Files that are open are of no use afterwards.
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
