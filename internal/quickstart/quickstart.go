// Package quickstart holds the embedded graph that a new user tries the product
// on: a part of the package graph of Debian 12, as a TF-GNN unigraph with a
// sampling spec. extract.py made its tables.
package quickstart

import (
	"embed"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

//go:embed debian
var files embed.FS

// Unpack writes the files of the graph into the folder dir, whose parent must exist. dir has all of them, or is not there; one that was
// there is replaced.
func Unpack(fsys vfs.FS, dir string) (err error) {
	parent, base := filepath.Split(filepath.Clean(dir))
	tmp := filepath.Join(parent, "."+base+".partial")
	if err := errors.Join(fsys.RemoveAll(tmp), fsys.RemoveAll(dir)); err != nil {
		return err
	}
	if err := fsys.Mkdir(tmp); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, fsys.RemoveAll(tmp))
		}
	}()
	err = fs.WalkDir(files, "debian", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return vfs.WriteFile(fsys, filepath.Join(tmp, d.Name()), b)
	})
	if err != nil {
		return err
	}
	if err := fsys.Rename(tmp, dir); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Clean(parent + "."))
}
