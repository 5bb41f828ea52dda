//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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

// A lock of a process that has ended on this machine is taken over; any other is left, with words that say what to do.
func TestLockFileIsTakenOver(t *testing.T) {
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	if me.place == "" {
		t.Skip("this system does not tell when a process began")
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone := dead.Process.Pid
	parent := os.Getppid()
	began, err := started(parent)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		h    holder
		want string // "" is taken over
	}{
		"ended":                           {holder{gone, me.host, me.place, "12", "A"}, ""},
		"another process of its number":   {holder{parent, me.host, me.place, began + "0", "B"}, ""},
		"running":                         {holder{parent, me.host, me.place, began, "C"}, fmt.Sprintf(".lock of process %d on %s; if that process has ended, remove it", parent, me.host)},
		"an earlier start, or a namesake": {holder{gone, me.host, "x" + me.place, "12", "D"}, "if that process has ended, remove it"},
		"another machine":                 {holder{gone, "elsewhere", me.place, "12", "E"}, "on elsewhere; if that process has ended, remove it"},
		"without a start":                 {holder{pid: gone, host: me.host}, "which has ended; remove it, and run again"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := os.WriteFile(dir+".lock", []byte(c.h.String()+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			unlock, err := LockFile(dir)
			if c.want != "" {
				if !errors.Is(err, ErrLockFile) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("found %v, expected %q", err, c.want)
				}
				if h, err := readHolder(dir + ".lock"); err != nil || h != c.h {
					t.Errorf("found the lock %v, %v, expected %v", h, err, c.h)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := LockFile(dir); !errors.Is(err, ErrLockFile) {
				t.Errorf("a second lock gives %v", err)
			}
			if err := unlock(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of many runs that meet the same lock of a process that has ended, one at a time holds it, and not two.
func TestLockFileIsTakenOverOnce(t *testing.T) {
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	if me.place == "" {
		t.Skip("this system does not tell when a process began")
	}
	dir := filepath.Join(t.TempDir(), "d")
	took := 0
	for round := range 300 {
		h := holder{1 << 22, me.host, me.place, "1", fmt.Sprint("round", round)} // above the largest process id
		if err := os.WriteFile(dir+".lock", []byte(h.String()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var holds, held atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				unlock, err := LockFile(dir)
				if err != nil {
					if !errors.Is(err, ErrLockFile) {
						t.Error(err)
					}
					return
				}
				held.Add(1)
				if holds.Add(1) > 1 {
					t.Error("found two holders")
				}
				runtime.Gosched()
				holds.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if held.Load() > 0 {
			took++
		}
		if err := os.RemoveAll(dir + ".lock"); err != nil {
			t.Fatal(err)
		}
	}
	if took < 200 {
		t.Errorf("found %d of 300 locks taken over", took)
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
