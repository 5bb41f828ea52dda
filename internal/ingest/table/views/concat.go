package views

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Piece is a table that is a part of a concatenation.
type Piece struct {
	table.Table
	// Rows is the number of rows that the table must have, according to Says.
	Rows uint64
	Says string // "metadata.json"
}

// concat is a concatenation of tables.
type concat struct {
	pieces []Piece
	fields []table.Field
	bytes  int64
}

// Concat concatenates tables. Its columns are the columns of the first table, renamed to names, which must have as many
// entries. All tables must have the same columns in the same order; their names and the widths of their integers may
// differ. A table with a number of rows other than its Piece says is an error of the scan.
func Concat(names []string, pieces []Piece) (table.Table, error) {
	t := &concat{pieces: pieces}
	for i, p := range pieces {
		fields := p.Fields()
		if len(fields) != len(names) {
			return nil, tagged.Errorf(table.ErrFormat, "%s: found %d columns, expected %d; write all files with the same columns", p.Files()[0], len(fields), len(names))
		}
		for k, f := range fields {
			f.Name = names[k]
			switch {
			case i == 0:
				t.fields = append(t.fields, f)
			case f.DType != t.fields[k].DType && !(f.DType.IsInt() && t.fields[k].DType.IsInt()) || len(f.Shape) != len(t.fields[k].Shape):
				return nil, tagged.Errorf(table.ErrFormat, "%s: found %s %v in column %d, expected %s %v, as in %s; write all files with the same columns", p.Files()[0], f.DType, f.Shape, k, t.fields[k].DType, t.fields[k].Shape, pieces[0].Files()[0])
			}
		}
		t.bytes += p.Bytes()
	}
	return t, nil
}

// Fields implements Table.
func (t *concat) Fields() []table.Field { return t.fields }

// Files implements Table.
func (t *concat) Files() []string {
	var files []string
	for _, p := range t.pieces {
		files = append(files, p.Files()...)
	}
	return files
}

// Bytes implements Table.
func (t *concat) Bytes() int64 { return t.bytes }

// Scan implements Table. It scans one table after the other, each with all threads.
func (t *concat) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *concat) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := slices.Clone(columns)
	total := uint64(0)
	for _, p := range t.pieces {
		fields := p.Fields()
		for i, c := range columns {
			n := t.column(c.Name)
			if n < 0 {
				return 0, tagged.Errorf(table.ErrFormat, "%s: found no column %q, expected it; correct the name", p.Files()[0], c.Name)
			}
			asked[i].Name = fields[n].Name
		}
		rows, err := p.Scan(ctx, asked, threads, func(worker int, c *table.Chunk) error {
			if end := c.First + uint64(c.Rows); end > p.Rows {
				return p.differ(fmt.Sprintf("at least %d", end))
			}
			c.First += total
			return fn(worker, c)
		})
		if err == nil && rows != p.Rows {
			err = p.differ(fmt.Sprint(rows))
		}
		if err != nil {
			return 0, err
		}
		total += rows
	}
	return total, nil
}

func (p *Piece) differ(rows string) error {
	return tagged.Errorf(table.ErrFormat, "%s: found %s rows, expected %d, as %s says; write the files again", p.Files()[0], rows, p.Rows, p.Says)
}

func (t *concat) column(name string) int {
	return slices.IndexFunc(t.fields, func(f table.Field) bool { return f.Name == name })
}

// Where implements Table.
func (t *concat) Where(row uint64, column string) string {
	for i, p := range t.pieces {
		if row < p.Rows || i == len(t.pieces)-1 {
			if n := t.column(column); n >= 0 {
				column = p.Fields()[n].Name
			}
			return p.Table.Where(row, column)
		}
		row -= p.Rows
	}
	return fmt.Sprintf("row %d", row)
}
