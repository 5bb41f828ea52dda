package store

import (
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

// FeaturesFile is the file of a store with what its features were fitted to.
const FeaturesFile = "features.json"

// Metadata reads the files of a store or collection that describe it, by their names: graph.json, the manifest with its
// checksum, and features.json if there is one. It checks none of them.
func Metadata(fsys vfs.FS, dir string) (map[string][]byte, error) {
	fsys = vfs.Confine(fsys, dir)
	files := map[string][]byte{}
	for _, name := range []string{MetaFile, ManifestFile, ManifestSumFile, FeaturesFile} {
		b, err := vfs.ReadFile(fsys, filepath.Join(dir, name), maxMeta)
		switch missing := vfs.Absent(err); {
		case missing && name == FeaturesFile:
			continue
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
