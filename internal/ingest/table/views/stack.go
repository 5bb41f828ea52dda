package views

import (
	"context"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// stack is a table that joins several columns of a table into one.
type stack struct {
	table.Table
	field  table.Field
	fields []string
}

// Stack makes a table of one column of numbers: a row has the values of the fields, in order. The column can
// be asked for in the shape of the field, or in another shape with as many values.
func Stack(t table.Table, field table.Field, fields []string) table.Table {
	return &stack{t, field, fields}
}

// Fields implements Table.
func (t *stack) Fields() []table.Field { return []table.Field{t.field} }

// Where implements Table. It names the row.
func (t *stack) Where(row uint64, _ string) string { return t.Table.Where(row, "") }

// Scan implements Table. It takes the memory that the underlying table takes, and the values of a chunk once more for each
// worker.
func (t *stack) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *stack) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	var asked []table.Column
	for _, c := range columns {
		values := 1
		for _, d := range c.Shape {
			values *= max(d, 0)
		}
		if c.Name != t.field.Name || values != len(t.fields) || c.DType == graph.String {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for %[4]q of shape %[5]v, expected the column %[2]s of %[3]d values", t.Files()[0], t.field.Name, len(t.fields), c.Name, c.Shape)
		}
		for _, name := range t.fields {
			asked = append(asked, table.Column{Name: name, DType: c.DType, Empty: c.Empty, Fill: oneOf(c.Fill), Given: c.Given, Mark: c.Mark, Underflows: c.Underflows})
		}
	}
	threads = max(threads, 1)
	type worker struct {
		chunk table.Chunk
		data  []buffer
		empty [][]uint32
	}
	workers := make([]worker, threads)
	for i := range workers {
		workers[i].chunk.Columns, workers[i].data, workers[i].empty = make([]table.Vector, len(columns)), make([]buffer, len(columns)), make([][]uint32, len(columns))
	}
	return t.Table.Scan(ctx, asked, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		w.chunk.First, w.chunk.Rows, w.chunk.Bytes, w.chunk.Absent = c.First, c.Rows, c.Bytes, c.Absent
		for i := range columns {
			from := c.Columns[i*len(t.fields):][:len(t.fields)]
			if len(from) == 1 {
				w.chunk.Columns[i] = from[0]
				continue
			}
			w.empty[i] = anyEmpty(w.empty[i][:0], from)
			size := columns[i].DType.Size()
			data := w.data[i].take(c.Rows * len(from) * size)
			table.Interleave(data, from, size)
			w.chunk.Columns[i] = table.Vector{Data: data, Empty: w.empty[i]}
		}
		return fn(id, &w.chunk)
	})
}

// oneOf is the value that a text repeats, or the text.
func oneOf(fill string) string {
	if words := strings.Fields(fill); len(words) > 1 && !slices.ContainsFunc(words, func(s string) bool { return s != words[0] }) {
		return words[0]
	}
	return fill
}

// anyEmpty appends the rows that are empty in any of the vectors.
func anyEmpty(out []uint32, from []table.Vector) []uint32 {
	for _, v := range from {
		out = append(out, v.Empty...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
