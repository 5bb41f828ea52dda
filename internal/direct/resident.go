package direct

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/graphmill/graphmill/internal/vfs"
)

// residentStep is the part of a file that one call asks for: the answer takes a quarter of a megabyte.
const residentStep = 1 << 30

// Resident is the share of the pages of a file that are in the page cache, and 1 for an empty file. The error is
// fs.ErrPermission or errors.ErrUnsupported where the system does not tell.
func Resident(fsys vfs.FS, path string) (share float64, err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return 0, err
	}
	if hidden(path, info) {
		return 0, fmt.Errorf("%s: the system tells the state of the page cache only to users who may write the file: %w", path, fs.ErrPermission)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, unmap, err := f.Map()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unmap()) }()
	if len(m) == 0 {
		return 1, nil
	}
	page := os.Getpagesize()
	total, resident := (len(m)+page-1)/page, 0
	pages := make([]byte, min(total, residentStep/page))
	for len(m) > 0 {
		part := m[:min(len(m), residentStep)]
		m = m[len(part):]
		found := pages[:(len(part)+page-1)/page]
		if err := mincore(part, found); err != nil {
			return 0, &fs.PathError{Op: "mincore", Path: path, Err: err}
		}
		for _, p := range found {
			resident += int(p & 1)
		}
	}
	return float64(resident) / float64(total), nil
}
