package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/graphmill/graphmill/internal/vfs"
)

// notStore is the error for a path without graph.json. It says what else the folder or file is, if that is something that graphmill
// writes, too.
func notStore(fsys vfs.FS, dir string) error {
	do := "import or generate one first"
	names := []string{filepath.Base(dir)}
	if entries, err := fsys.ReadDir(dir); err == nil { // a file has no entries, and its own name
		names = names[:0]
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		switch {
		case strings.Contains(name, ".tfrecord"):
			do = "it has TFRecords: make a collection of them with their schema, by `Schema`"
		case name == "part0":
			do = "it has the parts of a graph: check them with graphmill verify, or import their .json file, which gives the whole graph"
		}
	}
	return fmt.Errorf("%s: %w: it has no %s; %s", dir, ErrNotStore, MetaFile, do)
}

// Metadata reads the files of a store or collection that describe it, by their names: graph.json and the manifest with its
// checksum. It checks none of them.
func Metadata(fsys vfs.FS, dir string) (map[string][]byte, error) {
	fsys = vfs.Confine(fsys, dir)
	files := map[string][]byte{}
	for _, name := range []string{MetaFile, ManifestFile, ManifestSumFile} {
		b, err := vfs.ReadFile(fsys, filepath.Join(dir, name), maxMeta)
		switch missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR); {
		case missing && name == MetaFile:
			return nil, notStore(fsys, dir)
		case missing:
			return nil, fmt.Errorf("%s: %w: found no %s, expected one; writing or copying it was not completed", dir, ErrDamaged, name)
		case err != nil:
			return nil, err
		}
		files[name] = b
	}
	return files, nil
}
