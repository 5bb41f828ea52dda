package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
)

// ogbGraph is the graph of a data set of nodes or links.
type ogbGraph struct {
	*raw
	nodes, edges []*ogbType
	// label says that nodes have labels: the data set is one of nodes.
	label bool
	// once says that the files are of a kind in which OGB's undirected data sets have each edge once.
	once     bool
	warnings []string
}

// ogbType is a node or edge type. Its columns are in files of their own, with a row per node or edge.
type ogbType struct {
	name string
	// count is the number of rows that the file says states; says is empty if it is not stated.
	count uint64
	says  string
	ends  table.Table // of edges

	texts   []table.Table
	arrays  []arrayfiles.NpyColumn
	columns []table.Column
	splits  []string // names of the columns of splits, which are among the arrays
}

func (g *ogbGraph) warn(format string, a ...any) {
	g.warnings = append(g.warnings, fmt.Sprintf(format, a...))
}

// source makes the source of the graph.
func (g *ogbGraph) source(ctx context.Context, path string) (*Source, error) {
	if err := g.splits(ctx, path); err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In}
	for _, n := range g.nodes {
		if err := graph.CheckName(n.name); err != nil {
			return nil, sourcef("%s: %w", g.dir, err)
		}
		t, err := g.table(n)
		if err != nil {
			return nil, err
		}
		s.Input.Nodes = append(s.Input.Nodes, assemble.Nodes{Type: n.name, Table: t, ID: keyColumn("", true), Count: n.count, Columns: n.columns})
		if t != nil {
			s.Input.Nodes[len(s.Input.Nodes)-1].Count = 0
		}
	}
	for _, e := range g.edges {
		typ, err := graph.ParseEdgeType(e.name)
		if err != nil {
			return nil, sourcef("%s: %w", g.dir, err)
		}
		for _, of := range []string{typ.Src, typ.Dst} {
			if g.node(of) == nil {
				return nil, sourcef("%s: found the node type %q of %s without a number of nodes, expected it among the types with one; add its number to num-node-dict.csv.gz", g.dir, of, typ)
			}
		}
		t, err := g.table(e)
		if err != nil {
			return nil, err
		}
		s.Input.Edges = append(s.Input.Edges, assemble.Edges{Type: typ, Table: t, Src: keyColumn("src", true), Dst: keyColumn("dst", true), Columns: e.columns})
	}
	if g.once && !g.o.Symmetrise {
		g.warn("%s: OGB's undirected data sets (add_inverse_edge, as of ogbn-products) list each edge once: `Symmetrise` adds the reverses", filepath.Join(g.dir, ogbEdges))
	}
	s.Files, s.Warnings = *g.files, append(g.warnings, g.others(g.known)...)
	return s, checkTwice(&s.Input)
}

// known says whether a file is one that a data set has, and that is not named as left out.
func (g *ogbGraph) known(name string) bool {
	return strings.HasSuffix(name, ogbSuffix) && !slices.Contains([]string{ogbEdgeCounts, "nodetype-has-label.csv.gz"}, name) ||
		strings.HasSuffix(name, npzSuffix) && !slices.Contains([]string{"num_edges_dict.npz"}, name)
}

func (g *ogbGraph) node(name string) *ogbType {
	for _, n := range g.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// table joins the files of a type. It returns nil for nodes without columns, of which there are some.
func (g *ogbGraph) table(t *ogbType) (out table.Table, err error) {
	var tables []table.Table
	if t.ends != nil {
		tables = append(tables, t.ends)
	}
	tables = append(tables, t.texts...)
	if len(tables) == 0 && len(t.arrays) == 0 {
		if t.says == "" || t.count > 0 {
			return nil, nil
		}
		return g.o.none(filepath.Join(g.dir, t.name))
	}
	if len(tables) == 1 {
		out = tables[0]
	} else if len(tables) > 1 {
		out = views.InStep(tables...)
	}
	if t.arrays != nil {
		n, err := arrayfiles.OpenNpy(g.fsys, t.arrays)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = n
		} else {
			out = arrayfiles.Beside(out, n)
		}
	}
	if t.says != "" {
		var names []string
		for _, f := range out.Fields() {
			names = append(names, f.Name)
		}
		if out, err = views.Concat(names, []views.Piece{{Table: out, Rows: t.count, Says: t.says}}); err != nil {
			return nil, err
		}
	}
	if t.splits != nil {
		out = views.Coded(out, splitParts, t.splits...)
	}
	return out, nil
}

// text reads a folder of text. It returns whether it has one graph.
func (g *ogbGraph) text(ctx context.Context) (one bool, err error) {
	typed := slices.Contains(g.names, ogbTriplets)
	file, header := ogbNodeCounts, textfiles.CSVOptions{Numbered: true}
	if typed {
		file, header = ogbNodeDict, textfiles.CSVOptions{}
	}
	counts, fields, err := g.firstRow(ctx, file, header)
	if err != nil || counts == nil {
		return false, err
	}
	says := filepath.Join(g.dir, file)
	if !typed {
		g.label, g.once = slices.Contains(g.names, ogbNodeLabels), true
		n := &ogbType{name: graph.HomogeneousNode, count: counts[0], says: says}
		e := &ogbType{name: graph.HomogeneousEdge.String()}
		g.nodes, g.edges = []*ogbType{n}, []*ogbType{e}
		if err := g.columns(ctx, g.raw, n, "node"); err != nil {
			return true, err
		}
		return true, g.relation(ctx, g.raw, e)
	}
	for i, t := range fields {
		n := &ogbType{name: t, count: counts[i], says: says}
		g.nodes = append(g.nodes, n)
		for _, part := range []string{"node-feat", "node-label"} {
			sub, err := g.sub(part, t)
			if err != nil {
				return true, err
			}
			before := len(n.columns)
			if err := g.columns(ctx, sub, n, "node"); err != nil {
				return true, err
			}
			g.label = g.label || part == "node-label" && len(n.columns) > before
		}
	}
	g.label = g.label || slices.Contains(g.names, "nodetype-has-label.csv.gz")
	triplets, err := g.triplets(ctx)
	if err != nil {
		return true, err
	}
	for _, x := range triplets {
		sub, err := g.sub("relations", strings.Join(x[:], "___"))
		if err != nil {
			return true, err
		}
		e := &ogbType{name: strings.Join(x[:], ":")}
		g.edges = append(g.edges, e)
		if err := g.relation(ctx, sub, e); err != nil {
			return true, err
		}
	}
	return true, nil
}

