// Package storetest makes stores in shards of whole ones, for tests of what reads them.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Divide copies a store or collection, without its report, to the new folder to, with its arrays in shards whose sizes are multiples of align, at most the given number. The manifest is
// that of an output whose workers wrote the shards.
func Divide(from, to string, shards, align int) error {
	m, err := store.ReadManifest(vfs.OS, from)
	if err != nil {
		return err
	}
	var names []string
	for name := range m.Files {
		b, err := vfs.ReadFile(vfs.OS, filepath.Join(from, filepath.FromSlash(name)), 1<<30)
		if err != nil {
			return err
		}
		step := (len(b)/shards/align + 1) * align
		n := (len(b) + step - 1) / step
		if n <= 1 || !strings.HasSuffix(name, ".npy") {
			n, step = 1, len(b)
		}
		for i := range n {
			shard := name
			if n > 1 {
				shard = fmt.Sprintf("%s.%05d-of-%05d", name, i, n)
			}
			path := filepath.Join(to, filepath.FromSlash(shard))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: found a file, expected a new folder; give another name: %w", path, err)
			}
			if err := os.WriteFile(path, b[i*step:min((i+1)*step, len(b))], 0o644); err != nil {
				return err
			}
			names = append(names, shard)
		}
	}
	divided, err := store.SumFiles(context.Background(), vfs.OS, to, names, 1)
	if err != nil {
		return err
	}
	text, sum, err := divided.Encode()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(to, store.ManifestFile), text, 0o644), os.WriteFile(filepath.Join(to, store.ManifestSumFile), sum, 0o644))
}
