package graphmill

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Loader samples batches from a store: subgraphs around seeds, with the columns that training needs. Batches and the feed
// of the Python client use it. Close it before the store.
type Loader struct {
	source  *feed.Source
	sampler *sample.Sampler
	o       SampleOptions
}

// NewLoader prepares to sample batches from a store in memory. It refuses ExecutorStream and a Format, as batches are not
// files.
func NewLoader(ctx context.Context, st *Store, o SampleOptions) (_ *Loader, err error) {
	defer guard.Catch(&err)()
	if err := o.check(); err != nil {
		return nil, err
	}
	switch {
	case o.Executor == ExecutorStream:
		return nil, usagef("found `Executor` stream, expected auto or memory: batches are made in memory")
	case o.Format != FormatCollection:
		return nil, usagef("found `Format` %s, expected none: batches are not files", o.Format)
	}
	if name := firstGiven(option{"NoEdgeIDs", o.NoEdgeIDs}, option{"GraphSchema", o.GraphSchema != ""}, option{"Resume", o.Resume}, option{"Cluster", o.Cluster != nil}, option{"CheckpointEvery", o.CheckpointEvery != 0},
		option{"Overwrite", o.Overwrite}); name != "" {
		return nil, usagef("found `%s` with batches, expected it with output files", name)
	}
	s := st.store
	p, err := o.resolve(ctx, s)
	if err != nil {
		return nil, err
	}
	nodes, edges, err := o.features(s.Graph)
	if err != nil {
		return nil, err
	}
	joined, err := o.joinedColumns(s.Graph, nodes, edges)
	if err != nil {
		return nil, err
	}
	order, err := seedOrder(o.Order, s.Graph, p)
	if err != nil {
		return nil, err
	}
	need := samplerBytes(s.Graph, p.plan, o.Threads) + columnBytes(s.Graph, nodes, edges, joined) + orderBytes(order)
	sampler, err := newSampler(s, p.plan, need, o.Memory,
		sample.Options{Ops: o.Ops, Warn: func(text string) { o.warn("%s", text) }})
	if err != nil {
		return nil, err
	}
	l := &Loader{sampler: sampler, o: o}
	features := feed.Features{Nodes: nodes, Edges: edges, Joined: joined, Links: linkColumns(p.columns), LeftOut: o.leftOut(s.Graph, p.columns)}
	if l.source, err = feed.NewSource(sampler, p.job, features, o.Ops); err == nil && order != nil {
		err = l.source.SetOrder(order)
	}
	if err != nil {
		sampler.Close()
		return nil, err
	}
	l.load(s)
	return l, nil
}

// load begins to copy the columns into memory, where rows are found faster, as far as the memory allows.
func (l *Loader) load(s *store.Store) {
	spare := l.sampler.Spare()
	if l.o.Memory == 0 {
		spare = available(vfs.OS) / 2
	}
	// The copies replace the mapped columns, whose pages the system may drop.
	l.source.Load(spare, func() { _ = s.Release() })
}

// Close frees the memory of the loader. None of its batches may be in use.
func (l *Loader) Close() {
	l.source.Close()
	l.sampler.Close()
}

// Source returns the source of batches for the servers of this module, the feed and Flight. Other programs use Batches.
func (l *Loader) Source() *feed.Source { return l.source }

// joinedColumns returns the columns that are made of several ones, in the order of their names.
func (o *SampleOptions) joinedColumns(g *graph.Graph, nodes, edges map[string][]string) ([]feed.Joined, error) {
	var out []feed.Joined
	for _, key := range slices.Sorted(maps.Keys(o.Joined)) {
		at := strings.LastIndex(key, "/")
		if at < 0 {
			return nil, usagef("`Joined`: found %q, expected TYPE/NAME", key)
		}
		j := feed.Joined{Type: key[:at], Name: key[at+1:], Columns: o.Joined[key]}
		if t, err := g.EdgeType(j.Type); g.NodeType(j.Type) < 0 && (err != nil || g.Edges[t].Type.String() != j.Type) {
			return nil, usagef("`Joined`: found %q, expected a node type, or an edge type by its three names", j.Type)
		}
		if j.Name == "" || slices.Contains(nodes[j.Type], j.Name) || slices.Contains(edges[j.Type], j.Name) {
			return nil, usagef("`Joined`: found the name %q, expected one that no column of the batch has", key)
		}
		out = append(out, j)
	}
	return out, nil
}

// columnBytes returns the size of the columns that batches read: those listed by type, those that are joined, and the
// positions of edges.
func columnBytes(g *graph.Graph, nodes, edges map[string][]string, joined []feed.Joined) (n int64) {
	add := func(columns []*graph.Column, names ...string) {
		for _, name := range names {
			if c := graph.FindColumn(columns, name); c != nil {
				n += int64(len(c.Values))
			}
		}
	}
	for _, j := range joined {
		if t := g.NodeType(j.Type); t >= 0 {
			add(g.Nodes[t].Columns, j.Columns...)
		} else if t, err := g.EdgeType(j.Type); err == nil {
			add(g.Edges[t].Columns, j.Columns...)
		}
	}
	for _, t := range g.Nodes {
		add(t.Columns, nodes[t.Type]...)
	}
	for _, e := range g.Edges {
		add(e.Columns, graph.PositionColumn)
		add(e.Columns, edges[e.Type.String()]...)
	}
	return n
}

