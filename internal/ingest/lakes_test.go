package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestFilesOfLakes checks that no file of a table of Delta Lake, Iceberg, Hudi or Lance is read alone, by whichever name: such
// files also have the rows that were deleted. Tables of Hudi and Lance are not read at all.
func TestFilesOfLakes(t *testing.T) {
	for lake, names := range map[string][]string{
		"Delta Lake": {"delta/*.parquet", "delta/part-00000-73bb0e77-3332-4eca-baaa-fcd99d05ee5b-c000.snappy.parquet"},
		"Iceberg":    {"iceberg/data", "iceberg/data/*.parquet"},
		"Hudi":       {"hudi", "hudi/part=1", "hudi/part=*/*.parquet", "hudi/part=1/f0_0-0-0_20261127.parquet"},
		"Lance":      {"lance", "lance/data"},
	} {
		want, out := "found a table of "+lake+" (", "give the folder testdata/strangers/"
		if lake == "Hudi" || lake == "Lance" {
			out = "write its rows as they are now: "
		}
		for _, name := range names {
			path := filepath.Join("testdata/strangers", name)
			_, err := Open(t.Context(), vfs.OS, path, Options{})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), out) {
				t.Errorf("%s: found %v, expected an error with %q and the way out", name, err, want)
			}
			yaml := filepath.Join(t.TempDir(), "graph.yaml")
			full, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(yaml, []byte("edges:\n  a:e:a: {table: \""+full+"\"}\nnodes: {a: {}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), vfs.OS, yaml, Options{Outside: true}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("table: %s: found %v, expected an error with %q", name, err, want)
			}
		}
	}
}

// TestFoldersAreNoLakes checks that folders with usual names are not taken for such tables.
func TestFoldersAreNoLakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"metadata/notes.txt", "year=2024/part-0.csv", "year=2025/part-0.csv"} {
		path := filepath.Join(dir, "t", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("src,dst\n0,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"t/year=2024", "t/year=*/part-0.csv", "t/year=2024/part-0.csv"} {
		if _, err := Open(t.Context(), vfs.OS, filepath.Join(dir, name), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
