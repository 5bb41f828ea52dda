package feed

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// fetched reads the rows of batches from the tables that a stream fills from the files of the columns. A nil fetched reads
// them through the map of the store.
type fetched struct {
	x     *outofcore.Executor
	lists int    // of places that a batch has
	reach []bool // by node type: the plan reaches it
	drawn []bool // by edge type: the plan draws from it
}

// places are the rows of a table that a batch has, found at the first use.
type places struct {
	rows  []uint32
	found bool
}

// newFetched prepares the tables of x for columnsOf.
func newFetched(x *outofcore.Executor) *fetched {
	s := x.Sampler()
	g, p := s.Graph(), s.Plan()
	f := &fetched{x: x, reach: make([]bool, len(g.Nodes)), drawn: make([]bool, len(g.Edges))}
	for _, name := range p.SeedType {
		f.reach[g.NodeType(name)] = true
	}
	for op := 1; op <= len(p.Ops); op++ {
		t, _ := s.Walk(op)
		f.drawn[t] = true
	}
	for _, t := range p.Reversed(g) {
		f.drawn[t] = true
	}
	for t, is := range f.drawn {
		if is {
			f.reach[g.NodeType(g.Edges[t].Type.Src)], f.reach[g.NodeType(g.Edges[t].Type.Dst)] = true, true
		}
	}
	return f
}

// node returns the columns of a node type with those that names lists from its table, and the rows there of the nodes ids.
func (f *fetched) node(t int, columns []*graph.Column, names []string, ids func(*made) graph.Index) ([]*graph.Column, func(*made) graph.Index, error) {
	if f == nil || len(names) == 0 || !f.reach[t] {
		return columns, ids, nil
	}
	return f.table(f.x.NodeRows(t), columns, names, ids)
}

// edge is node for an edge type.
func (f *fetched) edge(t int, columns []*graph.Column, names []string, ids func(*made) graph.Index) ([]*graph.Column, func(*made) graph.Index, error) {
	if f == nil || len(names) == 0 || !f.drawn[t] {
		return columns, ids, nil
	}
	return f.table(f.x.EdgeRows(t), columns, names, ids)
}

func (f *fetched) table(r *outofcore.Rows, columns []*graph.Column, names []string, ids func(*made) graph.Index) ([]*graph.Column, func(*made) graph.Index, error) {
	columns = slices.Clone(columns)
	for i, c := range columns {
		if slices.Contains(names, c.Name) && outofcore.Fetches(c) {
			stand, err := r.Column(c)
			if err != nil {
				return nil, nil, err
			}
			columns[i] = stand
		}
	}
	list := f.lists
	f.lists++
	return columns, func(m *made) graph.Index {
		p := &m.places[list]
		if !p.found {
			p.rows, p.found = r.Places(p.rows[:0], ids(m)), true
		}
		return graph.Index{U32: p.rows}
	}, nil
}

// begin makes the lists of a batch ready for the next batch.
func (m *made) begin(lists int) {
	if len(m.places) < lists {
		m.places = make([]places, lists)
	}
	for i := range m.places {
		m.places[i].found = false
	}
}
