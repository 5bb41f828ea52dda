package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
)

// dglType collects a node type or relation of many graphs: its counts, and one column per array, with one run per
// graph.
type dglType struct {
	name    string
	counts  *numbers
	columns []arrayfiles.RawColumn
	left    []string // arrays without values
}

// add adds the arrays of one more graph, which must have the names, dtypes and shapes of the first graph's.
func (d *dglFile) add(t *dglType, g int, count int64, list []dgl.Array) error {
	t.counts.values = append(t.counts.values, uint64(count))
	list = slices.DeleteFunc(slices.Clone(list), func(a dgl.Array) bool { return slices.Contains(t.left, a.Name) })
	if g == 0 {
		t.columns = d.raws(t.name, list)
		for _, a := range list {
			if !slices.ContainsFunc(t.columns, func(c arrayfiles.RawColumn) bool { return c.Name == a.Name }) {
				t.left = append(t.left, a.Name)
			}
		}
		return nil
	}
	if len(list) != len(t.columns) {
		return sourcef("%s: found %d arrays of %s in graph %d, expected %d, as in graph 0; give all graphs the same data, or split the file", d.path, len(list), t.name, g, len(t.columns))
	}
	for i := range t.columns {
		c := &t.columns[i]
		k := slices.IndexFunc(list, func(a dgl.Array) bool { return a.Name == c.Name })
		if k < 0 {
			return sourcef("%s: found no data %q of %s in graph %d, expected them, as in graph 0", d.path, c.Name, t.name, g)
		}
		got, ok := d.raw(t.name, list[k])
		if !ok || got.DType != c.DType || !slices.Equal(got.Shape, c.Shape) {
			return sourcef("%s: found the data %q of %s in graph %d as %s %v, expected %s %v, as in graph 0; give all graphs data of one dtype and shape, or split the file", d.path, c.Name, t.name, g, got.DType, got.Shape, c.DType, c.Shape)
		}
		c.Runs = append(c.Runs, got.Runs...)
	}
	return nil
}

// rows returns the columns in the form for a collection.
func (d *dglFile) rows(columns []arrayfiles.RawColumn) ([]collection.Rows, error) {
	if columns == nil {
		return nil, nil
	}
	t, err := arrayfiles.OpenRaw(d.fsys, columns)
	if err != nil {
		return nil, err
	}
	r := collection.Rows{Table: t}
	for _, c := range asked(columns) {
		r.Columns = append(r.Columns, collection.Column{Column: c})
	}
	return []collection.Rows{r}, nil
}

// many makes a source of many graphs, which must have the same types and data.
func (d *dglFile) many(f *dgl.Graphs) error {
	in := &collection.Input{}
	d.s.Collection = in
	var nodes []dglType
	var edges []dglEdges
	for i := range f.Len() {
		g, err := f.Graph(i)
		if err != nil {
			return err
		}
		if i == 0 {
			nodes, edges = make([]dglType, len(g.NodeTypes)), make([]dglEdges, len(g.Relations))
		} else if len(nodes) != len(g.NodeTypes) || len(edges) != len(g.Relations) {
			return sourcef("%s: found %d node types and %d relations in graph %d, expected %d and %d, as in graph 0; save graphs of other types in files of their own", d.path, len(g.NodeTypes), len(g.Relations), i, len(nodes), len(edges))
		}
		for k := range nodes {
			n := &g.NodeTypes[k]
			if i == 0 {
				nodes[k] = dglType{name: n.Name, counts: &numbers{path: d.path}}
			} else if nodes[k].name != n.Name {
				return sourcef("%s: found node type %q in graph %d, expected %q, as in graph 0; split the file by the types of the graphs", d.path, n.Name, i, nodes[k].name)
			}
			if err := d.add(&nodes[k], i, n.Nodes, n.Data); err != nil {
				return err
			}
		}
		for k := range edges {
			r := &g.Relations[k]
			if i == 0 {
				e := dglEdgeType(g, r)
				edges[k] = dglEdges{dglType: dglType{name: e.String(), counts: &numbers{path: d.path}}, of: e, plain: true, scattered: &scattered{fsys: d.fsys, path: d.path}}
			}
			if err := d.addEdges(&edges[k], i, g, r); err != nil {
				return err
			}
		}
	}
	for i := range nodes {
		rows, err := d.rows(nodes[i].columns)
		if err != nil {
			return err
		}
		in.Nodes = append(in.Nodes, collection.Nodes{Type: nodes[i].name, Split: nodes[i].counts.split(), Tables: rows})
	}
	for i := range edges {
		e, err := d.collected(&edges[i])
		if err != nil {
			return err
		}
		in.Edges = append(in.Edges, e)
	}
	var err error
	in.Context, err = d.rows(d.labels(f))
	return err
}

