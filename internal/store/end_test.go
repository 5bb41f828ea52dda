//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// broken is a file system in which the calls fail that have an error.
type broken struct {
	vfs.FS
	lock, sync, removeAll, rename error
	parent                        string // the folder whose sync fails
	late                          bool   // rename and exchange are done, and fail nevertheless
}

func (b *broken) Lock(dir string) (func() error, error) {
	if b.lock != nil {
		return nil, b.lock
	}
	return b.FS.Lock(dir)
}

func (b *broken) SyncDir(dir string) error {
	if dir == b.parent && b.sync != nil {
		return b.sync
	}
	return b.FS.SyncDir(dir)
}

func (b *broken) RemoveAll(name string) error {
	if b.removeAll != nil {
		return b.removeAll
	}
	return b.FS.RemoveAll(name)
}

func (b *broken) Rename(from, to string) error {
	if b.rename == nil || !strings.HasSuffix(to, "/s") {
		return b.FS.Rename(from, to)
	}
	if b.late {
		return errors.Join(b.rename, b.FS.Rename(from, to))
	}
	return b.rename
}

func (b *broken) Exchange(x, y string) error {
	if b.rename == nil {
		return b.FS.Exchange(x, y)
	}
	if b.late {
		return errors.Join(b.rename, b.FS.Exchange(x, y))
	}
	return b.rename
}

// TestEnd ends outputs in each state that the contract of Writer.End has.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		disk    broken
		replace bool   // an older output is there
		whole   bool   // the output has its name
		says    string // part of the error
		left    bool   // the partial folder stays
	}{
		{name: "whole", whole: true},
		{name: "replaced", replace: true, whole: true},
		{name: "not renamed", disk: broken{rename: syscall.EIO}, says: "input/output error"},
		{name: "not exchanged", disk: broken{rename: syscall.EIO}, replace: true, says: "input/output error"},
		{name: "renamed with an error", disk: broken{rename: syscall.EIO, late: true}, whole: true, says: "the output is complete, but input/output error"},
		{name: "not durable", disk: broken{sync: syscall.EIO}, whole: true, says: "the output is complete, but a power failure may undo its name: input/output error"},
		{name: "not durable, and the old one stays", disk: broken{sync: syscall.EIO}, replace: true, whole: true, says: "the output that it replaced is left in ", left: true},
		{name: "the old one stays", disk: broken{removeAll: syscall.EIO}, replace: true, whole: true, says: "the output that it replaced is left in ", left: true},
		{name: "not removed", disk: broken{rename: syscall.EIO, removeAll: syscall.ENOSPC}, says: "the unfinished output is left in ", left: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "s")
			if c.replace {
				if err := write(vfs.OS, out, false); err != nil {
					t.Fatal(err)
				}
			}
			c.disk.FS, c.disk.parent = vfs.OS, dir
			w, err := store.Create(&c.disk, out, c.replace)
			if err != nil {
				t.Fatal(err)
			}
			err = w.End(errors.Join(w.WriteFile("a", []byte("new")), w.Seal(ctx, nil, 1), w.Publish()))
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("found %v, expected %q", err, c.says)
			}
			if errors.Is(err, store.ErrWhole) != (c.whole && c.says != "") {
				t.Errorf("%v: found the kind ErrWhole %v", err, errors.Is(err, store.ErrWhole))
			}
			if _, there := os.Stat(filepath.Join(out, "a")); (there == nil) != c.whole || w.Published() != c.whole {
				t.Errorf("found the output %v, expected %v", there == nil, c.whole)
			}
			if _, there := os.Stat(filepath.Join(dir, ".s.partial")); (there == nil) != c.left {
				t.Errorf("found the partial folder %v, expected %v", there == nil, c.left)
			}
			if err := w.End(nil); err != nil {
				t.Errorf("the second end gives %v", err)
			}
			if err := w.End(syscall.EPERM); errors.Is(err, store.ErrWhole) != c.whole || !errors.Is(err, syscall.EPERM) {
				t.Errorf("a later step gives %v", err)
			}
			if err := write(vfs.OS, out, true); err != nil {
				t.Errorf("the next run: %v", err)
			}
		})
	}
}

// A run that could go on before Publish can go on after a Publish that failed.
func TestPublishRemembers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	disk := &broken{FS: vfs.OS, rename: syscall.EIO}
	w, err := store.Resume(ctx, disk, out, false, "key", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteFile("a", []byte("text")), w.Keep(ctx, "part", []string{"a"}, 1), w.Seal(ctx, nil, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.End(w.Publish()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("found %v", err)
	}
	if can, err := w.Resumable(); !can || err != nil {
		t.Fatalf("found %v (%v), expected a folder to resume from", can, err)
	}
	if w, err = store.Resume(ctx, vfs.OS, out, false, "key", 1); err != nil || !w.Kept("part") {
		t.Fatalf("the part is lost: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}

// A Create that fails leaves nothing.
func TestCreateLeavesNothing(t *testing.T) {
	for at := int64(1); ; at++ {
		dir := t.TempDir()
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EMFILE}
		w, err := store.Create(fault, filepath.Join(dir, "s"), false)
		if fault.Calls() < at {
			fault.FailAt = 0
			if err := w.Abort(); err != nil {
				t.Error(err)
			}
			return
		}
		if err == nil { // a call that may fail
			err = w.Abort()
		}
		if left, listErr := os.ReadDir(dir); listErr != nil || len(left) > 0 {
			t.Errorf("call %d leaves %v (%v): %v", at, left, listErr, err)
		}
	}
}

// TestLockFile writes an output on a file system without locks, and meets the lock of a run that was killed.
func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "s")
	disk := unlocked{vfs.OS}
	if err := write(disk, out, false); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("found %v (%v)", left, err)
	}
	lock := filepath.Join(dir, ".t.partial.lock")
	if err := os.WriteFile(lock, []byte("7 elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := write(disk, filepath.Join(dir, "t"), false)
	if !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), lock+" of process 7 on elsewhere") {
		t.Errorf("found %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".t.partial")); !os.IsNotExist(err) {
		t.Errorf("a folder stays: %v", err)
	}
}

type unlocked struct{ vfs.FS }

func (unlocked) Lock(dir string) (func() error, error) { return vfs.LockFile(dir) }

// TestReplaceReport fails each call of the replacement of a report: the folder is whole at any time.
func TestReplaceReport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(ctx, nil, 1), w.Report([]byte("<p>0"), []byte("{0}")), w.Publish()); err != nil {
		t.Fatal(err)
	}
	for at := int64(1); ; at++ {
		text := []byte(strings.Repeat("x", int(at)))
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO, Dead: at%2 == 0}
		err := store.WriteReport(fault, out, append([]byte("<p>"), text...), text)
		v, verifyErr := store.Verify(ctx, vfs.OS, out, 1, nil)
		if verifyErr != nil || len(v.Damage) > 0 {
			t.Fatalf("call %d: %v, and %+v, %v", at, err, v, verifyErr)
		}
		if fault.Calls() < at {
			return
		}
		if err == nil {
			t.Errorf("call %d fails without an error", at)
		}
	}
}
