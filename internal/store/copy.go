package store

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Copy copies an output folder to the folder to, which it makes, without the report. The manifest comes last. A file whose
// bytes do not match the manifest is ErrDamaged. told is called with the bytes of each part that is copied.
func Copy(ctx context.Context, fsys vfs.FS, from, to string, told func(bytes int)) error {
	source := vfs.Confine(fsys, from)
	m, err := ReadManifest(source, from)
	if err != nil {
		return err
	}
	buf := make([]byte, hashBuffer)
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if err := fsys.MkdirAll(filepath.Join(to, filepath.FromSlash(path.Dir(name)))); err != nil {
			return err
		}
		if err := copyFile(ctx, source, filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name)), m.Files[name], buf, told); err != nil {
			return err
		}
	}
	for _, name := range []string{ManifestFile, ManifestSumFile} {
		b, err := vfs.ReadFile(source, filepath.Join(from, name), maxMeta)
		if err != nil {
			return err
		}
		if err := vfs.WriteFile(fsys, filepath.Join(to, name), b); err != nil {
			return err
		}
	}
	return nil
}

// CopyOnce is Copy, unless to is a copy with the checksum sum (Sum), which an earlier run made.
func CopyOnce(ctx context.Context, fsys vfs.FS, from, to, sum string, told func(bytes int)) error {
	if have, err := Sum(fsys, to); err == nil && have == sum {
		return nil
	}
	if err := fsys.RemoveAll(to); err != nil {
		return err
	}
	if told == nil {
		told = func(int) {}
	}
	if err := Copy(ctx, fsys, from, to, told); err != nil {
		return fmt.Errorf("cannot copy the store to the workers: %w", err)
	}
	return nil
}

// copyFile copies a file and waits until the copy is on the disk. Other bytes than want are ErrDamaged.
func copyFile(ctx context.Context, fsys vfs.FS, from, to string, want ManifestFor, buf []byte, told func(bytes int)) (err error) {
	return vfs.WriteWhole(fsys, to, func(w vfs.File) error { return appendFile(ctx, fsys, from, w, want, buf, told) })
}
