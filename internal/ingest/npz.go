package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/npz"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// npzArrays is an archive of NumPy arrays with one graph: a sparse matrix of SciPy, or the ends of edges and arrays with
// a row per node or per edge.
type npzArrays struct{}

func (npzArrays) name() string { return "npz" }
func (npzArrays) about() string {
	return ".npz with a sparse matrix of SciPy, or with edge_index, edges or src and dst"
}
func (npzArrays) becomes() string {
	return "a graph of one type, or row and column for a matrix that is not square; arrays become columns"
}
func (npzArrays) detect(path string, names []string) bool {
	return names == nil && filepath.Ext(path) == npzSuffix
}

func (npzArrays) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with arrays, expected integer ids")
	}
	a, err := o.arrays.Archive(path)
	if err != nil {
		return nil, arrayError(err)
	}
	z := &archived{ctx: ctx, fsys: fsys, Archive: a, o: o, s: &Source{Primary: graph.In, Files: []string{path}}}
	if a.Has("format") && a.Has("shape") {
		err = z.matrix()
	} else {
		err = z.graph()
	}
	return z.s, err
}

// archived is an archive whose graph is being opened.
type archived struct {
	*npz.Archive
	ctx  context.Context
	fsys vfs.FS
	o    Options
	s    *Source
}

func (z *archived) warn(format string, a ...any) {
	z.s.Warnings = append(z.s.Warnings, z.Path()+": "+fmt.Sprintf(format, a...))
}

// array returns an array as a column.
func (z *archived) array(member, name string) (arrayfiles.NpyColumn, error) {
	path, err := z.o.arrays.Array(z.ctx, z.Path(), member)
	return arrayfiles.NpyColumn{Name: name, Path: path}, arrayError(err)
}

// counted returns the number of nodes: as the archive says, or the larger number of the options.
func (z *archived) counted(n uint64, says string) (uint64, error) {
	if z.o.NumNodes > 0 && z.o.NumNodes < n {
		return 0, usagef("found %d nodes in %s of %s, expected at most the %d of `NumNodes`", n, says, z.Path(), z.o.NumNodes)
	}
	return max(n, z.o.NumNodes), nil
}

// matrix opens a sparse matrix as scipy.sparse.save_npz writes it. Its entry in row i and column j is the edge from i to
// j, with the value as weight.
func (z *archived) matrix() error {
	kind, err := z.Text("format")
	if err != nil {
		return arrayError(err)
	}
	shape, ok, err := z.Int64s("shape")
	if err != nil {
		return arrayError(err)
	}
	if !ok || len(shape) != 2 || shape[0] < 0 || shape[1] < 0 {
		return sourcef("%s: found the shape %v, expected a matrix, which has two dimensions; write the matrix again with scipy.sparse.save_npz", z.Path(), shape)
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Src: keyColumn("src", true), Dst: keyColumn("dst", true)}
	weight, err := z.array("data", "weight")
	if err != nil {
		return err
	}
	switch kind {
	case "csr", "csc":
		indptr, err := z.array("indptr", "")
		if err != nil {
			return err
		}
		indices, err := z.array("indices", "")
		if err != nil {
			return err
		}
		t, err := arrayfiles.OpenCSC(z.fsys, indptr.Path, indices.Path)
		if err != nil {
			return err
		}
		lists := shape[1]
		if kind == "csr" { // src and dst are named as if rows were destinations
			lists = shape[0]
			e.Src, e.Dst = e.Dst, e.Src
		}
		if t.Nodes() != uint64(lists) {
			return sourcef("%s: found an indptr of %d rows, expected %d, as the shape %v says; write the matrix again with scipy.sparse.save_npz", z.Path(), t.Nodes(), lists, shape)
		}
		data, err := arrayfiles.OpenNpy(z.fsys, []arrayfiles.NpyColumn{weight})
		if err != nil {
			return err
		}
		e.Table = arrayfiles.Beside(t, data)
	case "coo":
		row, err := z.array("row", "src")
		if err != nil {
			return err
		}
		column, err := z.array("col", "dst")
		if err != nil {
			return err
		}
		if e.Table, err = arrayfiles.OpenNpy(z.fsys, []arrayfiles.NpyColumn{row, column, weight}); err != nil {
			return err
		}
	default:
		return sourcef("%s: found a sparse matrix in the format %s, expected csr, csc or coo; save A.tocsr()", z.Path(), kind)
	}
	for _, f := range e.Table.Fields() {
		if f.Name == weight.Name {
			e.Columns = []table.Column{featureOf(f)}
		}
	}
	z.s.Input, err = z.o.matrix(z.Path(), [2]uint64{uint64(shape[0]), uint64(shape[1])}, e)
	return err
}

