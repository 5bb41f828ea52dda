package disk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	// Another process reads the map. A fault holds a thread of Go until this process has answered it, which waits for that thread where
	// garbage is to be collected.
	out, err := exec.Command(os.Args[0], "map", name).CombinedOutput()
	if want := fmt.Sprintf("byte 0: <nil>\nbyte %d: %v at byte %d\n", 768<<10, unix.EIO, 768<<10); err != nil || string(out) != want {
		t.Errorf("found %q, %v, expected %q", out, err, want)
	}
	d.Heal()
	if b, err := os.ReadFile(name); err != nil || len(b) != 1<<20 {
		t.Errorf("after healing: found %d bytes, %v", len(b), err)
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "map" {
		if err := readMap(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// readMap reads a byte of the first half of a mapped file and one of the second, and prints their errors.
func readMap(name string) error {
	f, err := vfs.OS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b, unmap, err := f.Map()
	if err != nil {
		return err
	}
	defer unmap()
	var sum byte
	fmt.Printf("byte 0: %v\n", guard.Do(func() error { sum += b[0]; return nil }))
	var fault *guard.Error
	if err := guard.Do(func() error { sum += b[768<<10]; return nil }); !errors.As(err, &fault) {
		return fmt.Errorf("found %w, expected an error of a page", err)
	}
	fmt.Printf("byte %d: %v at byte %d\n", 768<<10, errors.Unwrap(fault), fault.Byte)
	return nil
}
