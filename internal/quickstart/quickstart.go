// Package quickstart holds the embedded graph that a new user tries the product
// on: a part of the package graph of Debian 12, as a TF-GNN unigraph with a
// sampling spec. extract.py made its tables.
package quickstart

import (
	"embed"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

//go:embed debian
var files embed.FS

// Unpack writes the files of the graph into the folder dir, which must exist.
func Unpack(fsys vfs.FS, dir string) error {
	return fs.WalkDir(files, "debian", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return vfs.WriteFile(fsys, filepath.Join(dir, d.Name()), b)
	})
}
