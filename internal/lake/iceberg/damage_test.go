package iceberg

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestDamage opens tables of which one file is damaged: each gives a table or an error about the bytes, which names a file of the table.
func TestDamage(t *testing.T) {
	for _, name := range []string{"positions", "vectors", "keys", "key_partitions", "version1", "branches", "imported"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
				t.Fatal(err)
			}
			s, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for _, path := range s.Log {
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for range 20 {
					bad := damage(r, good)
					if err := os.WriteFile(path, bad, 0o644); err != nil {
						t.Fatal(err)
					}
					fuzzing.Check(t, len(bad), func() {
						s, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
						if err == nil && s.Resolve != nil {
							_, err = s.Resolve(t.Context(), 2)
						}
						if err == nil {
							return
						}
						if failed++; !errors.Is(err, lake.ErrFormat) && !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
							t.Errorf("%s: found %v, expected an error about the bytes with a path", path, err)
						}
					})
				}
				if err := os.WriteFile(path, good, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if failed < 6*len(s.Log) {
				t.Errorf("found %d errors for %d files, expected more", failed, len(s.Log))
			}
		})
	}
}

// damage changes, cuts or repeats bytes of a file.
func damage(r *rand.Rand, good []byte) []byte {
	bad := append([]byte(nil), good...)
	switch r.IntN(4) {
	case 0:
		return bad[:r.IntN(len(bad))]
	case 1:
		at := r.IntN(len(bad))
		return append(append([]byte(nil), bad[:at]...), bad[r.IntN(len(bad)):]...)
	}
	for range 1 + r.IntN(8) {
		bad[r.IntN(len(bad))] = byte(r.Uint32())
	}
	return bad
}
