package workfolder

import (
	"fmt"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Hold keeps other submitters out of a work folder in an object store until release is called. Elsewhere it does nothing: the lock of the partial output
// does it, which every machine sees there.
func Hold(fsys vfs.FS, dir string) (release func() error, err error) {
	if vfs.SenderOf(fsys, dir) == nil {
		return func() error { return nil }, nil
	}
	if release, err = fsys.Lock(dir); err != nil {
		return nil, fmt.Errorf("another run works for this output: %w", err)
	}
	return release, nil
}
