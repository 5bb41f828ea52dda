package columnfiles

import (
	"io"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenArrow opens the shards of a table, files or streams of Arrow IPC, in order, and reads the metadata of their record
// batches. All shards must have the same columns. The files are closed between scans.
func OpenArrow(fsys vfs.FS, paths []string) (*Columnar, error) {
	return openColumnar(fsys, paths, "record batch", func(f *columnarFile, r io.ReaderAt, size int64) error {
		a, err := arrow.Open(r, size)
		if err != nil {
			return err
		}
		f.columns = a.Columns
		for _, b := range a.Batches {
			f.groups = append(f.groups, uint64(b.Rows))
		}
		f.reader = func(r io.ReaderAt, group, column int) rowReader { return a.Reader(r, group, column) }
		f.digits = func(r io.ReaderAt, group, column int) rowReader { return a.Digits(r, group, column) }
		return nil
	})
}
