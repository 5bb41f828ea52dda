package vfs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// openRegular is no flag: the open of a named pipe does not wait for its other end.
const openRegular = 0

// absences are errors of a name that no file has, beside fs.ErrNotExist: a part of the path is a file, the name has characters that none may
// have, or it is longer than any can be.
var absences = []error{syscall.ENOTDIR, windows.ERROR_DIRECTORY, windows.ERROR_INVALID_NAME, windows.ERROR_FILENAME_EXCED_RANGE}

// checkName is an error of a name that means another file than the one of the name: CON and NUL.npy are devices on most versions of Windows, and a dot at the
// end of a name is left out.
func checkName(name string) error {
	base := filepath.Base(name)
	if base == "." || base == ".." || base == `\` || filepath.IsLocal(base) && !strings.HasSuffix(base, ".") && !strings.HasSuffix(base, " ") {
		return nil
	}
	return fmt.Errorf("%s: found the name %s, which no file has on Windows, expected another one; rename the type, column or folder, or use Graphmill in WSL 2", name, base)
}

// DiskFull are the errors of a write for which a disk, or the part of it that a user may take, has no room. The first two are for tests, which
// make the errors of other systems.
var DiskFull = []error{syscall.ENOSPC, syscall.EDQUOT, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// opened are the errors of a rename or a removal of a file that is open or mapped, or of a folder in which one is. That the user may not do it
// has the first one, too.
var opened = []error{windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE}

// InUse says whether a removal failed because a program, perhaps this one, has a file open or mapped, so that a later one can remove it.
func InUse(err error) bool {
	return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) || slices.ContainsFunc(opened, func(e error) bool { return errors.Is(err, e) })
}

// inUse is the error of a call that renames or removes files, with what to do where a file is open.
func inUse(err error) error {
	if slices.ContainsFunc(opened, func(e error) bool { return errors.Is(err, e) }) {
		return fmt.Errorf("%w; Windows neither renames nor removes what a program has open: close the loaders and programs that read it, and run again", err)
	}
	return err
}
