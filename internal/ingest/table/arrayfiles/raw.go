package arrayfiles

import (
	"sort"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// RawColumn is a column whose rows are stored in files like the rows of an array: little-endian, row-major, without
// gaps.
type RawColumn struct {
	table.Field
	// Runs hold the rows, one run after the other.
	Runs []Run
}

// Run is a run of rows of a column in a file.
type Run struct {
	Path   string
	Offset int64
	Rows   uint64
}

// OpenRaw makes a table of columns with equal numbers of rows. It does not check that the files are long enough; a
// scan reports a file that is not.
func OpenRaw(fsys vfs.FS, columns []RawColumn) (*Npy, error) {
	t := &Npy{fsys: fsys, chunk: table.ChunkSize}
	for i, c := range columns {
		a := array{Field: c.Field, dtype: c.DType, width: 1, index: ", " + c.Name + "[%d]", runs: c.Runs, path: c.Runs[0].Path, ends: make([]uint64, len(c.Runs))}
		for _, d := range c.Shape {
			a.width *= d
		}
		a.stride = int64(a.rowBytes())
		rows := uint64(0)
		for k, r := range c.Runs {
			rows += r.Rows
			a.ends[k] = rows
		}
		if i > 0 && rows != uint64(t.rows) {
			return nil, badf("%s: found %d rows of %q, expected %d, as of %q; download the data set again", a.path, rows, c.Name, t.rows, columns[0].Name)
		}
		t.rows = int(rows)
		t.cols = append(t.cols, a)
		t.bytes += int64(rows) * a.stride
	}
	return t, nil
}

// run returns the index of the run that contains a row.
func (a *array) run(row uint64) int {
	return sort.Search(len(a.ends), func(i int) bool { return a.ends[i] > row })
}

// gather reads rows that may be in several runs.
func (r *npyReader) gather(a *array, first uint64, rows int) ([]byte, error) {
	k := a.run(first)
	begin := first - (a.ends[k] - a.runs[k].Rows) // row number in the run
	offset := a.runs[k].Offset + int64(begin)*a.stride
	if first+uint64(rows) <= a.ends[k] {
		return r.at(a.runs[k].Path, offset, rows*int(a.stride))
	}
	r.whole = r.whole[:0]
	for rows > 0 {
		n := min(rows, int(a.runs[k].Rows-begin))
		raw, err := r.at(a.runs[k].Path, a.runs[k].Offset+int64(begin)*a.stride, n*int(a.stride))
		if err != nil {
			return nil, err
		}
		r.whole = append(r.whole, raw...)
		rows -= n
		k, begin = k+1, 0
	}
	return r.whole, nil
}
