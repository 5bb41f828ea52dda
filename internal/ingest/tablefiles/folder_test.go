package tablefiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// touch makes an empty file and the folders above it.
func touch(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A folder is a table: its files in the order of their paths.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "day=x")
	for _, name := range []string{"day=2/kind=a%2Fb/part-1.csv", "day=10/part-0.csv", "day=2/kind=a%2Fb/part-0.csv", "day=2/_temporary/part-9.csv", ".hidden/part-8.csv", "_SUCCESS"} {
		touch(t, filepath.Join(dir, name))
	}
	var want []string
	for _, name := range []string{"day=10/part-0.csv", "day=2/kind=a%2Fb/part-0.csv", "day=2/kind=a%2Fb/part-1.csv"} {
		want = append(want, filepath.Join(dir, name))
	}
	found, folder, err := FindPath(vfs.OS, dir, false)
	if err != nil || folder != dir || !slices.Equal(found, want) {
		t.Errorf("found %v in %s, %v, expected %v", found, folder, err, want)
	}
	if files, _, err := FindPath(vfs.OS, filepath.Join(filepath.Dir(dir), "d*/day=?/kind=*/*.csv"), false); err != nil || len(files) != 2 {
		t.Errorf("found %v, %v, expected the files of a glob in several parts", files, err)
	}
}

func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "none/_SUCCESS"))
	touch(t, filepath.Join(dir, "links/a.csv"))
	if err := os.Symlink(touch(t, filepath.Join(dir, "away/b.csv")), filepath.Join(dir, "links/b.csv")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"none":  "found a folder without files of a table, expected some",
		"links": "b.csv: found a symbolic link, which can lead out of the folder of the table; allow it with `AllowOutside`",
	} {
		if _, _, err := FindPath(vfs.OS, filepath.Join(dir, name), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found error %v, expected %q", name, err, want)
		}
	}
	if files, _, err := FindPath(vfs.OS, filepath.Join(dir, "links"), true); err != nil || len(files) != 2 {
		t.Errorf("found %v, %v, expected the link to be followed", files, err)
	}
}

func TestIsTable(t *testing.T) {
	for names, want := range map[string]bool{
		"_SUCCESS part-00000-aa.snappy.parquet part-00001-bb.snappy.parquet": true,
		"day=1 day=2 _metadata":     true,
		"edges0.csv edges12.csv":    true,
		"users.csv follows.csv":     false,
		"part-0.parquet graph.yaml": false,
		"data.npy":                  false,
		"samples-00000.tfrecord":    false,
		"edges.parquet README.md":   false,
		"":                          false,
	} {
		if got := IsTable(strings.Fields(names)); got != want {
			t.Errorf("%q: found %v, expected %v", names, got, want)
		}
	}
}
