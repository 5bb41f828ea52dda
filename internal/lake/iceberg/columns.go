package iceberg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// columnRows is the number of rows of a file of Parquet that are read at a time, and maxBatch bounds the bytes of a column in them.
const (
	columnRows = 1 << 14
	maxBatch   = 256 << 20
)

// groupSpan is row groups of a file of Parquet: from the first to the one before end, or to the last one if that is smaller.
type groupSpan struct{ first, end int }

var allGroups = groupSpan{0, math.MaxInt}

// eachBatch calls fn for the rows of some columns of a file of Parquet. choose returns the numbers of the columns. first is the number of the
// first of n rows in the file.
func eachBatch(fsys vfs.FS, path string, span groupSpan, choose func(*parquet.File) ([]int, error), fn func(first uint64, n int, columns []parquet.Rows) error) (err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p, err := parquet.Open(f, info.Size())
	if err != nil {
		return badParquet(path, err)
	}
	numbers, err := choose(p)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	first := uint64(0)
	for g := range p.Groups {
		if g < span.first || g >= span.end {
			first += uint64(p.Groups[g].Rows)
			continue
		}
		if err := eachOfGroup(p, f, g, numbers, first, fn); err != nil {
			return badParquet(fmt.Sprintf("%s: row group %d", path, g), err)
		}
		first += uint64(p.Groups[g].Rows)
	}
	return nil
}

// groupsOf is the number of row groups of a file of Parquet.
func groupsOf(fsys vfs.FS, path string) (n int, err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return 0, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p, err := parquet.Open(f, info.Size())
	if err != nil {
		return 0, badParquet(path, err)
	}
	return len(p.Groups), nil
}

func eachOfGroup(p *parquet.File, f io.ReaderAt, group int, numbers []int, first uint64, fn func(first uint64, n int, columns []parquet.Rows) error) error {
	readers, columns := make([]*parquet.Reader, len(numbers)), make([]parquet.Rows, len(numbers))
	for i, n := range numbers {
		readers[i] = p.Reader(f, group, n)
		defer readers[i].Close()
	}
	for left := p.Groups[group].Rows; left > 0; {
		n := int(min(left, columnRows))
		for i, x := range readers {
			name := p.Columns[numbers[i]].Name
			for columns[i].Reset(); columns[i].N < n; {
				err := x.Read(&columns[i], n, maxBatch)
				switch {
				case errors.Is(err, io.EOF):
					return lake.Badf("column %q: found fewer values than rows, expected as many; the file is damaged", name)
				case err != nil:
					return err
				case len(columns[i].Data) >= maxBatch:
					return lake.Badf("column %q: found %d bytes or more in %d rows, expected fewer; such rows cannot be compared", name, maxBatch, n)
				}
			}
		}
		if err := fn(first, n, columns); err != nil {
			return err
		}
		first += uint64(n)
		left -= int64(n)
	}
	return nil
}

func badParquet(place string, err error) error {
	if errors.Is(err, parquet.ErrCorrupt) || errors.Is(err, parquet.ErrUnsupported) {
		return lake.Badf("%s: %w", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

// isNull says whether a row is null.
func isNull(r *parquet.Rows, row int) bool { return r.Null != nil && r.Null[row] }

// bytesAt is the byte string of a row.
func bytesAt(r *parquet.Rows, row int) []byte {
	start := uint32(0)
	if row > 0 {
		start = r.Ends[row-1]
	}
	return r.Data[start:r.Ends[row]]
}

// int64At is the value of a row of eight bytes.
func int64At(r *parquet.Rows, row int) int64 {
	return int64(binary.LittleEndian.Uint64(r.Data[8*row:]))
}
