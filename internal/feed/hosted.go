package feed

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/sample"
)

// DialHosts reaches the hosts of a store, given by the checksum of its manifest, for the batches of a sampler with the columns of f. The sampler was made with
// sample.Options.Given.
func DialHosts(ctx context.Context, s *sample.Sampler, f *Features, store, token string, o host.Options) (*host.Client, error) {
	g := s.Graph()
	plan, err := s.Plan().MarshalJSON()
	if err != nil {
		return nil, err
	}
	hello := host.Hello{Token: token, Store: store, Plan: plan, Nodes: map[string][]string{}, Edges: map[string][]string{}}
	for _, n := range g.Nodes {
		hello.Nodes[n.Type] = servedNames(n.Columns, f.names(n.Type))
	}
	for _, e := range g.Edges {
		hello.Edges[e.Type.String()] = servedNames(e.Columns, f.edgeNames(e))
	}
	return host.Dial(ctx, g, hello, o)
}

// servedNames are the columns among names whose rows hosts give, in the order of the graph.
func servedNames(columns []*graph.Column, names []string) (served []string) {
	for _, c := range columns {
		if host.IsServed(c) && slices.Contains(names, c.Name) {
			served = append(served, c.Name)
		}
	}
	return served
}

// NewHostedSource is NewSource for batches whose edges and rows hosts give, which DialHosts has reached for the same sampler and columns. The source closes the client.
func NewHostedSource(c *host.Client, s *sample.Sampler, job sample.Job, f Features, ops bool) (*Source, error) {
	src, err := NewSource(s, job, f, ops)
	if err != nil {
		return nil, err
	}
	src.hosts = c
	return src, nil
}

// hosted is the part of a Maker that asks hosts.
type hosted struct {
	sampling *host.Sampling
	rows     *host.Rows
	tabs     *tables
	src      *Source
	nodes    []*host.Table // by type; nil where batches have no rows of it
	edges    []*host.Table
	lists    []hostedList
	inputs   []sample.Input
}

// hostedList are rows of a batch.
type hostedList struct {
	table *host.Table
	ids   func(*made) graph.Index
}

// newHosted returns the part of a Maker of s that asks hosts, and the columns that read what it was told.
func newHosted(s *Source) (*hosted, []column) {
	g := s.sampler.Graph()
	h := &hosted{sampling: host.NewSampling(s.hosts, s.sampler), rows: host.NewRows(s.hosts), tabs: &tables{numbers: s.tables.numbers}, src: s,
		nodes: make([]*host.Table, len(g.Nodes)), edges: make([]*host.Table, len(g.Edges))}
	columns, err := columnsOf(s.sampler, s.features, s.ops, h.tabs, newFetched(s.sampler, h))
	if err != nil {
		panic(err) // NewSource has made the same columns
	}
	return h, append(columns, s.columns[len(columns):]...) // times
}

func (h *hosted) node(t int) rowTable {
	if h.nodes[t] == nil {
		h.nodes[t] = h.rows.NodeTable(t)
	}
	return hostedTable{h, h.nodes[t]}
}

func (h *hosted) edge(t int) rowTable {
	if h.edges[t] == nil {
		h.edges[t] = h.rows.EdgeTable(t, h.src.sampler.Wide(t))
	}
	return hostedTable{h, h.edges[t]}
}

func (h *hosted) fetches(c *graph.Column) bool { return host.IsServed(c) }

type hostedTable struct {
	of *hosted
	*host.Table
}

func (t hostedTable) column(c *graph.Column) (*graph.Column, error) {
	stand := t.Column(c)
	tab := t.of.tabs.of(stand.Values)
	t.OnFetch(stand, func(values []byte) { tab.at.Store(&values) })
	return stand, nil
}

// list has the places that sample finds.
func (t hostedTable) list(number int, ids func(*made) graph.Index) func(*made) graph.Index {
	t.of.lists = append(t.of.lists, hostedList{t.Table, ids})
	return func(m *made) graph.Index { return graph.Index{U32: m.places[number].rows} }
}

// sample samples the batch of a maker, and fetches its rows.
func (h *hosted) sample(m *Maker, in sample.Input) error {
	h.inputs = h.inputs[:0]
	if m.disjoint == nil {
		h.inputs = append(h.inputs, in)
	} else {
		for i := range len(m.seeds) / m.src.width {
			h.inputs = append(h.inputs, m.one(in, i))
		}
	}
	if err := h.sampling.Fetch(h.inputs); err != nil {
		return err
	}
	if m.disjoint != nil {
		m.disjoint.begin()
	}
	for i := range h.inputs {
		sub, err := h.sampling.Sample(i)
		if err == nil && m.disjoint != nil {
			err = m.disjoint.add(sub)
		}
		if err != nil {
			return err
		}
		m.made.sub = sub
	}
	if m.disjoint != nil {
		m.made.batch, m.made.sub = m.disjoint.batch, m.disjoint.join()
	}
	m.made.begin(len(h.lists))
	h.rows.Begin()
	for number, list := range h.lists {
		p := &m.made.places[number]
		p.rows = list.table.Want(p.rows[:0], list.ids(&m.made))
	}
	return h.rows.Fetch()
}
