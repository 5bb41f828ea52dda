package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// OGB's data sets of nodes and of links have the layout of data sets of graphs, with one graph. That graph is not a
// collection: the import refuses it, with the graph.yaml that imports it as a store.

// ogbGraph is the graph.yaml of a data set of nodes or links.
type ogbGraph struct {
	path  string // the path to import
	nodes []ogbType
	edges []ogbType
	// unpack are commands that make files which the graph.yaml names.
	unpack []string
	label  bool
	// either says that it could also be a data set of graphs.
	either bool
}

// ogbType is a node or edge type.
type ogbType struct {
	name    string
	table   string // table of edges
	count   uint64 // number of nodes of a type without columns
	columns []ogbColumn
}

// ogbColumn is a column in a file of its own.
type ogbColumn struct {
	name, file string
	dtype      string // "float32[128]"; empty: that of the file
	empty      string
}

// LayoutError says that a folder holds a data set in the layout of one graph, and how to import that graph. It is an
// ErrSource.
type LayoutError struct {
	Reason string
	// Unpack are commands that make the files that YAML names.
	Unpack []string
	// YAML is the content to write to File. Then Path can be imported.
	YAML, File, Path string
}

// Error returns the reason, followed by the text to copy.
func (e *LayoutError) Error() string { return e.Reason + "\n\n" + e.Text() }

// Text returns the commands and the YAML.
func (e *LayoutError) Text() string {
	var b strings.Builder
	for _, c := range e.Unpack {
		b.WriteString(c + "\n")
	}
	if e.Unpack != nil {
		b.WriteByte('\n')
	}
	return b.String() + e.YAML
}

// Unwrap makes it an ErrSource.
func (e *LayoutError) Unwrap() error { return ErrSource }

// refusal returns the error that says what to do instead. place is the file that shows that there is one graph.
func (g *ogbGraph) refusal(place string, o Options) error {
	for _, t := range slices.Concat(g.nodes, g.edges) {
		for _, file := range append([]string{t.table}, files(t.columns)...) {
			if strings.ContainsAny(file, "*?[@") {
				return sourcef("%s: found the file %s, expected a name without *, ?, [ and @, which make a pattern in a graph.yaml; rename the type", place, file)
			}
		}
	}
	e := &LayoutError{Unpack: g.unpack, YAML: g.yaml(), File: filepath.Join(g.path, "graph.yaml"), Path: g.path}
	kind := "links, or of nodes without labels"
	if g.label {
		kind = "nodes"
	}
	e.Reason = fmt.Sprintf("%s: found one graph, expected many: this is OGB's layout of a data set of %s, whose graph becomes a store, not a collection; ", place, kind)
	if g.unpack != nil {
		e.Reason += "unpack its arrays, "
	}
	e.Reason += fmt.Sprintf("save this as %s, and import %s again", e.File, e.Path)
	if !o.Symmetrise {
		e.Reason += "; symmetrise the edges where OGB's add_inverse_edge is True, as each edge is listed once"
	}
	if g.either {
		e.Reason += "; a data set of graphs that has only one is imported with the format ogb"
	}
	return e
}

func files(columns []ogbColumn) (names []string) {
	for _, c := range columns {
		names = append(names, c.file)
	}
	return names
}

// yaml returns the content of the graph.yaml.
func (g *ogbGraph) yaml() string {
	var b strings.Builder
	columns := func(list []ogbColumn) {
		if len(list) == 0 {
			b.WriteString("    columns: {}\n")
			return
		}
		b.WriteString("    columns:\n")
		for _, c := range list {
			fmt.Fprintf(&b, "      %s: ", scalar(c.name))
			if c.dtype == "" {
				b.WriteString(scalar(c.file) + "\n")
				continue
			}
			fmt.Fprintf(&b, "{file: %s, dtype: %q", scalar(c.file), c.dtype)
			if c.empty != "" {
				fmt.Fprintf(&b, ", missing: %s", scalar(c.empty))
			}
			b.WriteString("}\n")
		}
	}
	b.WriteString("nodes:\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s:\n", scalar(n.name))
		if len(n.columns) == 0 {
			fmt.Fprintf(&b, "    count: %d\n", n.count)
			continue
		}
		columns(n.columns)
	}
	b.WriteString("edges:\n")
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s:\n    table: %s\n", scalar(e.name), scalar(e.table))
		if !isArray(e.table) {
			b.WriteString("    names: [src, dst]\n")
		}
		columns(e.columns)
	}
	return b.String()
}

