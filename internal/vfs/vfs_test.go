package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := vfs.ReadFile(vfs.OS, name, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := vfs.ReadFile(vfs.OS, name, 4); err == nil {
		t.Error("a file above the limit was read")
	}
	if _, err := vfs.ReadFile(vfs.OS, dir, 4); err == nil {
		t.Error("a folder was read")
	}
	if _, err := vfs.ReadFile(vfs.OS, filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestWriteFile fails each call in turn. Then the name has the old text or the new text, complete, and no other file is
// left.
func TestWriteFile(t *testing.T) {
	for at := int64(0); ; at++ {
		dir := t.TempDir()
		name := filepath.Join(dir, "f")
		if err := os.WriteFile(name, []byte("old text"), 0o644); err != nil {
			t.Fatal(err)
		}
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO, Short: true}
		err := vfs.WriteFile(fault, name, []byte("new text"))
		b, readErr := os.ReadFile(name)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err == nil && string(b) != "new text" || !bytes.HasSuffix(b, []byte(" text")) || len(b) != 8 {
			t.Fatalf("call %d: %q, %v", at, b, err)
		}
		if at > 0 && at <= fault.Calls() && !errors.Is(err, syscall.EIO) {
			t.Fatalf("call %d: error %v, want EIO", at, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("call %d leaves %v, %v", at, entries, err)
		}
		if at > fault.Calls() {
			return
		}
	}
}

func TestMapOutlivesClose(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"mapped", ""} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := vfs.OS.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, unmap, err := f.Map()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if string(b) != text {
			t.Errorf("mapped %q, want %q", b, text)
		}
		if err := unmap(); err != nil {
			t.Error(err)
		}
	}
}

func TestTempHasNoName(t *testing.T) {
	for name, temp := range map[string]func(dir string) (vfs.File, error){"Temp": vfs.OS.Temp, "NamedTemp": vfs.NamedTemp} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, err := temp(dir)
			if err != nil {
				t.Fatal(err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("found %v, %v", entries, err)
			}
			if _, err := f.WriteAt([]byte("abc"), 10); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 20)
			if n, err := f.ReadAt(b, 10); n != 3 || !errors.Is(err, io.EOF) {
				t.Errorf("read %d, %v", n, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := temp(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestExchange(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.Mkdir(a, 0o755), os.Mkdir(b, 0o755), os.WriteFile(filepath.Join(a, "x"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.Exchange(a, b); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b, "x")); err != nil {
		t.Error(err)
	}
	if err := vfs.OS.Exchange(a, filepath.Join(dir, "none")); err == nil {
		t.Error("exchanged with nothing")
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := vfs.OS.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.OS.Lock(dir); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := vfs.OS.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

func TestReopen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.Reopen(name, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte("ab"))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "123ab" {
		t.Errorf("found %q (%v), expected 123ab", b, err)
	}
	if _, err := vfs.OS.Reopen(name, 6); err == nil {
		t.Error("a shorter file was reopened")
	}
	if b, err := os.ReadFile(name); err != nil || len(b) != 5 {
		t.Errorf("found %d bytes (%v), expected the 5 of before", len(b), err)
	}
	if _, err := vfs.OS.Reopen(name+"2", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestDead checks that a Fault that is dead fails every later call.
func TestDead(t *testing.T) {
	dead := &vfs.Fault{FS: vfs.OS, FailAt: 2, Err: syscall.EIO, Dead: true}
	name := filepath.Join(t.TempDir(), "f")
	for i, want := range []error{nil, syscall.EIO, syscall.EIO} {
		if err := dead.Mkdir(name + string(rune('a'+i))); !errors.Is(err, want) {
			t.Errorf("call %d: found %v, expected %v", i+1, err, want)
		}
	}
}
