package vfs

import (
	"errors"
	"io/fs"
)

// Link implements FS: no file gets a second name here. Windows does not remove a name of a file that any program has mapped by another name, so
// that a loader of one version of a store would keep files of another.
func (osFS) Link(_, newname string) error {
	return &fs.PathError{Op: "link", Path: newname, Err: errors.ErrUnsupported}
}
