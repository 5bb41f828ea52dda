package textfiles

import (
	"errors"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Head returns the first bytes of a file, at most limit. A file that is compressed, as its extension says, is
// decompressed.
func Head(fsys vfs.FS, path string, limit int) (_ []byte, err error) {
	_, comp := extension(path)
	if _, err := vfs.Regular(fsys, path); err != nil {
		return nil, badf("%w", err)
	}
	r, err := openInflated(fsys, path, comp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := make([]byte, limit)
	n, err := fill(r, b)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cannotInflate(path, err)
	}
	return b[:n], nil
}
