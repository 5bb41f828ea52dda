package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// Inside is an error where a path is not below a folder, or is reached from it through a symbolic link. The folder itself may
// be a link.
func Inside(fsys FS, dir, name string) error {
	rel, err := filepath.Rel(dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s: found a path out of the folder %s, expected one in it", name, dir)
	}
	return inside(fsys, dir, rel, nil)
}

// inside is Inside of a local path. known, if not nil, holds folders that are known to be inside.
func inside(fsys FS, dir, rel string, known *sync.Map) error {
	at := dir
	for rel != "" {
		var part string
		part, rel, _ = strings.Cut(rel, string(filepath.Separator))
		at = filepath.Join(at, part)
		if known != nil {
			if _, ok := known.Load(at); ok {
				continue
			}
		}
		info, err := fsys.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the open says so
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return &LinkError{Path: at, Dir: dir}
		case known != nil && info.IsDir():
			known.Store(at, true)
		}
	}
	return nil
}

// LinkError is the error about a symbolic link in a folder whose files must lie in it.
type LinkError struct {
	Path string // of the link
	Dir  string // the folder
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s: found a symbolic link, which can lead out of the folder %s, expected a file or folder; copy there what it points to", e.Path, e.Dir)
}

// Confine is fsys with one rule more: Open, OpenStream, Stat and ReadDir of a path below dir are errors where Inside is. Other
// paths have no rule. Links that are made while files are read are not looked for.
func Confine(fsys FS, dir string) FS {
	if c, ok := fsys.(*confined); ok && c.dir == filepath.Clean(dir) {
		return c
	}
	return &confined{FS: fsys, dir: filepath.Clean(dir)}
}

type confined struct {
	FS
	dir     string
	folders sync.Map // below dir that are known to be inside
}

func (c *confined) check(name string) error {
	rel, err := filepath.Rel(c.dir, name)
	if err != nil || !filepath.IsLocal(rel) || rel == "." || Scheme(name) != "" { // buckets have no links
		return nil
	}
	return inside(c.FS, c.dir, rel, &c.folders)
}

// Open implements FS.
func (c *confined) Open(name string) (File, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	return c.FS.Open(name)
}

// OpenStream implements FS.
func (c *confined) OpenStream(name string) (File, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	return c.FS.OpenStream(name)
}

// Stat implements FS.
func (c *confined) Stat(name string) (fs.FileInfo, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	return c.FS.Stat(name)
}

// ReadDir implements FS.
func (c *confined) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	return c.FS.ReadDir(name)
}
