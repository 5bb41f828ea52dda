package output

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// rowTable is the rows of a type that the stream executor reads for the batches that are being encoded, and the ids of
// an Example that they belong to.
type rowTable struct {
	rows *outofcore.Rows
	ids  func(*content) []uint32
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
func (n *Encoding) source(c *graph.Column, rows *outofcore.Rows, ids func(*content) []uint32) (*graph.Column, func(*content) []uint32, error) {
	if rows == nil || !outofcore.Fetches(c) {
		return c, ids, nil
	}
	stand, err := rows.Column(c)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(n.tables, func(t rowTable) bool { return t.rows == rows })
	if i < 0 {
		i = len(n.tables)
		n.tables = append(n.tables, rowTable{rows, ids})
	}
	return stand, func(c *content) []uint32 { return c.places[i] }, nil
}

// Fetch names the columns of the Examples of its plan to a stream executor, as NewRecords does. induce says that
// subgraphs have all edges between their nodes.
func Fetch(x *outofcore.Executor, induce bool) error {
	s := x.Sampler()
	_, err := newEncoding(s.Graph(), s.Plan(), induce, &RecordsOptions{Stream: x})
	return err
}

// roundsStep is the bytes of a column that are read between two releases of memory.
const roundsStep = 32 << 20

// rounds is feature.Rounds. Under the stream executor it releases the memory of what it has read.
func (n *Encoding) rounds(c *graph.Column) (bool, error) {
	if n.opt.Stream == nil || c.DType != graph.Float64 {
		return feature.Rounds(c), nil
	}
	for values := c.Values; len(values) > 0; {
		part := values[:min(len(values), roundsStep)]
		values = values[len(part):]
		rounds := feature.Rounds(&graph.Column{DType: c.DType, Values: part})
		if err := n.opt.Stream.Release(); rounds || err != nil {
			return rounds, err
		}
	}
	return false, nil
}
