package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrChanged is the kind of the error of OpenSame for another store.
var ErrChanged = errors.New("the store changed")

// OpenSame opens, on the machine of a worker, the store of a graph that its submitter opened: sum is the checksum (Sum). The caller closes it.
func OpenSame(fsys vfs.FS, dir, sum string) (*Store, error) {
	s, err := Open(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotStore) {
		return nil, fmt.Errorf("a worker cannot read the store: %w; put it on storage that all workers reach at this path", err)
	}
	if err != nil {
		return nil, err
	}
	found, err := Sum(fsys, dir)
	if err == nil && (found != sum || s.Graph == nil) {
		err = fmt.Errorf("%s: found the checksum %s, expected %s, which the submitter found: %w; use the same store on all machines", dir, found, sum, ErrChanged)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
