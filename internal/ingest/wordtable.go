package ingest

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
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

// edges returns the graph of one type whose edges are a table with the columns src and dst. Others become columns of the edges. The ids
// are integers if all of them are.
func (t *guessedTable) edges(ctx context.Context, o Options) (in assemble.Input, err error) {
	fields, err := describe(t)
	if err != nil {
		return in, err
	}
	integer := fields[0].unsigned && fields[1].unsigned
	if o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	if !integer && o.NumNodes > 0 {
		return in, usagef("found `NumNodes` with string ids, expected it with integer ids, which it bounds")
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: t, Src: keyColumn(fields[0].Name, integer), Dst: keyColumn(fields[1].Name, integer)}
	if e.Columns, err = t.numbers(ctx, o); err != nil {
		return in, err
	}
	in.Nodes = []assemble.Nodes{{Type: graph.HomogeneousNode, ID: table.Column{DType: e.Src.DType}, Count: o.NumNodes}}
	in.Edges = []assemble.Edges{e}
	return in, nil
}

// numbers returns the columns of the fields after the first two, which are numbers: the scan names a cell that is none.
func (t *guessedTable) numbers(ctx context.Context, o Options) ([]table.Column, error) {
	fields, err := describe(t)
	if err != nil {
		return nil, err
	}
	fields = fields[2:]
	for i := range fields {
		if f := &fields[i]; !f.guess.Number || !f.guess.Seen {
			f.DType, f.Unit = graph.Float64, ""
		}
	}
	columns, _, err := featuresOf(ctx, t, fields, o)
	return columns, err
}
