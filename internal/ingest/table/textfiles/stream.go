package textfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Stream is a table of a file that one goroutine reads from its beginning. The cells are text, as in CSV files.
type Stream struct {
	fsys   vfs.FS
	path   string
	comp   compression
	size   int64
	fields []table.Field
	read   StreamReader
	rows   int // of a chunk; tests make it small
}

// StreamReader reads a file and calls row for each row of a table, with the line on which it is and a cell for each field.
// The cells may be overwritten afterwards. A cell that is nil is empty. It returns the first error of row.
type StreamReader func(in io.Reader, row func(line int, cells [][]byte) error) error

// streamRows is the most rows of a chunk, and streamBytes about the most bytes of one.
const (
	streamRows  = 16 << 10
	streamBytes = 1 << 20
)

// OpenStream opens a file, plain or compressed.
func OpenStream(fsys vfs.FS, path string, fields []table.Field, read StreamReader) (*Stream, error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return nil, badf("%w", err)
	}
	_, comp := extension(path)
	return &Stream{fsys: fsys, path: path, comp: comp, size: info.Size(), fields: fields, read: read, rows: streamRows}, nil
}

// ReadStream opens a file for a read from its beginning, which fn does. A byte order mark of UTF-8 is left out.
func ReadStream(fsys vfs.FS, path string, fn func(in io.Reader) error) (err error) {
	_, comp := extension(path)
	if _, err := vfs.Regular(fsys, path); err != nil {
		return badf("%w", err)
	}
	in, err := openInflated(fsys, path, comp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return fn(unmarked(inflating{in, path}))
}

// unmarked reads from after the byte order mark.
func unmarked(in io.Reader) io.Reader {
	return &marked{in: in}
}

// marked is a text that may begin with a byte order mark.
type marked struct {
	in    io.Reader
	begun bool
	first []byte // bytes that were read to look for the mark, and err is what came after them
	err   error
}

func (m *marked) Read(p []byte) (int, error) {
	if !m.begun {
		m.begun = true
		b := make([]byte, len(table.ByteOrderMark))
		n, err := fill(m.in, b)
		m.first, m.err = bytes.TrimPrefix(b[:n], []byte(table.ByteOrderMark)), err
	}
	if len(m.first) > 0 {
		n := copy(p, m.first)
		m.first = m.first[n:]
		return n, nil
	}
	if m.err != nil {
		return 0, m.err
	}
	return m.in.Read(p)
}

// inflating names the file in errors of the decompression.
type inflating struct {
	io.Reader
	path string
}

func (r inflating) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = cannotInflate(r.path, err)
	}
	return n, err
}

// Fields implements Table.
func (t *Stream) Fields() []table.Field { return t.fields }

// Files implements Table.
func (t *Stream) Files() []string { return []string{t.path} }

// Bytes implements Table.
func (t *Stream) Bytes() int64 { return t.size }

// Where implements Table.
func (t *Stream) Where(row uint64, _ string) string {
	where, at := fmt.Sprintf("%s: row %d", t.path, row+1), uint64(0)
	_ = ReadStream(t.fsys, t.path, func(in io.Reader) error {
		return t.read(in, func(line int, _ [][]byte) error {
			if at == row {
				where = fmt.Sprintf("%s:%d", t.path, line)
				return errFound
			}
			at++
			return nil
		})
	})
	return where
}

// Scan implements Table. One goroutine reads and calls fn. Its memory is a chunk of about 1 MiB, one row, and
// of what the reader holds.
func (t *Stream) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *Stream) plain(ctx context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	cols, from := make([]builder.Column, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		if from[i] = slices.IndexFunc(t.fields, func(f table.Field) bool { return f.Name == c.Name }); from[i] < 0 {
			return 0, badf("%s: found no column %q, expected it; correct the name", t.path, c.Name)
		}
		var err error
		if cols[i], err = builder.New(c); err != nil {
			return 0, badf("%s: column %s: %w", t.path, c.Name, err)
		}
	}
	chunk := table.Chunk{Columns: make([]table.Vector, len(cols))}
	var absent []bool
	marked, rows := false, uint64(0)
	flush := func() error {
		if chunk.Rows == 0 {
			return ctx.Err()
		}
		for i := range cols {
			c := &cols[i]
			if c.Wide && c.DType.Size() < 8 {
				scalar.Narrow(c.Data.W[:chunk.Rows], c.DType) // put has checked the range
			}
			chunk.Columns[i] = c.Vector(chunk.Rows)
		}
		if chunk.Absent = nil; marked {
			chunk.Absent = absent
		}
		chunk.First = rows // fn may change it
		if err := fn(0, &chunk); err != nil {
			return err
		}
		for i := range cols {
			cols[i].Reset()
		}
		rows += uint64(chunk.Rows)
		chunk.Rows, absent, marked = 0, absent[:0], false
		return ctx.Err()
	}
	size := 0
	err := ReadStream(t.fsys, t.path, func(in io.Reader) error {
		return t.read(in, func(line int, cells [][]byte) error {
			none := false
			for i := range cols {
				cell := cells[from[i]]
				empty, problem := cols[i].Put(cell)
				if problem != "" {
					if !strings.Contains(problem, ";") {
						problem += "; correct it"
					}
					return badf("%s:%d: found %s in column %q, expected %s; correct the value, or read the column as another dtype", t.path, line, scalar.Quote(cell), cols[i].Name, problem)
				}
				none = none || empty
				size += len(cell)
			}
			absent, marked = append(absent, none), marked || none
			if chunk.Rows++; chunk.Rows >= t.rows || size >= streamBytes {
				size = 0
				return flush()
			}
			return nil
		})
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return 0, err
	}
	return rows, nil
}
