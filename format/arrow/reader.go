package arrow

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/format/parquet"
)

// Bounds of the bytes of a row, of the elements of all its lists, of a buffer of string views, and of a dictionary.
const (
	maxRow        = 64 << 20
	maxRowLevels  = 16 << 20
	maxView       = 256 << 20
	maxRatio      = 4096
	maxDictionary = 1 << 30
	piece         = 1 << 12 // rows that are read at a time
)

// Reader reads the rows of a column of a record batch.
type Reader struct {
	f             *File
	r             io.ReaderAt
	batch, column int
	c             *cursor
	rows          int64 // that were read
	digits        bool  // decimals are read as texts
}

// Close frees the decompressors.
func (r *Reader) Close() {
	if r.c != nil {
		r.c.close()
	}
}

// Read appends rows until rows.N is n, or rows.Data has limit bytes or more. It returns io.EOF if no row was left to
// append.
func (r *Reader) Read(rows *parquet.Rows, n, limit int) error {
	if rows.N >= n || len(rows.Data) >= limit {
		return nil
	}
	err := r.read(rows, n, limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("column %q: row %d of the record batch: %w", r.f.Columns[r.column].Name, r.rows, err)
	}
	return err
}

func (r *Reader) read(rows *parquet.Rows, n, limit int) error {
	column := &r.f.Columns[r.column]
	if column.Reason != "" {
		return unsupportedf("found %s, expected numbers, bools, strings, or lists of them", column.Reason)
	}
	if r.c == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	for len(rows.Lengths) < column.Lists {
		rows.Lengths = append(rows.Lengths, nil)
	}
	before := rows.N
	for rows.N < n && len(rows.Data) < limit && r.c.left > 0 {
		k, err := r.c.room(int(min(int64(n-rows.N), r.c.left, piece)), limit-len(rows.Data))
		if err == nil {
			err = r.c.take(k, rows, 0, false)
		}
		if err != nil {
			return err
		}
		r.rows += int64(k)
	}
	for rows.Null != nil && len(rows.Null) < rows.N {
		rows.Null = append(rows.Null, false)
	}
	if rows.N == before {
		return io.EOF
	}
	return nil
}

// begin opens the buffers of the column.
func (r *Reader) begin() error {
	b := r.f.Batches[r.batch]
	m, ok, err := r.f.message(r.r, b.at)
	if err == nil && !ok {
		err = corruptf("byte %d: found no message, expected one; the file was changed while it was read", b.at)
	}
	if err != nil {
		return err
	}
	l, err := m.layout(m.head)
	if err != nil {
		return err
	}
	var p, own places
	for i, n := range r.f.fields {
		if i == r.column {
			own = p
		}
		p = p.after(n, &l)
	}
	if 16*p.node != len(l.nodes) || 16*p.buffer != len(l.buffers) {
		return corruptf("found %d fields with %d buffers, expected %d with %d; the file is damaged", len(l.nodes)/16, len(l.buffers)/16, p.node, p.buffer)
	}
	field := r.f.fields[r.column]
	if r.digits {
		texts := *field
		texts.convert, texts.width = convertDigits, 0
		field = &texts
	}
	r.c, err = r.f.cursor(r.r, field, &own, &l, b.chunks)
	if err == nil && r.c.left != b.Rows {
		err = corruptf("found %d rows, expected %d as of the batch; the file is damaged", r.c.left, b.Rows)
	}
	return err
}