// features returns the columns of nodes and edges that batches have, by type.
func (o *SampleOptions) features(g *graph.Graph) (nodes, edges map[string][]string, err error) {
	nodeTypes, edgeTypes := map[string][]*graph.Column{}, map[string][]*graph.Column{}
	for _, n := range g.Nodes {
		nodeTypes[n.Type] = n.Columns
	}
	for _, e := range g.Edges {
		edgeTypes[e.Type.String()] = e.Columns
	}
	names := o.Features
	if names == nil {
		names = []string{"all"}
	}
	nodes, errNodes := namedColumns("Features", names, nodeTypes)
	edges, errEdges := namedColumns("EdgeFeatures", o.EdgeFeatures, edgeTypes)
	return nodes, edges, errors.Join(errNodes, errEdges)
}

// leftOut names the columns that "all" would list if batches could have them.
func (o *SampleOptions) leftOut(g *graph.Graph, links []*graph.Column) []string {
	all := func(names []string) bool { return len(names) == 1 && names[0] == "all" }
	asked := &graph.Graph{}
	if o.Features == nil || all(o.Features) {
		asked.Nodes = g.Nodes
	}
	if all(o.EdgeFeatures) {
		asked.Edges = g.Edges
	}
	names := notInBatches(asked)
	for _, c := range links {
		if !inBatches(c) {
			names = append(names, "links/"+c.Name)
		}
	}
	return names
}

// namedColumns returns the listed columns by type; "all" lists every column of numbers with a fixed shape. A name without
// a type stands for the column of every type that has it.
func namedColumns(field string, names []string, types map[string][]*graph.Column) (map[string][]string, error) {
	out := map[string][]string{}
	if len(names) == 1 && names[0] == "all" {
		for t, columns := range types {
			for _, c := range columns {
				if inBatches(c) && !strings.HasPrefix(c.Name, "#") {
					out[t] = append(out[t], c.Name)
				}
			}
		}
		return out, nil
	}
	for _, item := range names {
		found := false
		for t, columns := range types {
			for _, c := range columns {
				if item == c.Name || item == t+"/"+c.Name {
					out[t] = append(out[t], c.Name)
					found = true
				}
			}
		}
		if !found {
			return nil, usagef("`%s`: found no column %q, expected COLUMN or TYPE/COLUMN of the store; graphmill info lists them", field, item)
		}
	}
	return out, nil
}

// seedOrder returns the order that the field Order describes, nil for none.
func seedOrder(text string, g *graph.Graph, p *planned) (batch.Order, error) {
	if text == "" {
		return nil, nil
	}
	law, of, _ := strings.Cut(text, ":")
	switch law {
	case "weighted", "stratified":
		c, rows, err := seedColumn(of, g, p)
		if err != nil {
			return nil, usagef("`Order`: %w", err)
		}
		by := feed.WeightedBy
		if law == "stratified" {
			by = feed.StratifiedBy
		}
		o, err := by(c, rows)
		if err != nil {
			return nil, usagef("`Order`: %w", err)
		}
		return o, nil
	case "windowed":
		first, second, _ := strings.Cut(of, ",")
		block, errBlock := strconv.ParseUint(first, 10, 32)
		window, errWindow := strconv.ParseUint(second, 10, 32)
		if errBlock != nil || errWindow != nil || block == 0 || window == 0 {
			return nil, usagef("found `Order` %s, expected windowed:BLOCK,BLOCKS: seeds per block, and the number of blocks that are shuffled together, such as windowed:4096,16", text)
		}
		return batch.Windowed(uint64(p.seeds()), block, window)
	}
	return nil, usagef("found `Order` %s, expected weighted:COLUMN, stratified:COLUMN or windowed:BLOCK,BLOCKS", text)
}

// seedColumn returns a column of the seed nodes or links, and the row of each seed.
func seedColumn(name string, g *graph.Graph, p *planned) (*graph.Column, []uint32, error) {
	var columns []*graph.Column
	var what string
	var rows []uint32
	if p.plan.Link() {
		columns, what = p.columns, "the links"
		for i := range uint32(p.seeds()) {
			rows = append(rows, i)
		}
	} else {
		n := g.Nodes[g.NodeType(p.plan.SeedType[0])]
		columns, what, rows = n.Columns, "node type "+n.Type, p.job.Seeds
	}
	if c := graph.FindColumn(columns, name); c != nil {
		return c, rows, nil
	}
	var have []string
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "#") {
			have = append(have, c.Name)
		}
	}
	return nil, nil, usagef("found no column %q of %s, expected one of %s", name, what, strings.Join(have, ", "))
}

// orderBytes returns the memory that an order takes.
func orderBytes(o batch.Order) int64 {
	if o == nil {
		return 0
	}
	return 32 * int64(o.Items()) // the largest lists that an order holds, and those it is made from
}

// linkColumns returns the columns of links that batches can have: numbers of a fixed shape.
func linkColumns(columns []*graph.Column) []*graph.Column {
	var out []*graph.Column
	for _, c := range columns {
		if inBatches(c) {
			out = append(out, c)
		}
	}
	return out
}
