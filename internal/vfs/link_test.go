package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestLink(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(a, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.Link(a, b); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.Link(a, b); !errors.Is(err, fs.ErrExist) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("found %v for a name that is taken, expected that it exists", err)
	}
	if err := vfs.OS.Link(filepath.Join(dir, "none"), filepath.Join(dir, "c")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v for no file, expected that it does not exist", err)
	}
	// A folder has no second name on any system of ours.
	if err := vfs.OS.Link(dir, filepath.Join(dir, "d")); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("found %v for a folder, expected ErrUnsupported", err)
	}
	if err := vfs.OS.Link(a, "s3://bucket/key"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("found %v for another file system, expected ErrUnsupported", err)
	}
	if err := vfs.OS.Remove(a); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(b); string(text) != "text" || err != nil {
		t.Errorf("found %q, %v under the second name", text, err)
	}
}

// A link that was not synced is lost in a power failure, and the file under its first name is not.
func TestLinkVolatile(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(a, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, synced := range []bool{false, true} {
		disk := &vfs.Volatile{FS: vfs.OS}
		if err := disk.Link(a, b); err != nil {
			t.Fatal(err)
		}
		if synced {
			if err := disk.SyncDir(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := disk.Crash(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(b); (err == nil) != synced {
			t.Errorf("synced %v: found %v", synced, err)
		}
		if text, err := os.ReadFile(a); string(text) != "text" || err != nil {
			t.Errorf("synced %v: found %q, %v under the first name", synced, text, err)
		}
	}
}
