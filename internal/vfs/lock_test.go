package vfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// replace sets a system call until the end of the test.
func replace[T any](t *testing.T, call *T, with T) {
	t.Helper()
	before := *call
	*call = with
	t.Cleanup(func() { *call = before })
}

// TestLockWithoutFlock locks a folder where the file system has no flock: a file is the lock.
func TestLockWithoutFlock(t *testing.T) {
	for _, errno := range []error{syscall.ENOSYS, syscall.ENOLCK, syscall.EOPNOTSUPP} {
		replace(t, &flock, func(int, int) error { return errno })
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		unlock, err := OS.Lock(dir)
		if err != nil {
			t.Fatalf("%v: %v", errno, err)
		}
		if _, err := OS.Lock(dir); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("%s.lock of process %d on ", dir, os.Getpid())) {
			t.Errorf("%v: the second lock gives %v", errno, err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir + ".lock"); !os.IsNotExist(err) {
			t.Errorf("the lock stays: %v", err)
		}
		for text, want := range map[string]string{
			"4194305 HOST\n":      "which has ended; remove it, and run again", // above the largest process id
			"7 elsewhere.local\n": "of process 7 on elsewhere.local; if that process has ended, remove it",
			"":                    "which names no process",
		} {
			host, err := os.Hostname()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+".lock", []byte(strings.ReplaceAll(text, "HOST", host)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := OS.Lock(dir); !errors.Is(err, ErrLockFile) || !strings.Contains(err.Error(), want) {
				t.Errorf("a lock with %q gives %v", text, err)
			}
		}
	}
	replace(t, &flock, func(int, int) error { return syscall.EIO })
	if _, err := OS.Lock(t.TempDir()); !errors.Is(err, syscall.EIO) || errors.Is(err, ErrLocked) {
		t.Errorf("a lock that fails gives %v", err)
	}
}

// TestLockOfAnotherFolder holds the lock of a folder that another run renamed while this one waited for it.
func TestLockOfAnotherFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	replace(t, &flock, func(int, int) error { return os.Rename(dir, dir+"2") })
	if _, err := OS.Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("found %v", err)
	}
}

// TestSyncDirUnsupported syncs a folder where the file system cannot, which is no error, and where it fails.
func TestSyncDirUnsupported(t *testing.T) {
	for errno, fails := range map[error]bool{syscall.EINVAL: false, syscall.ENOTSUP: false, syscall.ENOSYS: false, syscall.EIO: true} {
		replace(t, &fsync, func(*os.File) error { return errno })
		if err := OS.SyncDir(t.TempDir()); (err != nil) != fails {
			t.Errorf("%v: found %v", errno, err)
		}
	}
}

// TestExchangeByRenames fails each rename of an exchange in turn: no name is lost.
func TestExchangeByRenames(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.Mkdir(b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := exchange(a, b); err == nil { // there is no a
		t.Error("exchanged with nothing")
	}
	if _, err := os.Stat(b); err != nil {
		t.Errorf("b is lost: %v", err)
	}
}
