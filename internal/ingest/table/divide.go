package table

import (
	"context"
	"fmt"
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

// Divisible is a table that is read in parts.
type Divisible interface {
	Table
	// Divide returns parts of about size bytes, at least 1, in the order of the rows.
	Divide(size int64) []Part
	// Cut is the rows of a part as a table of its own. Rows of a part that Divide has Counted keep their numbers, and the rows of
	// other parts are counted from 0.
	Cut(p Part) Table
}

// Measurer is a Divisible whose parts are not Counted.
type Measurer interface {
	Divisible
	// Measure counts the rows of a part.
	Measure(ctx context.Context, p Part) (Measured, error)
}

// Divide cuts a table into parts of about size bytes, in the order of the rows: plain text at any place, Parquet between
// row groups, arrays between rows, and compressed text and TFRecords between files. Tables that are not Divisible are one part.
func Divide(t Table, size int64) []Part {
	if d, ok := t.(Divisible); ok {
		return d.Divide(max(size, 1))
	}
	return []Part{{File: -1}}
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
	if d, ok := t.(Measurer); ok {
		return d.Measure(ctx, p)
	}
	return CountRows(ctx, t)
}

// CountRows measures a table by a scan.
func CountRows(ctx context.Context, t Table) (m Measured, err error) {
	m.Rows[0], err = t.Scan(ctx, nil, 1, func(int, *Chunk) error { return nil })
	return m, err
}

// Of is the rows of a part as a table. The rows keep their numbers, their places and their files.
func (p Part) Of(t Table) Table {
	r := &run{Table: t, whole: t, part: p}
	if d, ok := t.(Divisible); ok {
		r.Table = d.Cut(p)
	}
	if _, ok := t.(Measurer); ok {
		r.first = p.First
	}
	return r
}

// run is a part of a table.
type run struct {
	Table
	whole Table
	part  Part
	first uint64 // number of the row that Table counts as 0
}

// Files implements Table.
func (t *run) Files() []string { return t.whole.Files() }

// Fields implements Table.
func (t *run) Fields() []Field { return t.whole.Fields() }

// Where implements Table.
func (t *run) Where(row uint64, column string) string { return t.whole.Where(row, column) }

// Scan implements Table.
func (t *run) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	return ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *run) plain(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	rows, err := t.Table.Scan(ctx, columns, threads, func(worker int, c *Chunk) error {
		c.First += t.first
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
