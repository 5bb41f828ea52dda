package vfs

import "os"

// tooMany is an error of an open. Windows has no limit of open files that a user could raise.
func tooMany(err error) error { return err }

// RemoveAll implements FS.
func (osFS) RemoveAll(name string) error { return inUse(os.RemoveAll(name)) }