// matrix returns the graph of a matrix whose entries are e. The rows and columns of a square one are the same nodes.
// Those of another one are two node types.
func (o Options) matrix(path string, shape [2]uint64, e assemble.Edges) (in assemble.Input, err error) {
	types := []string{"row", "column"}
	if shape[0] == shape[1] {
		if o.NumNodes > 0 && o.NumNodes < shape[0] {
			return in, usagef("found %d nodes in %s, expected at most the %d of `NumNodes`", shape[0], path, o.NumNodes)
		}
		shape[0], types = max(shape[0], o.NumNodes), []string{graph.HomogeneousNode}
	} else {
		if o.NumNodes > 0 {
			return in, usagef("found `NumNodes` with a matrix of shape %v in %s, expected it with a square one; this one has two node types", shape, path)
		}
		e.Type = graph.EdgeType{Src: types[0], Rel: graph.HomogeneousEdge.Rel, Dst: types[1]}
	}
	in.Edges = []assemble.Edges{e}
	for i, name := range types {
		n := assemble.Nodes{Type: name, ID: keyColumn("", true), Count: shape[i]}
		if n.Count == 0 { // a count of 0 would mean that it is not known
			if n.Table, err = o.none(path + ", " + name); err != nil {
				return in, err
			}
		}
		in.Nodes = append(in.Nodes, n)
	}
	return in, nil
}

// none returns a table without rows.
func (o Options) none(what string) (*arrayfiles.Npy, error) {
	path := what + " (no rows)"
	err := o.arrays.New(path, "u1", []int{0}, func(vfs.File, int64) error { return nil })
	if err != nil {
		return nil, err
	}
	return arrayfiles.OpenNpy(o.arrays, []arrayfiles.NpyColumn{{Name: "#", Path: path}})
}

// npzEnds are the arrays of ends, besides edge_index.
var npzEnds = [][2]string{{"src", "dst"}, {"source", "target"}, {"row", "col"}}

// nodeNames are arrays of nodes in PyG.
var nodeNames = []string{"x", "y", "pos", "train_mask", "val_mask", "test_mask"}

// graph opens edge_index, or two arrays of ends, and the arrays with a row per node or per edge.
func (z *archived) graph() error {
	e := assemble.Edges{Type: graph.HomogeneousEdge, Src: keyColumn("src", true), Dst: keyColumn("dst", true)}
	ends, used, err := z.openEnds()
	if err != nil {
		return err
	}
	e.Table = ends
	rows, err := z.rows(append(used, "num_nodes", "num_edges"))
	if err != nil {
		return err
	}
	count, known, err := z.nodes(rows, ends.Rows())
	if err != nil {
		return err
	}
	nodes, edges, err := z.divide(rows, ends.Rows(), count, known)
	if err != nil {
		return err
	}
	n := assemble.Nodes{Type: graph.HomogeneousNode, ID: keyColumn("", true), Count: count}
	if nodes != nil {
		t, err := arrayfiles.OpenNpy(z.fsys, nodes)
		if err != nil {
			return err
		}
		n.Table, n.Columns, n.Count = t, z.columns(t), 0
		if count < z.o.NumNodes {
			return usagef("found `NumNodes` %d, expected %d, the rows of %q in %s", z.o.NumNodes, count, nodes[0].Name, z.Path())
		}
	} else if known && count == 0 {
		if n.Table, err = z.o.none(z.Path() + ", nodes"); err != nil {
			return err
		}
	}
	if edges != nil {
		t, err := arrayfiles.OpenNpy(z.fsys, edges)
		if err != nil {
			return err
		}
		if t.Rows() != ends.Rows() {
			return sourcef("%s: found %d rows, expected %d; write the arrays of one graph together", edges[0].Path, t.Rows(), ends.Rows())
		}
		e.Columns, e.Table = z.columns(t), arrayfiles.Beside(ends, t)
	}
	z.s.Input.Nodes, z.s.Input.Edges = []assemble.Nodes{n}, []assemble.Edges{e}
	return nil
}

// openEnds opens the arrays of the ends of edges. used has edge_index and the names of these arrays.
func (z *archived) openEnds() (ends *arrayfiles.Npy, used []string, err error) {
	used = []string{"edge_index"}
	split := slices.IndexFunc(npzEnds, func(n [2]string) bool { return z.Has(n[0]) && z.Has(n[1]) })
	if z.Has("edge_index") || z.Has("edges") && split < 0 {
		pairs := "edge_index"
		if !z.Has(pairs) {
			pairs = "edges"
			used = append(used, pairs)
		}
		a, err := z.array(pairs, "")
		if err != nil {
			return nil, nil, err
		}
		ends, err = arrayfiles.OpenPairs(z.fsys, a.Path)
		return ends, used, err
	}
	if split < 0 {
		return nil, nil, sourcef("%s: found the arrays %s, expected edge_index or edges, or src and dst, or the arrays of a sparse matrix of SciPy; rename the arrays, or name their files in a graph.yaml", z.Path(), strings.Join(z.Names(), ", "))
	}
	var columns []arrayfiles.NpyColumn
	for k, to := range []string{"src", "dst"} {
		c, err := z.array(npzEnds[split][k], to)
		if err != nil {
			return nil, nil, err
		}
		columns = append(columns, c)
		used = append(used, npzEnds[split][k])
	}
	ends, err = arrayfiles.OpenNpy(z.fsys, columns)
	return ends, used, err
}

