package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsMount(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev", link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/dev": true, "/dev/": true, dir: false, filepath.Join(dir, "none"): false, link: false} {
		if got := IsMount(name); got != want {
			t.Errorf("%s: found %v, expected %v", name, got, want)
		}
	}
}
