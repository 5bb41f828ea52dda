// Package replaceable says which files an output of one file may replace, as package store does for folders.
package replaceable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// headBytes are those of a file that tell its kind.
const headBytes = 128

// File refuses an output that is no new file: one that exists, without force, and with it one that is not a regular file, or whose first bytes are not ours. An
// empty file is replaced.
func File(fsys vfs.FS, out string, force bool, ours func(head []byte) bool) error {
	if out == "-" {
		return fmt.Errorf("%s: found the standard output, expected the name of a file; give one as `Out`, such as ./- for a file of this name", out)
	}
	info, err := fsys.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: %w and is a folder, expected the name of a file; choose another `Out`", out, store.ErrExists)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w and is a link, so it is not replaced; remove the link, or choose another `Out`", out, store.ErrExists)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w and is no regular file, so it is not replaced; choose another `Out`", out, store.ErrExists)
	case !force:
		return fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", out, store.ErrExists)
	case info.Size() == 0:
		return nil
	}
	known, err := isOurs(fsys, out, ours)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("%s: %w and does not begin as such a file does, so it is no output of graphmill and is not replaced; choose another `Out`", out, store.ErrExists)
	}
	return nil
}

// isOurs reads the first bytes of a file.
func isOurs(fsys vfs.FS, name string, ours func(head []byte) bool) (_ bool, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return ours(head[:n]), nil
}
