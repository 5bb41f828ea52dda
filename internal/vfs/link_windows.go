package vfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// linkless are the errors of a link that the system refuses for reasons of the file system: it has none (FAT), the names are on two of them, or the
// file has the most names that it can have. The errors of package syscall are for tests, which make the errors of other systems.
var linkless = []error{
	syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS, syscall.EXDEV, syscall.EMLINK,
	windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_NOT_SAME_DEVICE, windows.ERROR_TOO_MANY_LINKS,
}
