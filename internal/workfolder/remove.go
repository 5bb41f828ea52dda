package workfolder

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// How long RemoveAll tries again, and the pause between two tries.
const (
	removeTime  = 5 * time.Second
	removePause = 20 * time.Millisecond
)

// RemoveAll removes a work folder, or a folder in it. Workers may outlive their job by a moment, on this machine or another,
// and may still write messages. So RemoveAll renames the folder first: from then on workers find no folder to create a file
// in. A file whose creation began before the rename makes the removal fail with ENOTEMPTY, and then RemoveAll tries again.
//
// A call that is killed leaves the renamed folder, dir + ".gone", and the next call removes it.
//
// In an object store nothing is renamed, and RemoveAll empties the folder twice. A message that a worker was making during the first time is removed by the second one, or by the worker itself (say). A task that
// another worker still runs a second time can leave an object, which the next run removes.
func RemoveAll(fsys vfs.FS, dir string) error {
	if vfs.SenderOf(fsys, dir) != nil {
		if err := fsys.RemoveAll(dir); err != nil {
			return err
		}
		return fsys.RemoveAll(dir)
	}
	gone := dir + ".gone"
	if err := fsys.RemoveAll(gone); err != nil {
		return err
	}
	if err := fsys.Rename(dir, gone); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for end := time.Now().Add(removeTime); ; time.Sleep(removePause) {
		err := fsys.RemoveAll(gone)
		if !errors.Is(err, syscall.ENOTEMPTY) || time.Now().After(end) {
			return err
		}
	}
}

// Clear removes what another run left in a work folder, except for the named entries. The folder stays: to a process that waits for the next job, a folder that is gone says that the run
// has ended.
func Clear(fsys vfs.FS, dir string, keep ...string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // an object store has no folder without a file
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(keep, e.Name()) {
			continue
		}
		if err := RemoveAll(fsys, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
