//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// tooMany adds the limit to an error that says that the process has too many open files.
func tooMany(err error) error {
	var limit unix.Rlimit
	switch {
	case !errors.Is(err, unix.EMFILE):
		return err
	case unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil:
		return fmt.Errorf("%w; raise the limit of open files with ulimit -n", err)
	}
	return fmt.Errorf("%w: this process may open %d at a time; raise the limit with ulimit -n", err, limit.Cur)
}

// RemoveAll implements FS. It needs one descriptor where os.RemoveAll needs one per level of folders and finds none.
func (osFS) RemoveAll(name string) error {
	err := os.RemoveAll(name)
	if errors.Is(err, unix.EMFILE) {
		err = removeByName(name)
	}
	return tooMany(err)
}
