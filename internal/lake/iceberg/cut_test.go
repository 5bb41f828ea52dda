package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// filesOf are the files of a table, with the numbers of the rows that are deleted of each.
func filesOf(t *testing.T, dir string, ref lake.Ref) (string, error) {
	t.Helper()
	s, err := Open(vfs.OS, dir, ref, "", false)
	if err != nil {
		return "", err
	}
	text := ""
	for _, f := range s.Files {
		text += fmt.Sprintln(f.Path, f.Rows, f.Deleted)
	}
	return text, nil
}

// cutsOf are lengths to which a file of Avro is cut: after each of its blocks, where it looks like a whole one, and at some other bytes.
func cutsOf(file []byte) (cuts []int) {
	marker := file[len(file)-16:] // ends the header and each block
	for at := 0; ; {
		i := bytes.Index(file[at:], marker)
		if i < 0 || at+i+len(marker) == len(file) {
			break
		}
		at += i + len(marker)
		cuts = append(cuts, at)
	}
	for n := 0; n < len(file); n += 1 + len(file)/12 {
		cuts = append(cuts, n)
	}
	return append(cuts, len(file)-1)
}

// TestCutManifests cuts the manifests of tables and their lists: that is an error, and never fewer files.
func TestCutManifests(t *testing.T) {
	for _, name := range []string{"positions", "vectors", "keys", "branches", "pyiceberg1", "pyiceberg2", "all_deleted", "version1"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
				t.Fatal(err)
			}
			want, err := filesOf(t, dir, lake.Ref{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
			if err != nil {
				t.Fatal(err)
			}
			cut := 0
			for _, path := range s.Log {
				if filepath.Ext(path) != ".avro" {
					continue
				}
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range cutsOf(good) {
					if err := os.WriteFile(path, good[:n], 0o600); err != nil {
						t.Fatal(err)
					}
					found, err := filesOf(t, dir, lake.Ref{})
					if err == nil && found != want {
						t.Errorf("%s, cut to %d of %d bytes: found %q, expected an error or %q", filepath.Base(path), n, len(good), found, want)
					}
					if err != nil && !errors.Is(err, lake.ErrFormat) {
						t.Errorf("%s, cut to %d bytes: found %v, expected an error about the bytes", filepath.Base(path), n, err)
					}
					cut++
				}
				if err := os.WriteFile(path, good, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if cut == 0 {
				t.Error("found no manifests, expected some")
			}
		})
	}
}