// dglEdges collects a relation of many graphs.
type dglEdges struct {
	dglType
	of       graph.EdgeType
	plain    bool // all edges are in COO, in the order of their ids
	src, dst []arrayfiles.Run
	dtype    graph.DType
	*scattered
}

func (d *dglFile) addEdges(e *dglEdges, i int, g *dgl.Graph, r *dgl.Relation) error {
	if of := dglEdgeType(g, r); of != e.of {
		return sourcef("%s: found edge type %s in graph %d, expected %s, as in graph 0; split the file by the types of the graphs", d.path, of, i, e.of)
	}
	e.scattered.add(g, r)
	if e.plain = e.plain && r.COO != nil && r.COO.EdgeIDs.Rows() == 0; e.plain {
		dtype := dglDTypes[r.COO.Src.DType]
		if i == 0 {
			e.dtype = dtype
		}
		e.plain = dtype == e.dtype
		e.src = append(e.src, arrayfiles.Run{Path: d.path, Offset: r.COO.Src.Offset, Rows: uint64(r.Edges)})
		e.dst = append(e.dst, arrayfiles.Run{Path: d.path, Offset: r.COO.Dst.Offset, Rows: uint64(r.Edges)})
	}
	return d.add(&e.dglType, i, r.Edges, r.Data)
}

func (d *dglFile) collected(e *dglEdges) (c collection.Edges, err error) {
	src, dst := endNames(e.columns)
	c = collection.Edges{Type: e.of, Split: e.counts.split(), Src: src, Dst: dst}
	if c.Beside, err = d.rows(e.columns); err != nil {
		return c, err
	}
	if e.plain {
		c.Table, err = arrayfiles.OpenRaw(d.fsys, []arrayfiles.RawColumn{
			{Field: table.Field{Name: src, DType: e.dtype}, Runs: e.src}, {Field: table.Field{Name: dst, DType: e.dtype}, Runs: e.dst}})
		return c, err
	}
	e.scattered.src, e.scattered.dst = src, dst
	c.Table = e.scattered
	return c, nil
}

// numbers is a table of one column in memory: a count per graph.
type numbers struct {
	path   string
	values []uint64
}

const numbersField = "count"

func (t *numbers) split() collection.Split {
	return collection.Split{Kind: collection.Counts, Table: t, Column: numbersField}
}

// Fields implements table.Table.
func (t *numbers) Fields() []table.Field {
	return []table.Field{{Name: numbersField, DType: graph.Uint64}}
}

// Files implements table.Table.
func (t *numbers) Files() []string { return []string{t.path} }

// Bytes implements table.Table.
func (t *numbers) Bytes() int64 { return 8 * int64(len(t.values)) }

// Where implements table.Table: "graphs.bin, graph 17".
func (t *numbers) Where(row uint64, _ string) string { return fmt.Sprintf("%s, graph %d", t.path, row) }

// Scan implements table.Table for its column, as Uint64.
func (t *numbers) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for _, c := range columns {
		if c.DType != graph.Uint64 || c.Name != numbersField {
			return 0, errors.New("found a request for another column, expected the counts as uint64")
		}
	}
	return table.Fill(ctx, uint64(len(t.values)), columns, threads, func(_ int, c *table.Chunk) error {
		for i := range columns {
			copy(graph.View[uint64](c.Columns[i].Data), t.values[c.First:][:c.Rows])
		}
		return nil
	}, fn)
}
