package feed

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// fetched reads the rows of batches from tables that have those of the batches under way: tables that a stream fills from the files of the columns, or tables of
// what hosts sent. A nil fetched reads them through the map of the store.
type fetched struct {
	from  rowTables
	lists int    // of places that a batch has
	reach []bool // by node type: the plan reaches it
	drawn []bool // by edge type: the plan draws from it
}

// rowTables are the tables of rows by type.
type rowTables interface {
	// node and edge are the tables of types, given by number.
	node(t int) rowTable
	edge(t int) rowTable
	// fetches says whether the tables have a column. Others are read through the map of the store.
	fetches(c *graph.Column) bool
}

// rowTable has the rows of a type that batches have.
type rowTable interface {
	// column is a column of the table, in place of one of the graph.
	column(c *graph.Column) (*graph.Column, error)
	// list returns a function for the places in the table of the rows that ids lists of a batch. They are the list with the given number of the batch.
	list(number int, ids func(*made) graph.Index) func(*made) graph.Index
}

// places are the rows of a table that a batch has, found at the first use.
type places struct {
	rows  []uint32
	found bool
}

// newFetched prepares the tables of a sampler for columnsOf.
func newFetched(s *sample.Sampler, from rowTables) *fetched {
	g, p := s.Graph(), s.Plan()
	f := &fetched{from: from, reach: make([]bool, len(g.Nodes)), drawn: make([]bool, len(g.Edges))}
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
	return f.table(f.from.node(t), columns, names, ids)
}

// edge is node for an edge type.
func (f *fetched) edge(t int, columns []*graph.Column, names []string, ids func(*made) graph.Index) ([]*graph.Column, func(*made) graph.Index, error) {
	if f == nil || len(names) == 0 || !f.drawn[t] {
		return columns, ids, nil
	}
	return f.table(f.from.edge(t), columns, names, ids)
}

func (f *fetched) table(r rowTable, columns []*graph.Column, names []string, ids func(*made) graph.Index) ([]*graph.Column, func(*made) graph.Index, error) {
	columns = slices.Clone(columns)
	for i, c := range columns {
		if slices.Contains(names, c.Name) && f.from.fetches(c) {
			stand, err := r.column(c)
			if err != nil {
				return nil, nil, err
			}
			columns[i] = stand
		}
	}
	f.lists++
	return columns, r.list(f.lists-1, ids), nil
}

// sweptTables are the tables that a stream fills.
type sweptTables struct{ x *outofcore.Executor }

func (s sweptTables) node(t int) rowTable          { return sweptTable{s.x.NodeRows(t)} }
func (s sweptTables) edge(t int) rowTable          { return sweptTable{s.x.EdgeRows(t)} }
func (s sweptTables) fetches(c *graph.Column) bool { return outofcore.Fetches(c) }

type sweptTable struct{ *outofcore.Rows }

func (r sweptTable) column(c *graph.Column) (*graph.Column, error) { return r.Column(c) }

// list finds the places when they are first used.
func (r sweptTable) list(number int, ids func(*made) graph.Index) func(*made) graph.Index {
	return func(m *made) graph.Index {
		p := &m.places[number]
		if !p.found {
			p.rows, p.found = r.Places(p.rows[:0], ids(m)), true
		}
		return graph.Index{U32: p.rows}
	}
}

// begin makes the lists of a batch ready for the next batch.
func (m *made) begin(lists int) {
	if len(m.places) < lists {
		m.places = make([]places, lists)
	}
	for i := range m.places {
		m.places[i].found = false
	}
	m.undivide()
}
