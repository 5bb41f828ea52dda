package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrReplaced is the kind of the error of Amend for a folder that has been replaced since its checksum was taken.
var ErrReplaced = errors.New("found another version of the folder than at the start, expected that it does not change meanwhile; run again")

// Amend begins a new version of the output folder dir, which Publish puts in its place in one step. The new version begins with
// the files of dir except graph.json and those that without takes: as hard links, so that their bytes are neither read nor
// written, or as copies where the file system has no links. copied is the number of bytes of such copies. Who has the old version
// open keeps it.
//
// sum is the checksum (Sum) of the version that the caller has read; another one is ErrReplaced. Seal takes the checksums of the
// files from the manifest of dir, so that Verify still finds what was damaged before. The report of dir is not taken over.
func Amend(ctx context.Context, fsys vfs.FS, dir, sum string, without func(name string) bool) (_ *Writer, copied int64, err error) {
	w, err := Create(fsys, dir, true)
	if err != nil {
		return nil, 0, err
	}
	if copied, err = w.linkVersion(ctx, sum, without); err != nil {
		return nil, 0, w.End(err)
	}
	return w, copied, nil
}

// linkVersion links the files of the version that the Writer will replace.
func (w *Writer) linkVersion(ctx context.Context, sum string, without func(name string) bool) (copied int64, err error) {
	have, err := Sum(w.fs, w.out)
	if err != nil {
		return 0, err
	}
	if have != sum {
		return 0, fmt.Errorf("%s: %w", w.out, ErrReplaced)
	}
	m, err := ReadManifest(w.fs, w.out)
	if err != nil {
		return 0, err
	}
	if err := onlyListed(w.fs, w.out, m); err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if err := ctx.Err(); err != nil {
			return 0, context.Cause(ctx)
		}
		if name == MetaFile || without(FileOf(name)) {
			continue
		}
		n, err := w.Link(ctx, name, w.out, m.Files[name])
		if err != nil {
			return 0, err
		}
		copied += n
	}
	return copied, nil
}

// onlyListed is an error where a folder has files that its manifest does not name, which its replacement would remove.
func onlyListed(fsys vfs.FS, dir string, m *Manifest) error {
	names, _, err := list(fsys, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := m.Files[name]; !ok && !outside(name) && !slices.Contains(halfWritten, name) {
			return fmt.Errorf("%s: found the file %s, which %s does not name, expected none, because the folder is replaced; move it out of the folder", dir, name, ManifestFile)
		}
	}
	return nil
}

// Summed gives the size and the checksum of a file that is known, as of one that Take moved here from a folder with a manifest, so that Seal does not read it again.
func (w *Writer) Summed(name string, entry ManifestFor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.linked == nil {
		w.linked = map[string]ManifestFor{}
	}
	w.linked[name] = entry
}

// Link makes a file of the output folder from a file of this one, under the same name: a hard link or, where the file system has
// none, a copy, of which it returns the number of bytes. entry is what the manifest of from says of the file. The bytes are read
// only if they are copied; other bytes than the entry says are ErrDamaged then, and so is another size always.
func (w *Writer) Link(ctx context.Context, name, from string, entry ManifestFor) (copied int64, err error) {
	if err := checkLocal(name); err != nil {
		return 0, err
	}
	if outside(name) || name == MetaFile {
		return 0, fmt.Errorf("found file name %q, which is reserved", name)
	}
	source := vfs.Confine(w.fs, from)
	at := filepath.Join(from, filepath.FromSlash(name))
	info, err := vfs.Regular(source, at)
	if err != nil {
		return 0, err
	}
	if info.Size() != entry.Bytes {
		return 0, fmt.Errorf("%s: %w: found %d bytes, expected %d; run graphmill verify on the folder", at, ErrDamaged, info.Size(), entry.Bytes)
	}
	w.mu.Lock()
	err = w.mkdir(path.Dir(name))
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	to := filepath.Join(w.dir, filepath.FromSlash(name))
	err = w.fs.Link(at, to)
	if errors.Is(err, errors.ErrUnsupported) {
		copied, err = entry.Bytes, copyFile(ctx, source, at, to, entry, make([]byte, hashBuffer), func(int) {})
	}
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.linked == nil {
		w.linked = map[string]ManifestFor{}
	}
	w.files[name], w.linked[name] = false, entry
	return copied, nil
}
