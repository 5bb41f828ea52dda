package vfs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Lock implements FS by a file beside the folder, DIR.lock, which no two processes can have open. Windows removes it when it is closed, and when the
// process ends in any way. A handle of the folder itself would keep it from being renamed.
func (osFS) Lock(dir string) (unlock func() error, err error) {
	failed := func(err error) error { return &fs.PathError{Op: "lock", Path: dir, Err: err} }
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(dir + LockSuffix)
	if err != nil {
		return nil, failed(err)
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, nil, windows.OPEN_ALWAYS, windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return nil, failed(ErrLockFile)
	}
	if err != nil {
		return nil, failed(err)
	}
	unlock = func() error { return windows.CloseHandle(h) }
	// The run that held the lock may have renamed or removed the folder meanwhile.
	if there, err := Exists(OS, dir); err != nil || !there {
		if err == nil {
			err = ErrLockFile
		}
		return nil, errors.Join(failed(err), unlock())
	}
	return unlock, nil
}

// gone says that this machine has no process with a number. It is not asked here: the system frees locks.
func gone(int) bool { return false }

// SyncDir implements FS. Windows does not sync folders: NTFS orders names itself.
func (osFS) SyncDir(name string) error {
	_, err := os.Stat(name)
	return err
}
