//go:build unix

package vfs

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"github.com/graphmill/graphmill/internal/tagged"
)

// linkless are the errors of a link that the system refuses for reasons of the file system: it has none (EPERM on FAT, ENOTSUP
// elsewhere), the names are on two of them, the file has the most names that it can have, or it belongs to another user (EPERM, with
// fs.protected_hardlinks of Linux).
var linkless = []error{syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS, syscall.EXDEV, syscall.EMLINK}

// Link implements FS.
func (osFS) Link(oldname, newname string) error {
	err := os.Link(oldname, newname)
	if err != nil && slices.ContainsFunc(linkless, func(e error) bool { return errors.Is(err, e) }) {
		return tagged.Errorf(errors.ErrUnsupported, "%w", err)
	}
	return err
}
