package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestVolatile checks what is left after a crash: synced bytes, under synced names.
func TestVolatile(t *testing.T) {
	dir := t.TempDir()
	v := &vfs.Volatile{FS: vfs.OS}
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, synced, more string) {
		f, err := v.Create(at(name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write([]byte(synced))
		err = errors.Join(err, f.Sync())
		_, more2 := f.Write([]byte(more))
		if err := errors.Join(err, more2, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write("part", "synced", " not")
	write("renamed.tmp", "whole", "")
	if err := errors.Join(v.Mkdir(at("d")), v.Rename(at("renamed.tmp"), at("renamed")), v.SyncDir(dir)); err != nil {
		t.Fatal(err)
	}
	write("unnamed", "synced", "")
	write("d/unnamed", "synced", "")
	if err := errors.Join(v.Mkdir(at("e")), v.Crash()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"part": "synced", "renamed": "whole"} {
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != want {
			t.Errorf("%s: found %q (%v), expected %q", name, b, err, want)
		}
	}
	for _, name := range []string{"unnamed", "d/unnamed", "e", "renamed.tmp"} {
		if _, err := os.Lstat(at(name)); err == nil {
			t.Errorf("%s: found what was not synced", name)
		}
	}
	if _, err := os.Lstat(at("d")); err != nil {
		t.Error(err)
	}
}
