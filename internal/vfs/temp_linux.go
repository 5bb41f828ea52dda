package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Temp implements FS. The file never has a name, so no fault and no kill can leave one. File systems that cannot make such a file get one
// whose name is removed at once.
func (osFS) Temp(dir string) (File, error) {
	for {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
		switch {
		case err == nil:
			return osFile{os.NewFile(uintptr(fd), filepath.Join(dir, "(temporary file)"))}, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL): // as open(2) and old file systems have it
			return namedTemp(dir)
		default:
			return nil, tooMany(&fs.PathError{Op: "open a temporary file in", Path: dir, Err: err})
		}
	}
}
