package output

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
	outofcore "github.com/graphmill/graphmill/internal/sample/outofcore"
)

// rowTable is the rows of a type that the stream executor reads for the batches that
// are being encoded, and what ids of an Example they are of.
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

// source is where a column of a type is written from: itself, or a table, which nil
// rows says there is not; and which of its rows an Example with the given ids has.
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

// Fetch names to a stream executor the columns that Examples of its plan have, as
// NewRecords does; induce says that subgraphs have all edges between their nodes.
func Fetch(x *outofcore.Executor, induce bool) error {
	s := x.Sampler()
	_, err := newEncoding(s.Graph(), s.Plan(), induce, &RecordsOptions{Stream: x})
	return err
}

// roundsStep is how many bytes of a column are looked at between two releases.
const roundsStep = 32 << 20

// rounds is feature.Rounds, of which little stays in memory where there is little.
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
