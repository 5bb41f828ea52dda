package vfs

import (
	"io/fs"
	"math"

	"golang.org/x/sys/windows"
)

// Free implements FS.
func (osFS) Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	var free uint64
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	if err != nil {
		return 0, &fs.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(min(free, math.MaxInt64)), nil
}
