package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// HistoryFile has when the versions of a store appeared. The manifest does not list it, so that equal stores are equal whenever they were made.
const HistoryFile = "history.json"

// maxHistory bounds HistoryFile: a hundred bytes per version.
const maxHistory = 64 << 20

// Version is a version of a store.
type Version struct {
	Segments int       `json:"segments"` // of which it is made
	Manifest string    `json:"manifest"` // its checksum (Sum)
	At       time.Time `json:"at"`       // when it appeared, in UTC
}

// ReadHistory reads the versions of a store, the oldest first: those that appends have made since the import or the last compaction, and this one. Stores without appends have none.
func ReadHistory(fsys vfs.FS, dir string) (versions []Version, err error) {
	name := filepath.Join(dir, HistoryFile)
	b, err := vfs.ReadFile(vfs.Confine(fsys, dir), name, maxHistory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := DecodeJSON(b, &versions); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
	}
	for i, v := range versions {
		if v.Segments < 0 || i > 0 && (v.Segments <= versions[i-1].Segments || v.At.Before(versions[i-1].At)) {
			return nil, fmt.Errorf("%s: %w: found version %d out of order, expected numbers of segments and times that ascend; remove the file", name, ErrDamaged, i)
		}
	}
	return versions, nil
}

// WriteHistory writes the versions of a sealed store, of which the last is this one.
func (w *Writer) WriteHistory(versions []Version) error {
	b, err := EncodeJSON(versions)
	if err != nil {
		return err
	}
	return vfs.WriteFile(w.fs, filepath.Join(w.dir, HistoryFile), b)
}

// SumOf is the checksum that the manifest of the store had after the first of its segments (Sum), where m is its manifest now.
func (s *Store) SumOf(m *Manifest, segments int) (string, error) {
	of := &Manifest{Files: map[string]ManifestFor{}}
	for name, f := range m.Files {
		if SegmentOf(name) <= segments {
			of.Files[name] = f
		}
	}
	b, err := EncodeJSON(s.After(segments))
	if err != nil {
		return "", err
	}
	of.Files[MetaFile] = ManifestFor{Bytes: int64(len(b)), XXH3: sum(b)}
	text, _, err := of.Encode()
	return "xxh3:" + sum(text), err
}