// relation opens the edges in a folder, and their columns.
func (g *ogbGraph) relation(ctx context.Context, d *raw, e *ogbType) error {
	t, err := d.table(ogbEdges, textfiles.CSVOptions{Names: []string{"src", "dst"}})
	if err != nil {
		return err
	}
	e.ends = t
	if slices.Contains(d.names, ogbEdgeCounts) {
		counts, _, err := d.firstRow(ctx, ogbEdgeCounts, textfiles.CSVOptions{Numbered: true})
		if err != nil {
			return err
		}
		e.says = filepath.Join(d.dir, ogbEdgeCounts)
		if counts == nil {
			return sourcef("%s: found no line or several, expected the number of edges of one graph; give the file one line per graph", e.says)
		}
		e.count = counts[0]
	}
	return g.columns(ctx, d, e, "edge")
}

// triplets reads the names of the relations.
func (d *raw) triplets(ctx context.Context) (triplets [][3]string, err error) {
	t, err := d.table(ogbTriplets, textfiles.CSVOptions{Names: []string{"0", "1", "2"}})
	if err != nil {
		return nil, err
	}
	var asked []table.Column
	for _, f := range t.Fields() {
		asked = append(asked, table.Column{Name: f.Name, DType: graph.String, ID: true})
	}
	_, err = t.Scan(ctx, asked, 1, func(_ int, c *table.Chunk) error {
		for i := range c.Rows {
			var x [3]string
			for k, v := range c.Columns {
				from := uint32(0)
				if i > 0 {
					from = v.Ends[i-1]
				}
				x[k] = string(v.Data[from:v.Ends[i]])
			}
			triplets = append(triplets, x)
		}
		return nil
	})
	return triplets, err
}

// sub returns a folder in the data set. A missing folder has no files.
func (d *raw) sub(parts ...string) (*raw, error) {
	at, err := d.inFolder(parts...)
	if err != nil {
		return nil, err
	}
	s := &raw{fsys: d.fsys, dir: at, files: d.files, o: d.o}
	if at == "" {
		s.dir = filepath.Join(append([]string{d.dir}, parts...)...)
		return s, nil
	}
	return s, s.list()
}

// columns adds the columns of nodes or of edges, of which each has a file in a folder.
func (g *ogbGraph) columns(ctx context.Context, d *raw, t *ogbType, of string) error {
	for _, file := range d.names {
		base, ok := strings.CutSuffix(file, ogbSuffix)
		name := base
		switch {
		case !ok:
			continue
		case base == of+"-feat":
			name = "feat"
		case file == ogbNodeLabels && of == "node":
			name = "label"
		case base == "species" && of == "node":
			name = "node_species" // ogbn-proteins
		case !strings.HasPrefix(base, of+"_"):
			continue
		}
		if t.says != "" && t.count == 0 {
			if err := d.inside(filepath.Join(d.dir, file)); err != nil {
				return err
			}
			*d.files = append(*d.files, filepath.Join(d.dir, file))
			g.warn("%s: the column %q is left out: %s has no rows", filepath.Join(d.dir, file), name, t.name)
			continue
		}
		var rows []collection.Rows
		if err := d.add(ctx, &rows, file, name, name == "label"); err != nil {
			return err
		}
		if rows[0].Columns[0].DType == graph.String {
			return sourcef("%s: found strings for column %q, expected numbers, as OGB reads them", filepath.Join(d.dir, file), name)
		}
		// The fields get names that no other file has.
		var fields []string
		for _, f := range rows[0].Table.Fields() {
			fields = append(fields, base+":"+f.Name)
		}
		x, err := textfiles.OpenCSV(d.fsys, rows[0].Table.Files(), textfiles.CSVOptions{Names: fields})
		if err != nil {
			return err
		}
		t.texts = append(t.texts, x)
		for _, c := range rows[0].Columns {
			if c.From = fields; c.Missing != nil {
				of := *c.Missing
				of.From = fields
				c.Missing = &of
			}
			t.columns = append(t.columns, c.Column)
		}
	}
	return nil
}

// firstRow returns the numbers of the only row of a table, and its fields. It returns nil if the table has no row or
// more than one.
func (d *raw) firstRow(ctx context.Context, file string, csv textfiles.CSVOptions) (row []uint64, fields []string, err error) {
	t, err := d.table(file, csv)
	if err != nil {
		return nil, nil, err
	}
	var asked []table.Column
	for _, f := range t.Fields() {
		fields = append(fields, f.Name)
		asked = append(asked, table.Column{Name: f.Name, DType: graph.Uint64})
	}
	if len(asked) == 0 {
		return nil, nil, nil
	}
	rows, err := t.Scan(ctx, asked, 1, func(_ int, c *table.Chunk) error {
		if c.First == 0 && c.Rows > 0 {
			for _, v := range c.Columns {
				row = append(row, graph.View[uint64](v.Data)[0])
			}
		}
		return nil
	})
	if err != nil || rows != 1 {
		return nil, nil, err
	}
	return row, fields, nil
}
