package guard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// mapped maps a file of the given number of pages through fsys.
func mapped(t *testing.T, fsys vfs.FS, pages int) (name string, b []byte, unmap func() error) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "values")
	if err := os.WriteFile(name, make([]byte, pages*os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if b, unmap, err = f.Map(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name, b, unmap
}

// total keeps the compiler from leaving the reads out.
var total int

func sum(b []byte) {
	for _, v := range b {
		total += int(v)
	}
}

func TestFault(t *testing.T) {
	page := os.Getpagesize()
	name, b, unmap := mapped(t, &vfs.Fault{FS: vfs.OS, FailPage: 3}, 4)
	group, _ := guard.WithContext(context.Background())
	group.Go(func() error { sum(b); return nil })
	err := group.Wait()
	var fault *guard.Error
	if !errors.As(err, &fault) || fault.Path != name || fault.Byte != int64(2*page) || !errors.Is(err, syscall.EIO) {
		t.Errorf("found %v, expected byte %d of %s", err, 2*page, name)
	}
	if want := name + ": byte "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ": input/output error") {
		t.Errorf("found %q, expected %q ... input/output error", err, want)
	}

	// A file cannot take its bytes from the page.
	out, err := vfs.OS.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := out.Write(b)
	if !errors.As(err, &fault) || n != 2*page || fault.Path != name {
		t.Errorf("found %d bytes written and %v, expected %d and an error of %s", n, err, 2*page, name)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}

	// A deferred close runs before the fault is looked up.
	err = guard.Do(func() error {
		defer func() { _ = unmap() }()
		sum(b)
		return nil
	})
	if !errors.As(err, &fault) || fault.Path != name {
		t.Errorf("found %v after the map was closed, expected an error of %s", err, name)
	}
}

func TestCut(t *testing.T) {
	page := os.Getpagesize()
	name, b, unmap := mapped(t, vfs.OS, 4)
	defer func() { _ = unmap() }()
	if err := os.Truncate(name, int64(page)); err != nil {
		t.Fatal(err)
	}
	err := guard.Do(func() error { sum(b); return nil })
	if err == nil || !strings.Contains(err.Error(), "the file was cut while it was read: found 4096 bytes, expected 16384") {
		t.Errorf("found %v", err)
	}
}

func TestOtherPanics(t *testing.T) {
	defer func() {
		if p := recover(); p == nil {
			t.Error("found no panic, expected the one of f")
		}
	}()
	var nothing *int
	_ = guard.Do(func() error { *nothing = 1; return nil })
}

func BenchmarkDo(b *testing.B) {
	for range b.N {
		_ = guard.Do(func() error { return nil })
	}
}
