package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

func (osFS) Reopen(name string, size int64) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, tooMany(err)
	}
	if err := cut(f, size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return wrapNew(f, nil)
}

// cut shortens a file and seeks to its end.
func cut(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		return &fs.PathError{Op: "reopen", Path: f.Name(), Err: fmt.Errorf("found %d bytes, expected at least %d", info.Size(), size)}
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err = f.Seek(size, io.SeekStart)
	return err
}

// Reopen implements FS.
func (t *Fault) Reopen(name string, size int64) (File, error) {
	return t.open("reopen", name, func(name string) (File, error) { return t.FS.Reopen(name, size) })
}

// Reopen implements FS. Sync of the file does nothing.
func (u Unsynced) Reopen(name string, size int64) (File, error) {
	f, err := u.FS.Reopen(name, size)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}
