package views

import (
	"bytes"
	"context"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// joined is a table with a column of ids that is made of the texts of others.
type joined struct {
	table.Table
	name    string
	parts   []string
	between []byte
}

// Joined makes a table with one more column, which is asked for as strings: the texts of its parts in order, with a text between them that no part may contain, so
// that different parts give different ids; the parts give the same id if that text is empty and their texts are the same one after the other. The id is empty where all parts
// are. The parts are strings, also where they look like numbers.
func Joined(t table.Table, name string, parts []string, between string) table.Table {
	return &joined{t, name, parts, []byte(between)}
}

// Fields implements Table.
func (t *joined) Fields() []table.Field {
	fields := slices.Clone(t.Table.Fields())
	for i := range fields {
		if slices.Contains(t.parts, fields[i].Name) {
			fields[i].DType = graph.String
		}
	}
	return append(fields, table.Field{Name: t.name, DType: graph.String})
}

// Guess describes the fields.
func (t *joined) Guess() ([]table.Guess, error) {
	guesses := make([]table.Guess, len(t.Table.Fields()))
	if g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) }); ok {
		var err error
		if guesses, err = g.Guess(); err != nil {
			return nil, err
		}
	}
	return append(slices.Clone(guesses), table.Guess{}), nil
}

// Where implements Table.
func (t *joined) Where(row uint64, column string) string {
	if column == t.name {
		column = t.parts[0]
	}
	return t.Table.Where(row, column)
}

// Scan implements Table. Each worker holds the ids of a chunk once more.
func (t *joined) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	var asked []table.Column
	at := make([]int, len(columns)) // the place of each in asked; of the joined column, the place of its first part
	for i, c := range columns {
		at[i] = len(asked)
		if c.Name != t.name {
			asked = append(asked, c)
			continue
		}
		if c.DType != graph.String || len(c.Shape) > 0 || c.Empty == table.EmptyAbsent {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for ids of several columns as %s of shape %v, expected strings; ask for them so", t.Files()[0], c.DType, c.Shape)
		}
		for _, p := range t.parts {
			asked = append(asked, table.Column{Name: p, DType: graph.String})
		}
	}
	workers := make([]joinedWorker, max(threads, 1))
	return t.Table.Scan(ctx, asked, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		if w.ids == nil {
			w.ids = make([]joinedIDs, len(columns))
		}
		vectors := w.chunk.Columns[:0]
		w.chunk = *c
		for i := range columns {
			if columns[i].Name != t.name {
				vectors = append(vectors, c.Columns[at[i]])
				continue
			}
			v, err := t.join(w, i, &columns[i], c.Columns[at[i]:at[i]+len(t.parts)])
			if err != nil {
				return err
			}
			vectors = append(vectors, v)
		}
		w.chunk.Columns = vectors
		return fn(id, &w.chunk)
	})
}

// joinedWorker is what one goroutine of a scan holds.
type joinedWorker struct {
	chunk table.Chunk
	ids   []joinedIDs // by column
}

// joinedIDs are the ids of a chunk.
type joinedIDs struct {
	data  []byte
	ends  []uint32
	empty []uint32 // rows, if they are marked
}

// join makes the ids of the chunk of a worker.
func (t *joined) join(w *joinedWorker, column int, c *table.Column, parts []table.Vector) (v table.Vector, err error) {
	ids := &w.ids[column]
	ids.data, ids.ends, ids.empty = ids.data[:0], ids.ends[:0], ids.empty[:0]
	for row := range w.chunk.Rows {
		empty := true
		for i := range parts {
			part := parts[i].ID(row, graph.String)
			if len(t.between) > 0 && bytes.Contains(part, t.between) {
				return v, tagged.Errorf(table.ErrFormat, "%s: found the part %.40q of an id of several columns, expected none with %q, which joins the parts; replace it in all files", t.Table.Where(w.chunk.First+uint64(row), t.parts[i]), part, t.between)
			}
			if empty = empty && len(part) == 0; i > 0 {
				ids.data = append(ids.data, t.between...)
			}
			ids.data = append(ids.data, part...)
		}
		if empty && c.ID && c.Empty == table.EmptyError {
			return v, tagged.Errorf(table.ErrFormat, "%s: found no id in the columns %s, expected one in at least one of them; correct the row", t.Table.Where(w.chunk.First+uint64(row), t.parts[0]), table.List(t.parts))
		}
		if empty { // without what is between its parts
			ids.data = ids.data[:endOf(ids.ends, len(ids.ends))]
			if c.Mark {
				ids.empty = append(ids.empty, uint32(row))
			}
		}
		ids.ends = append(ids.ends, uint32(len(ids.data)))
	}
	return table.Vector{Data: ids.data, Ends: ids.ends, Empty: ids.empty}, nil
}
