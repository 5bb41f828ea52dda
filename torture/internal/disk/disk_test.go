package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	real, at := filepath.Join(dir, "real"), filepath.Join(dir, "at")
	name := filepath.Join(at, "folder", "f")
	err := errors.Join(os.MkdirAll(filepath.Join(real, "folder"), 0o755), os.Mkdir(at, 0o755), os.WriteFile(filepath.Join(real, "folder", "f"), make([]byte, 1<<20), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	d := Mount(t, real, at)
	if b, err := os.ReadFile(name); err != nil || len(b) != 1<<20 || d.Failed() {
		t.Fatalf("found %d bytes, %v", len(b), err)
	}
	if o := d.Opened(); !slices.Equal(o, []string{"folder/f"}) {
		t.Errorf("found %v opened", o)
	}
	d.Fail("folder/f", 512<<10)
	if b, err := os.ReadFile(name); !errors.Is(err, syscall.EIO) || len(b) < 256<<10 || !d.Failed() {
		t.Errorf("found %d bytes, %v", len(b), err)
	}
	f, err := vfs.OS.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, unmap, err := f.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	var sum byte
	if err := guard.Do(func() error { sum += b[0]; return nil }); err != nil {
		t.Errorf("%v", err)
	}
	var fault *guard.Error
	if err := guard.Do(func() error { sum += b[768<<10]; return nil }); !errors.As(err, &fault) || !errors.Is(err, unix.EIO) || fault.Byte != 768<<10 {
		t.Errorf("found %v, expected EIO at byte %d", err, 768<<10)
	}
	d.Heal()
	if b, err := os.ReadFile(name); err != nil || len(b) != 1<<20 {
		t.Errorf("after healing: found %d bytes, %v", len(b), err)
	}
}