var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// scalar returns a YAML string, in quotes if it could be read as anything else.
func scalar(s string) string {
	if plainScalar.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"}, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}

// graphOf returns the graph of a folder of text, or nil if it has many graphs.
func (d *raw) graphOf(ctx context.Context, path string) (*ogbGraph, error) {
	hetero := slices.Contains(d.names, ogbTriplets)
	g := &ogbGraph{path: path}
	file, header := ogbNodeCounts, table.CSVOptions{Numbered: true}
	if hetero {
		file, header = ogbNodeDict, table.CSVOptions{}
	}
	counts, fields, err := d.firstRow(ctx, file, header)
	if err != nil || counts == nil {
		return nil, err
	}
	if !hetero {
		g.either = true
		g.label = slices.Contains(d.names, "node-label.csv.gz")
		n := ogbType{name: graph.HomogeneousNode, count: counts[0]}
		e := ogbType{name: graph.HomogeneousEdge.String(), table: d.name(path, ogbEdges)}
		if n.columns, err = d.columns(ctx, path, "node"); err == nil {
			e.columns, err = d.columns(ctx, path, "edge")
		}
		g.nodes, g.edges = []ogbType{n}, []ogbType{e}
		return g, err
	}
	for i, t := range fields {
		n := ogbType{name: t, count: counts[i]}
		for _, part := range []string{"node-feat", "node-label"} {
			sub, err := d.sub(part, t)
			if err != nil {
				return nil, err
			}
			cols, err := sub.columns(ctx, path, "node")
			if err != nil {
				return nil, err
			}
			g.label = g.label || part == "node-label" && len(cols) > 0
			n.columns = append(n.columns, cols...)
		}
		g.nodes = append(g.nodes, n)
	}
	return g, d.relations(ctx, path, g)
}

// relations adds the edge types of triplet-type-list.
func (d *raw) relations(ctx context.Context, path string, g *ogbGraph) error {
	t, err := d.table(ogbTriplets, table.CSVOptions{Names: []string{"0", "1", "2"}})
	if err != nil {
		return err
	}
	var asked []table.Column
	for _, f := range t.Fields() {
		asked = append(asked, table.Column{Name: f.Name, DType: graph.String, ID: true})
	}
	var triplets [][3]string
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
	if err != nil {
		return err
	}
	for _, x := range triplets {
		sub, err := d.sub("relations", strings.Join(x[:], "___"))
		if err != nil {
			return err
		}
		e := ogbType{name: graph.EdgeType{Src: x[0], Rel: x[1], Dst: x[2]}.String(), table: sub.name(path, ogbEdges)}
		if err := d.inside(filepath.Join(sub.dir, ogbEdges)); err != nil {
			return err
		}
		if e.columns, err = sub.columns(ctx, path, "edge"); err != nil {
			return err
		}
		g.edges = append(g.edges, e)
	}
	return nil
}

// sub returns a folder in the data set. A missing folder has no files.
func (d *raw) sub(parts ...string) (*raw, error) {
	s := &raw{fsys: d.fsys, dir: filepath.Join(append([]string{d.dir}, parts...)...), o: d.o}
	for _, p := range parts {
		if !filepath.IsLocal(p) || strings.ContainsRune(p, filepath.Separator) {
			return nil, sourcef("%s: found a type named %q, expected a name that a folder can have", d.dir, p)
		}
	}
	if _, err := d.fsys.Stat(s.dir); err != nil {
		return s, nil
	}
	if err := d.inside(s.dir); err != nil {
		return nil, err
	}
	return s, s.list()
}

// name returns the name of a file in a graph.yaml at path.
func (d *raw) name(path, file string) string {
	rel, err := filepath.Rel(path, filepath.Join(d.dir, file))
	if err != nil {
		rel = filepath.Join(d.dir, file)
	}
	return filepath.ToSlash(rel)
}

// columns returns the columns of nodes or of edges that OGB stores in files of their own.
func (d *raw) columns(ctx context.Context, path, of string) ([]ogbColumn, error) {
	var out []ogbColumn
	for _, file := range d.names {
		base, ok := strings.CutSuffix(file, ogbSuffix)
		if !ok {
			continue
		}
		c := ogbColumn{name: base, file: d.name(path, file)}
		switch {
		case base == of+"-feat":
			c.name = "feat"
		case base == "node-label" && of == "node":
			c.name = "label"
		case !strings.HasPrefix(base, of+"_"):
			continue
		}
		var rows []collection.Rows
		if err := d.add(ctx, &rows, file, c.name, c.name == "label"); err != nil {
			return nil, err
		}
		k := &rows[0].Columns[0]
		if c.dtype = k.DType.String(); k.Shape != nil {
			c.dtype += fmt.Sprintf("[%d]", k.Shape[0])
		}
		if k.Empty == table.EmptyFill {
			c.empty = k.Fill
		}
		out = append(out, c)
	}
	return out, nil
}

// firstRow returns the numbers of the only row of a table, and its fields. It returns nil if the table has no row or
// more than one.
func (d *raw) firstRow(ctx context.Context, file string, csv table.CSVOptions) (row []uint64, fields []string, err error) {
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
