package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dglGraphs is a file written by DGL's save_graphs, with one graph or many. Its columns are the node data, the edge
// data, and the labels, which have one row per graph.
type dglGraphs struct{}

func (dglGraphs) name() string  { return "dgl" }
func (dglGraphs) about() string { return ".bin or .dgl of DGL's save_graphs" }
func (dglGraphs) becomes() string {
	return "a graph with its types and data; several graphs become a collection"
}
func (dglGraphs) detect(path string, names []string) bool {
	return names == nil && slices.Contains([]string{".bin", ".dgl"}, filepath.Ext(path))
}

func (dglGraphs) open(_ context.Context, fsys vfs.FS, path string, o Options) (_ *Source, err error) {
	f, err := dgl.OpenGraphs(fsys, path)
	if err != nil {
		return nil, err
	}
	defer closing(&err, f)
	s := &Source{Primary: graph.In, Files: []string{path}}
	d := &dglFile{fsys: fsys, path: path, s: s}
	switch n := f.Len(); n {
	case 0:
		return nil, sourcef("%s: found no graphs, expected at least one", path)
	case 1:
		g, err := f.Graph(0)
		if err != nil {
			return nil, err
		}
		return s, d.one(g, d.labels(f))
	default:
		return s, d.many(f)
	}
}

// dglDTypes maps DGL's dtypes to package graph's.
var dglDTypes = map[dgl.DType]graph.DType{
	dgl.Int8: graph.Int8, dgl.Int16: graph.Int16, dgl.Int32: graph.Int32, dgl.Int64: graph.Int64,
	dgl.Uint8: graph.Uint8, dgl.Uint16: graph.Uint16, dgl.Uint32: graph.Uint32, dgl.Uint64: graph.Uint64,
	dgl.Float16: graph.Float16, dgl.BFloat16: graph.BFloat16, dgl.Float32: graph.Float32, dgl.Float64: graph.Float64, dgl.Bool: graph.Bool,
}

// dglFile makes tables from the arrays of a file.
type dglFile struct {
	fsys vfs.FS
	path string
	s    *Source
}

// raw returns an array as a column. ok is false if a row of the array has no values, so that no column can hold it.
func (d *dglFile) raw(of string, a dgl.Array) (c arrayfiles.RawColumn, ok bool) {
	c.Name, c.DType = a.Name, dglDTypes[a.DType]
	for _, n := range a.RowShape() {
		if n == 0 {
			d.s.Warnings = append(d.s.Warnings, fmt.Sprintf("%s: the data %q of %s are left out: a row of shape %v has no values", d.path, a.Name, of, a.RowShape()))
			return c, false
		}
		c.Shape = append(c.Shape, int(n))
	}
	c.Runs = []arrayfiles.Run{{Path: d.path, Offset: a.Offset, Rows: uint64(a.Rows())}}
	return c, true
}

// raws returns arrays as columns, without those that no column can hold.
func (d *dglFile) raws(of string, list []dgl.Array) (columns []arrayfiles.RawColumn) {
	for _, a := range list {
		if c, ok := d.raw(of, a); ok {
			columns = append(columns, c)
		}
	}
	return columns
}

// labels returns the labels that have one row per graph, as columns.
func (d *dglFile) labels(f *dgl.Graphs) []arrayfiles.RawColumn {
	return d.raws("the labels", slices.DeleteFunc(slices.Clone(f.Labels), func(a dgl.Array) bool {
		odd := len(a.Shape) == 0 || a.Rows() != int64(f.Len())
		if odd {
			d.s.Warnings = append(d.s.Warnings, fmt.Sprintf("%s: the labels %q are left out: found shape %v, expected a row for each of %d graphs", d.path, a.Name, a.Shape, f.Len()))
		}
		return odd
	}))
}

// asked asks for columns as they are.
func asked(columns []arrayfiles.RawColumn) (list []table.Column) {
	for _, c := range columns {
		list = append(list, table.Column{Name: c.Name, DType: c.DType, Shape: c.Shape})
	}
	return list
}

// one makes a source of one graph.
func (d *dglFile) one(g *dgl.Graph, labels []arrayfiles.RawColumn) error {
	in := &d.s.Input
	if labels != nil {
		t, err := arrayfiles.OpenRaw(d.fsys, labels)
		if err != nil {
			return err
		}
		in.Context = &assemble.Context{Table: t, Columns: asked(labels)}
	}
	for _, n := range g.NodeTypes {
		node := assemble.Nodes{Type: n.Name, ID: table.Column{DType: graph.Uint64}, Count: uint64(n.Nodes)}
		if raws := d.raws(n.Name, n.Data); raws != nil {
			t, err := arrayfiles.OpenRaw(d.fsys, raws)
			if err != nil {
				return err
			}
			node = assemble.Nodes{Type: n.Name, Table: t, Columns: asked(raws)}
		}
		in.Nodes = append(in.Nodes, node)
	}
	for i := range g.Relations {
		r := &g.Relations[i]
		e := assemble.Edges{Type: dglEdgeType(g, r)}
		raws := d.raws(e.Type.String(), r.Data)
		e.Columns = asked(raws)
		src, dst := endNames(raws)
		e.Src, e.Dst = keyColumn(src, true), keyColumn(dst, true)
		var err error
		if e.Table, err = d.edges(g, r, raws, src, dst); err != nil {
			return err
		}
		in.Edges = append(in.Edges, e)
	}
	return checkTwice(in)
}

func dglEdgeType(g *dgl.Graph, r *dgl.Relation) graph.EdgeType {
	return graph.EdgeType{Src: g.NodeTypes[r.Src].Name, Rel: r.Name, Dst: g.NodeTypes[r.Dst].Name}
}

// endNames returns names for the ends that no column has.
func endNames(columns []arrayfiles.RawColumn) (src, dst string) {
	src, dst = "src", "dst"
	for slices.ContainsFunc(columns, func(c arrayfiles.RawColumn) bool { return c.Name == src || c.Name == dst }) {
		src, dst = "#"+src, "#"+dst
	}
	return src, dst
}

// edges returns the table of a relation, with one row per edge in the order of the edge ids.
func (d *dglFile) edges(g *dgl.Graph, r *dgl.Relation, raws []arrayfiles.RawColumn, src, dst string) (table.Table, error) {
	column := func(name string, a dgl.Array) arrayfiles.RawColumn {
		a.Name = name
		c, _ := d.raw("", a) // a row of a is one value
		return c
	}
	if r.COO != nil && r.COO.EdgeIDs.Rows() == 0 {
		return arrayfiles.OpenRaw(d.fsys, append([]arrayfiles.RawColumn{column(src, r.COO.Src), column(dst, r.COO.Dst)}, raws...))
	}
	t := &scattered{fsys: d.fsys, path: d.path, src: src, dst: dst}
	t.add(g, r)
	d.s.Held = max(d.s.Held, 8*r.Edges)
	if raws == nil {
		return t, nil
	}
	beside, err := arrayfiles.OpenRaw(d.fsys, raws)
	if err != nil {
		return nil, err
	}
	return arrayfiles.Beside(t, beside), nil
}
