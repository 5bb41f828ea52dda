//go:build unix

package vfs

import "syscall"

// openRegular does nothing for regular files. It keeps the open from waiting if the file was replaced by a pipe.
const openRegular = syscall.O_NONBLOCK

// absences are errors of a name that no file has, beside fs.ErrNotExist.
var absences = []error{syscall.ENOTDIR, syscall.ENAMETOOLONG}

// checkName is an error of a name that means another file than the one of the name. There are none here.
func checkName(string) error { return nil }

// DiskFull are the errors of a write for which a disk, or the part of it that a user may take, has no room.
var DiskFull = []error{syscall.ENOSPC, syscall.EDQUOT}

// InUse says whether a removal failed because a program has a file open, so that a later one can remove it. It never does here.
func InUse(error) bool { return false }

// inUse is the error of a call that renames or removes files. A file that is open can be renamed and removed here.
func inUse(err error) error { return err }