// divide gives each array to the nodes or to the edges, and warns of those that are of neither. known says whether count is the number
// of nodes.
func (z *archived) divide(rows []arrayRows, edgeCount, count uint64, known bool) (nodes, edges []arrayfiles.NpyColumn, err error) {
	for _, x := range rows {
		to := &nodes
		switch ofNodes, ofEdges := x.of(); {
		case ofEdges && x.rows != edgeCount:
			return nil, nil, sourcef("%s: found %d rows of %q, expected %d, one per edge; write one row per edge", z.Path(), x.rows, x.name, edgeCount)
		case ofNodes && x.rows != count:
			return nil, nil, sourcef("%s: found %d rows of %q, expected %d, one per node; write one row per node", z.Path(), x.rows, x.name, count)
		case ofEdges, !ofNodes && x.rows == edgeCount && !(known && x.rows == count):
			to = &edges
		case !known || x.rows != count:
			remedy := ""
			if known && x.rows > 1 && x.width == count {
				remedy = fmt.Sprintf("; save its transpose for a column of %d values per node", x.rows)
			}
			z.warn("the array %q is left out: it has %d rows, and there are %d edges and %s%s", x.name, x.rows, edgeCount, map[bool]string{true: fmt.Sprint(count, " nodes"), false: "an unknown number of nodes"}[known], remedy)
			continue
		}
		if to == &edges && (x.name == "src" || x.name == "dst") {
			z.warn("the array %q is left out: the ends are those of edge_index", x.name)
			continue
		}
		c, err := z.array(x.name, x.name)
		if err != nil {
			return nil, nil, err
		}
		*to = append(*to, c)
	}
	return nodes, edges, nil
}

func (z *archived) columns(t table.Table) (columns []table.Column) {
	for _, f := range t.Fields() {
		columns = append(columns, featureOf(f))
	}
	return columns
}

// arrayRows is an array that may be a column.
type arrayRows struct {
	name        string
	rows, width uint64 // the width of a matrix, or 0
}

// of says whether the name is one of arrays of nodes, or of edges.
func (x arrayRows) of() (nodes, edges bool) {
	return slices.Contains(nodeNames, x.name) || strings.HasPrefix(x.name, "node_"), strings.HasPrefix(x.name, "edge_")
}

// rows lists the arrays that may be columns. Others are left out with a warning, and damaged ones are errors.
func (z *archived) rows(but []string) (list []arrayRows, err error) {
	for _, name := range z.Names() {
		if slices.Contains(but, name) {
			continue
		}
		h, err := z.Header(name)
		if err != nil { // an array that is not meant is left out, but damage can make it look so
			if err := z.Check(z.ctx, name); err != nil {
				return nil, arrayError(err)
			}
		}
		switch {
		case err != nil:
			z.warn("the array %q is left out: %v", name, err)
		case len(h.Shape) == 0:
			z.warn("the array %q is left out: it is a single value, not one per node or edge", name)
		case slices.Contains(h.Shape[1:], 0):
			z.warn("the array %q is left out: its rows have no values", name)
		default:
			x := arrayRows{name: name, rows: uint64(h.Shape[0])}
			if len(h.Shape) == 2 {
				x.width = uint64(h.Shape[1])
			}
			list = append(list, x)
		}
	}
	return list, nil
}

// nodes returns the number of nodes: num_nodes or, without it, the rows of the arrays of nodes: those with such a name
// or else of the first array that has another number of rows than there are edges.
func (z *archived) nodes(rows []arrayRows, edges uint64) (count uint64, known bool, err error) {
	switch {
	case z.Has("num_nodes"):
		v, ok, err := z.Int64s("num_nodes")
		if err != nil {
			return 0, false, arrayError(err)
		}
		if !ok || len(v) != 1 || v[0] < 0 {
			return 0, false, sourcef("%s:num_nodes: found %v, expected the number of nodes; correct the array, or leave it out", z.Path(), v)
		}
		count, known = uint64(v[0]), true
	default:
		for _, x := range rows {
			if nodes, _ := x.of(); nodes {
				count, known = x.rows, true
				break
			}
		}
		for _, x := range rows {
			if _, ofEdges := x.of(); !known && !ofEdges && x.rows != edges {
				count, known = x.rows, true
			}
		}
	}
	if z.o.NumNodes > 0 {
		n, err := z.counted(count, "the arrays")
		return n, true, err
	}
	return count, known, nil
}
