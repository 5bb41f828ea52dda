package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

func (osFS) Open(name string) (File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if _, err := Regular(OS, name); err != nil { // before it is opened, since the open of a device can have effects
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openRegular, 0)
	if err != nil {
		return nil, tooMany(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

func (osFS) OpenStream(name string) (File, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		err = regular(name, info)
	}
	if err != nil {
		return nil, err
	}
	return wrap(os.Open(name))
}

// Regular is Stat of a file that can be read at any offset. A folder, pipe or device is an error, and is not opened.
func Regular(fsys FS, name string) (fs.FileInfo, error) {
	info, err := fsys.Stat(name)
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// Exists says whether there is a file or folder of a name. Only an answer of the file system that there is none counts as
// absence; that nobody can tell is an error.
func Exists(fsys FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if Absent(err) {
		return false, nil
	}
	return err == nil, err
}

// Absent says whether an error means that there is no file or folder of the name: nothing has it, a part of the path is a file, or the
// name is longer than any can be.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(absences, func(e error) bool { return errors.Is(err, e) })
}

// regular is an error where a file has no bytes at offsets.
func regular(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s: found a folder, expected a file", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: found a pipe or device, expected a regular file; write its data to a file first", name)
	}
	return nil
}
