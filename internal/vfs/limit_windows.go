package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tooMany is an error of an open. Windows has no limit of open files that a user could raise.
func tooMany(err error) error { return err }

// RemoveAll implements FS. os.RemoveAll removes names at once also where a file is open, which not every file system has.
func (osFS) RemoveAll(name string) error {
	err := os.RemoveAll(name)
	if errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		err = removeByName(name)
	}
	return inUse(err)
}
