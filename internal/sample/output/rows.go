package output

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// Rows stands for the columns of a graph while Examples are encoded: it has only the rows that are wanted of them.
type Rows interface {
	// Nodes is the table of a node type, given by number.
	Nodes(number int) RowTable
	// Edges is the table of an edge type, given by number.
	Edges(number int) RowTable
}

// RowTable is the rows of a type that are wanted for the Examples that are being encoded.
type RowTable interface {
	// Fetches says whether a column of the type is in the table. Other columns are read as they are.
	Fetches(c *graph.Column) bool
	// Column is the column of the table in place of c.
	Column(c *graph.Column) (*graph.Column, error)
	// Places appends the rows of the table that belong to ids.
	Places(to []uint32, ids graph.Index) []uint32
}

// streamRows is the rows that a stream executor reads.
type streamRows struct{ x *outofcore.Executor }

// Nodes implements Rows.
func (s streamRows) Nodes(number int) RowTable { return s.x.NodeRows(number) }

// Edges implements Rows.
func (s streamRows) Edges(number int) RowTable { return s.x.EdgeRows(number) }

// rows is what stands for the columns, nil where they are read as they are.
func (n *Encoding) rows() Rows {
	if n.opt.Stream != nil {
		return streamRows{n.opt.Stream}
	}
	return n.opt.Rows
}

// usedTable is a table, and the ids of an Example that it has rows for.
type usedTable struct {
	rows RowTable
	ids  func(*content) graph.Index
}

// place finds the rows of an Example in the tables.
func (n *Encoding) place(c *content) {
	for i, t := range n.tables {
		if i == len(c.places) {
			c.places = append(c.places, nil)
		}
		c.places[i] = t.rows.Places(c.places[i][:0], t.ids(c))
	}
}

// source is the column that c is written from (c itself, or a table in place of it), and a function that returns the
// rows of it that an Example has. rows is nil where there is no table, ids is the ids of an Example.
func (n *Encoding) source(c *graph.Column, rows RowTable, ids func(*content) graph.Index) (*graph.Column, func(*content) graph.Index, error) {
	if rows == nil || !rows.Fetches(c) {
		return c, ids, nil
	}
	stand, err := rows.Column(c)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(n.tables, func(t usedTable) bool { return t.rows == rows })
	if i < 0 {
		i = len(n.tables)
		n.tables = append(n.tables, usedTable{rows, ids})
	}
	return stand, func(c *content) graph.Index { return narrow(c.places[i]) }, nil
}

// wide is the function that writes the numbers of a feature that the store holds in pieces, and one that returns its rows. A table has all
// of its pieces or none, because each of them is numbers of a fixed shape.
func (n *Encoding) wide(c *widening.Column, rows RowTable, ids func(*content) graph.Index) (examplecolumns.Write, func(*content) graph.Index, error) {
	places, from := ids, make([]*graph.Column, len(c.Pieces))
	for i, piece := range c.Pieces {
		var err error
		if from[i], places, err = n.source(piece, rows, ids); err != nil {
			return nil, nil, err
		}
	}
	return examplecolumns.Floats(c.RowValues(), c.Writer(graph.Float32, from)), places, nil
}

// Fetch names the columns of the Examples of its plan to a stream executor, as NewRecords does.
func Fetch(x *outofcore.Executor, features *widening.Features) error {
	s := x.Sampler()
	_, err := newEncoding(s.Graph(), s.Plan(), &RecordsOptions{Stream: x, Features: features})
	return err
}

// roundsStep is the bytes of a column that are read between two releases of memory.
const roundsStep = 32 << 20

// rounds is examplecolumns.Rounds. Under the stream executor it releases the memory of what it has read. Where other processes
// give the rows, the one that writes the output reads the columns for this.
func (n *Encoding) rounds(c *graph.Column) (bool, error) {
	if n.opt.Rows != nil {
		return false, nil
	}
	if n.opt.Stream == nil || c.DType != graph.Float64 {
		return examplecolumns.Rounds(c), nil
	}
	for values := c.Values; len(values) > 0; {
		part := values[:min(len(values), roundsStep)]
		values = values[len(part):]
		rounds := examplecolumns.Rounds(&graph.Column{DType: c.DType, Values: part})
		if err := n.opt.Stream.Release(); rounds || err != nil {
			return rounds, err
		}
	}
	return false, nil
}
