package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Part is a run of consecutive rows of a table that can be read without the others. It has meaning for any Table that
// was opened from the same files in the same way, also in another process.
type Part struct {
	// File is the number of the file of a CSV or TFRecord table; -1 is the whole table.
	File int `json:"file"`
	// From and To bound the part: bytes of a plain text file in which its records start, row groups of a Parquet table,
	// or rows of arrays. Both are 0 for a whole file.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// Quoted says that From is inside quotes.
	Quoted bool   `json:"quoted,omitempty"`
	First  uint64 `json:"first"` // number of the first row in the table
	Rows   uint64 `json:"rows"`
	// Counted says that Quoted, First and Rows are known. Measure finds them for the other parts.
	Counted bool `json:"counted,omitempty"`
}

// Measured is what is found out about a part that is not Counted.
type Measured struct {
	// Rows is the number of rows if the part starts outside quotes, and if it starts inside.
	Rows [2]uint64 `json:"rows"`
	Odd  bool      `json:"odd,omitempty"` // the part has an odd number of quotes
}

// Divide cuts a table into parts of about size bytes, in the order of the rows: plain text at any place, Parquet between
// row groups, arrays between rows, and compressed text and TFRecords between files. Other tables are one part.
func Divide(t Table, size int64) []Part {
	size = max(size, 1)
	var parts []Part
	switch t := t.(type) {
	case *CSV:
		for i := range t.files {
			f := &t.files[i]
			if f.comp != plain {
				parts = append(parts, Part{File: i})
				continue
			}
			n := max((f.size-f.body+size-1)/size, 1)
			for k := range n {
				p := Part{File: i, From: f.body + (f.size-f.body)/n*k, To: f.body + (f.size-f.body)/n*(k+1)}
				if k == n-1 {
					p.To = f.size
				}
				if p.From < p.To {
					parts = append(parts, p)
				}
			}
		}
	case *TFRecord:
		for i := range t.paths {
			parts = append(parts, Part{File: i})
		}
	case *Columnar:
		rows := uint64(max(size/max(t.bytes/int64(max(t.rows, 1)), 1), 1))
		for i, g := range t.groups {
			if last := len(parts) - 1; last >= 0 && parts[last].Rows+g.rows <= rows {
				parts[last].To, parts[last].Rows = int64(i+1), parts[last].Rows+g.rows
				continue
			}
			parts = append(parts, Part{From: int64(i), To: int64(i + 1), First: g.first, Rows: g.rows, Counted: true})
		}
	case *Npy:
		rows := max(size/max(t.bytes/int64(max(t.rows, 1)), 1), 1)
		for at := int64(0); at < int64(t.rows); at += rows {
			to := min(at+rows, int64(t.rows))
			parts = append(parts, Part{From: at, To: to, First: uint64(at), Rows: uint64(to - at), Counted: true})
		}
	default:
		parts = append(parts, Part{File: -1})
	}
	return parts
}

// Settle completes parts in their order by what was measured of those that are not Counted, and returns the number of
// rows.
func Settle(parts []Part, measured []Measured) (rows uint64) {
	odd := false
	for i := range parts {
		p := &parts[i]
		if i == 0 || p.File != parts[i-1].File {
			odd = false
		}
		if !p.Counted {
			p.Quoted, p.First, p.Counted = odd, rows, true
			p.Rows = measured[i].Rows[0]
			if odd {
				p.Rows = measured[i].Rows[1]
			}
			odd = odd != measured[i].Odd
		}
		rows += p.Rows
	}
	return rows
}

// Measure counts the rows of a part.
func Measure(ctx context.Context, t Table, p Part) (m Measured, err error) {
	if p.Counted {
		m.Rows[0] = p.Rows
		return m, nil
	}
	if c, ok := t.(*CSV); ok && p.To > 0 {
		f := c.files[p.File]
		r, err := c.fsys.Open(f.path)
		if err != nil {
			return m, err
		}
		m, err = c.measure(ctx, r, f, p)
		return m, errors.Join(err, r.Close())
	}
	m.Rows[0], err = bare(t, p).Scan(ctx, nil, 1, func(int, *Chunk) error { return nil })
	return m, err
}

