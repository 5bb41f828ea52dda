package arrayfiles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// beside is a table joined with arrays that have the same rows.
type beside struct {
	table.Table
	arrays *Npy
}

// Beside joins arrays to a table, row by row. It has the columns of both, whose numbers of rows must be equal. A name
// that both have means the array.
func Beside(t table.Table, arrays *Npy) table.Table { return &beside{t, arrays} }

func (t *beside) Fields() []table.Field {
	fields := t.arrays.Fields()
	return append(slices.DeleteFunc(slices.Clone(t.Table.Fields()), func(f table.Field) bool {
		return slices.ContainsFunc(fields, func(g table.Field) bool { return g.Name == f.Name })
	}), fields...)
}

func (t *beside) Files() []string { return append(slices.Clone(t.Table.Files()), t.arrays.Files()...) }
func (t *beside) Bytes() int64    { return t.Table.Bytes() + t.arrays.Bytes() }

func (t *beside) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *beside) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	var inner []table.Column
	from := make([]*array, len(columns)) // per column; nil: a column of the table
	for i, c := range columns {
		n := slices.IndexFunc(t.arrays.cols, func(a array) bool { return a.Name == c.Name })
		if n < 0 {
			inner = append(inner, c)
			continue
		}
		from[i] = &t.arrays.cols[n]
		if err := from[i].check(c); err != nil {
			return 0, err
		}
	}
	threads = max(threads, 1)
	readers := make([]npyReader, threads)
	for i := range readers {
		readers[i] = newReader(t.arrays.fsys, len(columns))
	}
	rows, err := t.Table.Scan(ctx, inner, threads, func(worker int, c *table.Chunk) error {
		r := &readers[worker]
		r.chunk.First, r.chunk.Rows, r.chunk.Absent = c.First, c.Rows, c.Absent
		if end := c.First + uint64(c.Rows); end > t.arrays.Rows() {
			return t.differ(fmt.Sprintf("at least %d", end))
		}
		n := 0
		for i, a := range from {
			if a == nil {
				r.chunk.Columns[i] = c.Columns[n]
				n++
			} else if err := r.read(i, a, columns[i]); err != nil {
				return err
			}
		}
		return fn(worker, &r.chunk)
	})
	for i := range readers {
		err = errors.Join(err, readers[i].close())
	}
	if err == nil && rows != t.arrays.Rows() {
		err = t.differ(fmt.Sprint(rows))
	}
	if err != nil {
		return 0, err
	}
	return rows, nil
}

func (t *beside) differ(rows string) error {
	return badf("%s: found %d rows, expected %s, as in %s; write one row per row of the table", t.arrays.cols[0].rowFile(), t.arrays.rows, rows, t.Table.Files()[0])
}

func newReader(fsys vfs.FS, columns int) npyReader {
	return npyReader{fsys: fsys, files: map[string]vfs.File{}, data: make([]scalar.Words, columns), ends: make([][]uint32, columns), lens: make([][][]uint32, columns), chunk: table.Chunk{Columns: make([]table.Vector, columns)}}
}
