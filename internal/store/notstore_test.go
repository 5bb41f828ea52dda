package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestNotStore checks that the error says what a folder or file is that graphmill wrote, too.
func TestNotStore(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"parts/part0", "records", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join("records", "samples.tfrecord-00000-of-00001")
	if err := os.WriteFile(filepath.Join(dir, record), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"parts": "it has the parts of a graph", "records": "it has TFRecords", record: "it has TFRecords",
		"empty": "import or generate one first", "none": "there is no such folder",
	} {
		path := filepath.Join(dir, name)
		_, opened := Open(vfs.OS, path)
		_, read := Metadata(vfs.OS, path)
		for _, err := range []error{opened, read} {
			if !errors.Is(err, ErrNotStore) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: found %v, expected %q", name, err, want)
			}
		}
	}
}
