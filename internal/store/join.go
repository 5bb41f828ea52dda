package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrJoined is the kind of the error of Join for a folder without shards.
var ErrJoined = errors.New("no file has shards")

// Join writes the files of the store or collection from to w, each as a whole: the manifest is then the one of an output that one process wrote. The report is left out. Bytes that do
// not match the manifest are ErrDamaged. told is called with the bytes of each part that is written. The caller publishes w.
func Join(ctx context.Context, fsys vfs.FS, from string, w *Writer, threads int, told func(bytes int)) error {
	source := vfs.Confine(fsys, from)
	m, err := ReadManifest(source, from)
	if err != nil {
		return err
	}
	b, err := vfs.ReadFile(source, filepath.Join(from, MetaFile), maxMeta)
	if err != nil {
		return err
	}
	var meta Meta
	if err := DecodeJSON(b, &meta); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(from, MetaFile), err)
	}
	files, err := m.shards()
	if err != nil {
		return fmt.Errorf("%s: %w: %w", from, ErrDamaged, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: %w; use it as it is", from, ErrJoined)
	}
	for name := range m.Files {
		if _, _, _, ok := shardOf(name); !ok && name != MetaFile {
			files[name] = []string{name}
		}
	}
	buf := make([]byte, hashBuffer)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			return err
		}
		for _, shard := range files[name] {
			if err := appendFile(ctx, source, filepath.Join(from, filepath.FromSlash(shard)), f, m.Files[shard], buf, told); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return w.Seal(ctx, &meta, threads)
}

// appendFile writes a file to w. Other bytes than want are ErrDamaged.
func appendFile(ctx context.Context, fsys vfs.FS, from string, w io.Writer, want ManifestFor, buf []byte, told func(bytes int)) (err error) {
	r, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	h, size := xxh3.New(), int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		_, _ = h.Write(buf[:n]) // a hash never fails
		size += int64(n)
		told(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if got := (ManifestFor{Bytes: size, XXH3: fmt.Sprintf("%016x", h.Sum64())}); got != want {
		return fmt.Errorf("%s: %w: found %d bytes with checksum %s, expected %d with %s", from, ErrDamaged, got.Bytes, got.XXH3, want.Bytes, want.XXH3)
	}
	return nil
}
