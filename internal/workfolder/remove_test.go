package workfolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// lateFS is a file system on which creations that began before a rename end after it, so that the first removals of a
// renamed folder find a file more.
type lateFS struct {
	vfs.FS
	late    int
	renamed bool
}

func (l *lateFS) Rename(o, n string) error {
	l.renamed = true
	return l.FS.Rename(o, n)
}

func (l *lateFS) RemoveAll(name string) error {
	if l.renamed && l.late > 0 {
		l.late--
		return &fs.PathError{Op: "unlinkat", Path: name, Err: syscall.ENOTEMPTY}
	}
	return l.FS.RemoveAll(name)
}

func TestRemoveAllOfLateWorkers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	if err := Reset(vfs.OS, dir); err != nil {
		t.Fatal(err)
	}
	late := &lateFS{FS: vfs.OS, late: 3}
	if err := RemoveAll(late, dir); err != nil {
		t.Fatal(err)
	}
	removed(t, dir)
	if late.late != 0 {
		t.Errorf("found %d of 3 files that were not met", late.late)
	}
}

// removed checks that nothing is left of a folder.
func removed(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Fatalf("found %v, expected nothing", left)
	}
}

// TestRemoveAllAfterKill removes what a call left that was killed after its rename.
func TestRemoveAllAfterKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	for _, name := range []string{dir, dir + ".gone"} {
		if err := Reset(vfs.OS, name); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := RemoveAll(vfs.OS, dir); err != nil {
			t.Fatal(err)
		}
		removed(t, dir)
	}
}

// TestRemoveAllOfBusyWorkers removes the folder while workers tell of their progress as fast as they can.
func TestRemoveAllOfBusyWorkers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	for range 20 {
		if err := Reset(vfs.OS, dir); err != nil {
			t.Fatal(err)
		}
		var stop atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			for !stop.Load() {
				p := StartPulse(vfs.OS, dir, func() int { return 1 })
				p.Stop()
			}
		}()
		err := RemoveAll(vfs.OS, dir)
		stop.Store(true)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		removed(t, dir)
	}
}

func TestRemoveAllFails(t *testing.T) {
	for call := range int64(3) {
		dir := filepath.Join(t.TempDir(), "work")
		if err := Reset(vfs.OS, dir); err != nil {
			t.Fatal(err)
		}
		fault := &vfs.Fault{FS: vfs.OS, FailAt: call + 1, Err: syscall.EIO}
		if err := RemoveAll(fault, dir); !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d: found %v, expected the error of the disk", call+1, err)
		}
	}
}
