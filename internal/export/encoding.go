package export

import (
	"fmt"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Encoding encodes graphs that were made from the graphs of a collection and have its types and columns. It uses the
// collection's schema.
type Encoding struct{ own *own }

// NewEncoding returns the encoding for the content of a collection. left names the content that Examples cannot hold,
// and rounded the columns that Examples round.
func NewEncoding(fsys vfs.FS, s *store.Store) (e *Encoding, left, rounded []string, err error) {
	r := &Result{}
	o, err := newOwn(fsys, s, r)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	return &Encoding{o}, r.Left, r.Rounded, nil
}

// Schema returns the schema of the Examples.
func (e *Encoding) Schema() *tfgnnpb.GraphSchema { return e.own.kept }

// Sets returns the indices in the collection of the types of node sets and edge sets.
func (e *Encoding) Sets() (nodes, edges map[string]int) {
	nodes, edges = map[string]int{}, map[string]int{}
	for _, s := range e.own.nodes {
		nodes[s.name] = s.number
	}
	for _, s := range e.own.edges {
		edges[s.name] = s.number
	}
	return nodes, edges
}

// Of encodes the graphs of c, which has the types of the collection in the same order, and their columns. encode must
// be called by one goroutine at a time, reads c in each call, and returns bytes that are valid until the next call.
// It counts the losses of doubles in narrowed.
func (e *Encoding) Of(c *graph.Collection) (encode func(graph int) ([]byte, error), narrowed *examplecolumns.Narrowed) {
	o := *e.own
	o.c, o.form = c, nil
	same := func(columns, of []*graph.Column) []*graph.Column {
		out := make([]*graph.Column, len(columns))
		for i, x := range columns {
			out[i] = graph.FindColumn(of, x.Name)
		}
		return out
	}
	o.ctx = same(o.ctx, c.Context)
	o.nodes, o.edges = append([]ownSet(nil), o.nodes...), append([]ownSet(nil), o.edges...)
	for i := range o.nodes {
		s := &o.nodes[i]
		s.columns = same(s.columns, c.Nodes[s.number].Columns)
	}
	for i := range o.edges {
		s := &o.edges[i]
		s.columns = same(s.columns, c.Edges[s.number].Columns)
	}
	enc := o.newEncoder()
	return enc.encode, enc.narrowed()
}