// measure counts the records that start in a part of a plain file: those after a line end outside quotes, without empty
// lines.
func (t *CSV) measure(ctx context.Context, r vfs.File, f csvFile, p Part) (m Measured, err error) {
	const most = 1 << 20
	buf := make([]byte, min(most, p.To-p.From)+marginSize)
	odd := 0
	for at := p.From; at < p.To; {
		if err := ctx.Err(); err != nil {
			return m, context.Cause(ctx)
		}
		own := int(min(most, p.To-at))
		b := buf[:min(int64(own+marginSize), f.size-at)]
		if n, err := r.ReadAt(b, at); n < len(b) {
			if err == nil || errors.Is(err, io.EOF) {
				err = badf("%s: found %d bytes, expected %d; the file was cut while it was read", f.path, at+int64(n), f.size)
			}
			return m, err
		}
		starts := func(i int) bool { return i < len(b) && !t.blank(b[i:]) }
		if at == p.From {
			first, err := startsRecord(r, f, at)
			if err != nil {
				return m, err
			}
			if first && starts(0) {
				m.Rows[0]++
			}
		}
		// A record starts after a line end. That of the last byte of the part starts in the next one.
		last := own
		if at+int64(own) == p.To {
			last--
		}
		odd = countStarts(&m, b[:own], last, odd, starts)
		at += int64(own)
	}
	m.Odd = odd == 1
	return m, nil
}

// startsRecord says whether the byte at a place of a plain file is the first one of a line.
func startsRecord(r vfs.File, f csvFile, at int64) (bool, error) {
	if at == f.body {
		return true, nil
	}
	var before [1]byte
	if _, err := r.ReadAt(before[:], at-1); err != nil {
		return false, err
	}
	return before[0] == '\n', nil
}

// countStarts counts the records that start after a line end in b[:last]. odd is 1 if the quotes before b are odd; it returns that
// with the quotes of b.
func countStarts(m *Measured, b []byte, last, odd int, starts func(i int) bool) int {
	quotes := bytes.IndexByte(b, '"') >= 0
	for i := 0; i < len(b); i++ {
		if !quotes {
			n := bytes.IndexByte(b[i:last], '\n')
			if n < 0 {
				break
			}
			i += n
		}
		switch b[i] {
		case '"':
			odd ^= 1
		case '\n':
			if i < last && starts(i+1) {
				m.Rows[odd]++
			}
		}
	}
	return odd
}

// blank says whether a line that starts at b is empty. The end of the file ends a line.
func (t *CSV) blank(b []byte) bool {
	if t.syntax.runs {
		b = bytes.TrimLeft(b, " \t")
	}
	return len(b) == 0 || b[0] == '\n' || b[0] == '\r' && (len(b) == 1 || b[1] == '\n')
}

// Of is the rows of a part as a table. The rows keep their numbers, their places and their files.
func (p Part) Of(t Table) Table { return &run{bare(t, p), t, p} }

// bare is the rows of a part as a table of its own.
func bare(t Table, p Part) Table {
	switch t := t.(type) {
	case *CSV:
		x := *t
		f := t.files[p.File]
		f.from, f.to, f.quoted = p.From, p.To, p.Quoted
		x.files = []csvFile{f}
		return &x
	case *TFRecord:
		x := *t
		x.paths = t.paths[p.File : p.File+1]
		return &x
	case *Columnar:
		x := *t
		x.groups, x.rows = slices.Clone(t.groups[p.From:p.To]), p.Rows
		return &x
	case *Npy:
		x := *t
		x.from, x.rows = int(p.From), int(p.Rows)
		return &x
	}
	return t
}

// run is a part of a table.
type run struct {
	Table
	whole Table
	part  Part
}

// Files implements Table.
func (t *run) Files() []string { return t.whole.Files() }

// Fields implements Table.
func (t *run) Fields() []Field { return t.whole.Fields() }

// Bytes implements Table.
func (t *run) Bytes() int64 {
	if t.part.To > 0 && t.part.Rows > 0 {
		if _, text := t.whole.(*CSV); text {
			return t.part.To - t.part.From
		}
	}
	return t.Table.Bytes()
}

// Where implements Table.
func (t *run) Where(row uint64, column string) string { return t.whole.Where(row, column) }

// Scan implements Table.
func (t *run) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	return ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *run) plain(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	first := t.part.First
	switch t.whole.(type) {
	case *Columnar, *Npy:
		first = 0 // these know it
	}
	rows, err := t.Table.Scan(ctx, columns, threads, func(worker int, c *Chunk) error {
		c.First += first
		return fn(worker, c)
	})
	if err == nil && rows != t.part.Rows {
		err = badf("%s: found %d rows from row %d on, expected %d, as in the first read; do not change the file while it is read", t.name(), rows, t.part.First, t.part.Rows)
	}
	return rows, err
}

// name is a file of the part.
func (t *run) name() string {
	if files := t.whole.Files(); t.part.File > 0 && t.part.File < len(files) {
		return files[t.part.File]
	} else if len(files) > 0 {
		return files[0]
	}
	return fmt.Sprintf("part %d", t.part.File)
}
