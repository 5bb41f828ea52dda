package views

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/tagged"
)

// union is tables one after the other, of which each has some of the columns.
type union struct {
	tables []table.Table
	fields []table.Field
	bytes  int64
	mu     sync.Mutex
	rows   []int64 // of the tables, of those that were scanned; -1: not yet
}

// Union is the rows of tables, one table after the other. Its fields are those of all tables, by name. A row has empty cells in the
// fields that its table lacks. A field of several dtypes has one that holds their values: float64 for integers and floats, and else
// string. A table that has another number of rows than in an earlier scan is an error.
func Union(tables ...table.Table) table.Table {
	if len(tables) == 1 {
		return tables[0]
	}
	t := &union{tables: tables}
	for _, p := range tables {
		t.rows = append(t.rows, -1)
		for _, f := range p.Fields() {
			i := slices.IndexFunc(t.fields, func(g table.Field) bool { return g.Name == f.Name })
			if i < 0 {
				t.fields = append(t.fields, f)
			} else {
				t.fields[i] = joinedField(t.fields[i], f)
			}
		}
		t.bytes += p.Bytes()
	}
	return t
}

// joinedField is a field that holds the values of two fields.
func joinedField(a, b table.Field) table.Field {
	a.Ignored = a.Ignored && b.Ignored
	a.Separator = cmp.Or(a.Separator, b.Separator)
	a.Escapes = a.Escapes || b.Escapes
	if len(a.Shape) != len(b.Shape) {
		a.Shape = []int{-1}
	} else if !slices.Equal(a.Shape, b.Shape) {
		a.Shape = slices.Clone(a.Shape)
		for i := range a.Shape {
			if a.Shape[i] != b.Shape[i] {
				a.Shape[i] = -1
			}
		}
	}
	switch {
	case a.Zone.String() != b.Zone.String(): // one scan has one zone for times without one
		a.DType, a.Unit, a.Category, a.Zone = graph.String, "", false, nil
	case a.DType == b.DType && a.Unit == b.Unit:
	case a.DType == graph.Invalid || b.DType == graph.Invalid || a.Unit != b.Unit || a.Category != b.Category:
		a.DType, a.Unit, a.Category = graph.String, "", false
	case a.DType.IsInt() && b.DType.IsInt():
		a.DType = graph.Int64
	case (a.DType.IsInt() || a.DType.IsFloat()) && (b.DType.IsInt() || b.DType.IsFloat()):
		a.DType = graph.Float64
	default:
		a.DType = graph.String
	}
	return a
}

// Fields implements Table.
func (t *union) Fields() []table.Field { return t.fields }

// Guess describes each field as its tables do: what holds for all of them. Tables that declare a dtype say nothing.
func (t *union) Guess() ([]table.Guess, error) {
	out := make([]table.Guess, len(t.fields))
	for i, f := range t.fields {
		first := true
		for _, p := range t.tables {
			n := slices.IndexFunc(p.Fields(), func(g table.Field) bool { return g.Name == f.Name })
			if n < 0 {
				continue
			}
			g, ok := p.(interface{ Guess() ([]table.Guess, error) })
			if !ok {
				continue
			}
			guesses, err := g.Guess()
			if err != nil {
				return nil, err
			}
			if first {
				out[i], first = guesses[n], false
			} else {
				out[i] = out[i].And(guesses[n])
			}
			out[i].Rows = false
		}
	}
	return out, nil
}

// Files implements Table.
func (t *union) Files() []string {
	var files []string
	for _, p := range t.tables {
		for _, f := range p.Files() {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// Bytes implements Table.
func (t *union) Bytes() int64 { return t.bytes }

// Scan implements Table. It scans one table after the other, each with all threads.
func (t *union) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *union) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for _, c := range columns {
		if !slices.ContainsFunc(t.fields, func(f table.Field) bool { return f.Name == c.Name }) {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found no column %q, expected it; correct the name", t.Files()[0], c.Name)
		}
	}
	total := uint64(0)
	for i, p := range t.tables {
		rows, err := scanSome(ctx, p, columns, threads, func(worker int, c *table.Chunk) error {
			c.First += total
			return fn(worker, c)
		})
		if err != nil {
			return 0, err
		}
		t.mu.Lock()
		before := t.rows[i]
		t.rows[i] = int64(rows)
		t.mu.Unlock()
		if before >= 0 && before != int64(rows) {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found %d rows, expected %d, as before; is the file being written?", p.Files()[0], rows, before)
		}
		total += rows
	}
	return total, nil
}

// scanSome scans the columns that a table has, and makes empty cells of the others.
func scanSome(ctx context.Context, p table.Table, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	fields := p.Fields()
	var ask []table.Column
	at := make([]int, len(columns)) // of the column asked for; -1: there is none
	for i, c := range columns {
		if at[i] = -1; slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == c.Name }) {
			at[i], ask = len(ask), append(ask, c)
		}
	}
	if len(ask) == len(columns) {
		return p.Scan(ctx, columns, threads, fn)
	}
	type worker struct {
		chunk  table.Chunk
		empty  []*builder.Column
		absent []bool
	}
	workers := make([]worker, max(threads, 1))
	return p.Scan(ctx, ask, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		if w.empty == nil {
			w.empty = make([]*builder.Column, len(columns))
			for i, c := range columns {
				if at[i] < 0 {
					b, err := builder.New(c)
					if err != nil {
						return tagged.Errorf(table.ErrFormat, "%s: column %q: %w", p.Files()[0], c.Name, err)
					}
					w.empty[i] = &b
				}
			}
		}
		vectors := w.chunk.Columns[:0]
		w.chunk = *c
		for i := range columns {
			if at[i] >= 0 {
				vectors = append(vectors, c.Columns[at[i]])
				continue
			}
			v, absent, err := emptyVector(w.empty[i], c.Rows)
			if err != nil {
				return tagged.Errorf(table.ErrFormat, "%s: found no value in column %q, %w", p.Where(c.First, columns[i].Name), columns[i].Name, err)
			}
			if vectors = append(vectors, v); absent {
				w.absent = slices.Grow(w.absent[:0], c.Rows)[:c.Rows]
				for r := range w.absent {
					w.absent[r] = true
				}
				w.chunk.Absent = w.absent
			}
		}
		w.chunk.Columns = vectors
		return fn(id, &w.chunk)
	})
}

// emptyVector is a vector of empty cells, which says whether the rows are absent.
func emptyVector(b *builder.Column, rows int) (v table.Vector, absent bool, err error) {
	b.Reset()
	for range rows {
		none, problem := b.Put(nil)
		if problem != "" {
			return v, false, errors.New("expected " + problem)
		}
		absent = absent || none
	}
	if b.Wide && b.DType.Size() < 8 {
		scalar.Narrow(b.Data.W[:rows], b.DType) // Put has checked the range
	}
	return b.Vector(rows), absent, nil
}

// Where implements Table. Rows are of the first table whose number of rows no scan has found yet.
func (t *union) Where(row uint64, column string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, p := range t.tables {
		if n := t.rows[i]; n < 0 || row < uint64(n) || i == len(t.tables)-1 {
			return p.Where(row, column)
		}
		row -= uint64(t.rows[i])
	}
	return fmt.Sprintf("row %d", row)
}
