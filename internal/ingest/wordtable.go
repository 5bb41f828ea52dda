package ingest

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// guessedTable is a table of text in a form of its own, of which a first pass has seen all cells.
type guessedTable struct {
	*textfiles.Stream
	guesses []table.Guess
	rows    uint64
}

// Guess describes the cells of each field.
func (t *guessedTable) Guess() ([]table.Guess, error) { return t.guesses, nil }

// openGuessed opens a file as a table with the columns of names, and reads it once. A last column without any cell is left out.
func openGuessed(ctx context.Context, fsys vfs.FS, path string, names []string, read textfiles.StreamReader) (*guessedTable, error) {
	t := &guessedTable{guesses: make([]table.Guess, len(names))}
	for i := range t.guesses {
		t.guesses[i] = table.Guess{Unsigned: true, Integer: true, Number: true, Bool: true, Time: true, Rows: true}
	}
	last, filled := len(names)-1, false
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		return read(in, func(_ int, cells [][]byte) error {
			if t.rows%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for i, cell := range cells {
				t.guesses[i].Add(cell, t.rows)
			}
			filled = filled || cells[last] != nil
			t.rows++
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if !filled && t.rows > 0 {
		names, t.guesses = names[:last], t.guesses[:last]
	}
	var fields []table.Field
	for _, name := range names {
		fields = append(fields, table.Field{Name: name})
	}
	t.Stream, err = textfiles.OpenStream(fsys, path, fields, read)
	return t, err
}
