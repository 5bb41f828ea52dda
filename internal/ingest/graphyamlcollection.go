package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/suggest"
)

// graphsEntry is a type of a collection in a graph.yaml, or the section of its graphs.
type graphsEntry struct {
	source
	graphPtr, graphID string
	// src, dst and parent are names of .npy arrays or of columns, of edges only.
	src, dst, parent string
	ends             string
	reverse          string
	symmetrise       bool
}

// collectionLister reads a graph.yaml that has the key graphs.
type collectionLister struct {
	*lister
	out   collection.Input
	nodes []*graphsEntry // parallel to out.Nodes
}

// read reads the sections. Graphs and nodes come before the edges, which refer to them.
func (l *collectionLister) read(ctx context.Context, top []yamlfile.Entry) error {
	section := func(name string) *yamlfile.Entry {
		i := slices.IndexFunc(top, func(e yamlfile.Entry) bool { return e.Key == name })
		if i < 0 {
			return nil
		}
		return &top[i]
	}
	if err := l.readGraphs(ctx, *section("graphs")); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		read func(context.Context, yamlfile.Entry) error
	}{{"nodes", l.readNode}, {"edges", l.readEdge}} {
		s := section(part.name)
		if s == nil {
			return l.y.Errorf(top[0].At, "found no %s, expected the keys graphs, nodes and edges; add the key", part.name)
		}
		entries, err := l.y.Mapping(s.Value, "types", nil)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return l.y.Errorf(s.At, "found no %s, expected at least one type", part.name)
		}
		for _, e := range entries {
			if err := part.read(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields reads the keys of an entry.
func (l *collectionLister) fields(e yamlfile.Entry, what string, own []string) (*graphsEntry, error) {
	g := &graphsEntry{source: source{at: e.At}}
	fields, err := l.y.Mapping(e.Value, what, append(own, tableKeys...))
	for _, f := range fields {
		const ref = "the name of a column or .npy array"
		switch f.Key {
		case "features":
			err = l.y.Errorf(f.At, "found features of many graphs, expected them with one graph; remove the key")
		case "graph_ptr":
			g.graphPtr, err = l.y.Text(f.Value, "the name of an .npy array")
		case "graph_id":
			g.graphID, err = l.y.Text(f.Value, ref)
		case "src":
			g.src, err = l.y.Text(f.Value, ref)
		case "dst":
			g.dst, err = l.y.Text(f.Value, ref)
		case "parent":
			g.parent, err = l.y.Text(f.Value, ref)
		case "ends":
			if g.ends, err = l.y.Text(f.Value, "local or global"); err == nil && g.ends != "local" && g.ends != "global" {
				err = l.y.Errorf(f.Value, "found ends %q, expected local (counted from the first node of the graph) or global (of all graphs)%s", g.ends, suggest.Hint(g.ends, []string{"local", "global"}))
			}
		case "reverse":
			if g.reverse, err = l.y.Text(f.Value, "the name of a relation"); err == nil {
				if bad := graph.CheckName(g.reverse); bad != nil {
					err = l.y.Errorf(f.Value, "%w", bad)
				}
			}
		case "symmetrise":
			g.symmetrise, err = l.y.Boolean(f.Value)
		case "source", "query", "mark":
			err = l.y.Errorf(f.At, "found a query of many graphs, expected tables of files: rows of a query are sorted, and those of graphs must be in the order of the graphs; export the tables")
		default:
			err = l.readSource(f, &g.source)
		}
		if err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = l.checkMissingTexts(e, &g.source)
	}
	return g, err
}

// array opens an .npy array as a column with the name by which it was given.
func (l *collectionLister) array(g *graphsEntry, name string) (arrayfiles.NpyColumn, error) {
	files, err := l.p.find(name)
	if err != nil {
		return arrayfiles.NpyColumn{}, l.place(g.at, err)
	}
	if len(files) != 1 {
		return arrayfiles.NpyColumn{}, l.y.Errorf(g.at, "found %d arrays for %s, expected one; name one file", len(files), name)
	}
	return arrayfiles.NpyColumn{Name: name, Path: files[0]}, nil
}

// alone opens one array as a table.
func (l *collectionLister) alone(g *graphsEntry, name string) (table.Table, error) {
	a, err := l.array(g, name)
	if err != nil {
		return nil, err
	}
	t, err := arrayfiles.OpenNpy(l.p.fsys, []arrayfiles.NpyColumn{a})
	if err != nil {
		return nil, l.place(g.at, err)
	}
	return t, nil
}

// isArray says whether a name names an .npy array, or an array of an archive, "data.npz:x".
func isArray(name string) bool {
	_, _, archived := cutMember(name)
	return archived || filepath.Ext(name) == ".npy"
}

// has refuses the name of a column that the table does not have.
func (l *collectionLister) has(g *graphsEntry, name string) error {
	if field(g.fields, name) != nil {
		return nil
	}
	names := fieldNames(g.fields)
	return l.y.Errorf(g.at, "found the column %q, expected an .npy array or one of the columns %s; correct the name%s", name, strings.Join(names, ", "), suggest.Hint(name, names))
}

// split opens the array or column that says which rows belong to which graph.
func (l *collectionLister) split(g *graphsEntry) (s collection.Split, err error) {
	switch {
	case g.graphPtr != "" && g.graphID != "":
		return s, l.y.Errorf(g.at, "found graph_ptr and graph_id, expected one of them")
	case g.graphPtr != "":
		if !isArray(g.graphPtr) {
			return s, l.y.Errorf(g.at, "found graph_ptr %q, expected an .npy array; save the offsets with numpy.save", g.graphPtr)
		}
		s.Kind, s.Column = collection.Offsets, g.graphPtr
		s.Table, err = l.alone(g, g.graphPtr)
	case isArray(g.graphID):
		s.Kind, s.Column = collection.IDs, g.graphID
		s.Table, err = l.alone(g, g.graphID)
	case g.graphID != "":
		s.Kind, s.Column, s.Table = collection.IDs, g.graphID, g.joined
		err = l.has(g, g.graphID)
	}
	return s, err
}

// rows returns the columns of a table except some. Without a table there are none.
func (l *collectionLister) rows(ctx context.Context, g *graphsEntry, but ...string) ([]collection.Rows, error) {
	if g.joined == nil {
		if g.columns != nil {
			return nil, l.y.Errorf(g.at, "found columns, expected a table that has them; name the table")
		}
		return nil, nil
	}
	cols, err := l.columns(ctx, &g.source, but)
	return []collection.Rows{{Table: g.joined, Columns: kept(cols)}}, err
}

func kept(cols []table.Column) []collection.Column {
	var out []collection.Column
	for _, c := range cols {
		out = append(out, collection.Column{Column: c})
	}
	return out
}

func (l *collectionLister) readGraphs(ctx context.Context, e yamlfile.Entry) error {
	g, err := l.fields(e, "the graphs", nil)
	if err == nil {
		err = l.open(&g.source)
	}
	if err == nil {
		l.out.Context, err = l.rows(ctx, g)
	}
	return err
}

func (l *collectionLister) readNode(ctx context.Context, e yamlfile.Entry) error {
	if err := graph.CheckName(e.Key); err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	g, err := l.fields(e, "a node type", []string{"graph_ptr", "graph_id"})
	if err != nil {
		return err
	}
	if err := l.open(&g.source); err != nil {
		return err
	}
	n := collection.Nodes{Type: e.Key}
	if n.Split, err = l.split(g); err != nil {
		return err
	}
	if n.Split.Kind == collection.NoSplit {
		return l.y.Errorf(e.At, "found neither graph_ptr nor graph_id of %q, expected one, to know which nodes belong to which graph", e.Key)
	}
	if n.Tables, err = l.rows(ctx, g, g.graphID); err != nil {
		return err
	}
	l.out.Nodes, l.nodes = append(l.out.Nodes, n), append(l.nodes, g)
	return nil
}

func (l *collectionLister) readEdge(ctx context.Context, e yamlfile.Entry) error {
	typ, err := graph.ParseEdgeType(e.Key)
	if err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	g, err := l.fields(e, "an edge type", []string{"graph_ptr", "graph_id", "src", "dst", "parent", "ends", "reverse", "symmetrise"})
	if err != nil {
		return err
	}
	at := -1 // index of the source type
	for _, t := range []string{typ.Dst, typ.Src} {
		if at = slices.IndexFunc(l.out.Nodes, func(n collection.Nodes) bool { return n.Type == t }); at < 0 {
			var names []string
			for _, n := range l.out.Nodes {
				names = append(names, n.Type)
			}
			return l.y.Errorf(e.At, "found the node type %q in %s, expected one of the nodes %s%s", t, typ, strings.Join(names, ", "), suggest.Hint(t, names))
		}
	}
	if g.symmetrise && typ.Src != typ.Dst {
		return l.y.Errorf(e.At, "found symmetrise between %s and %s, expected one node type; give the other direction a name with reverse", typ.Src, typ.Dst)
	}
	if g.ends == "" {
		return l.y.Errorf(e.At, "found no ends of %s, expected ends: local (counted from the first node of the graph) or ends: global (of all graphs)", typ)
	}
	x := collection.Edges{Type: typ, Global: g.ends == "global", Symmetrise: g.symmetrise}
	if g.parent != "" {
		err = l.parents(g, &x, l.nodes[at])
	} else {
		err = l.pairs(ctx, g, &x)
	}
	if err != nil {
		return err
	}
	l.out.Edges = append(l.out.Edges, x)
	if g.reverse != "" {
		l.out.Edges = append(l.out.Edges, turned(x, g.reverse))
	}
	return nil
}

// parents adds edges that a column of the nodes gives.
func (l *collectionLister) parents(g *graphsEntry, x *collection.Edges, node *graphsEntry) (err error) {
	if g.names != nil || g.listed || g.src != "" || g.dst != "" || g.graphPtr != "" || g.graphID != "" {
		return l.y.Errorf(g.at, "found parent together with a table, columns, src, dst, graph_ptr or graph_id, expected it alone, as there is one edge per node; remove the other keys")
	}
	if x.Type.Src != x.Type.Dst {
		return l.y.Errorf(g.at, "found parent between %s and %s, expected one node type; use src and dst", x.Type.Src, x.Type.Dst)
	}
	x.Parent = g.parent
	if isArray(g.parent) {
		x.Table, err = l.alone(g, g.parent)
		return err
	}
	g.fields, x.Table = node.fields, node.joined
	return l.has(g, g.parent)
}

// pairs adds edges that the columns of their ends give.
func (l *collectionLister) pairs(ctx context.Context, g *graphsEntry, x *collection.Edges) (err error) {
	if g.names != nil && isArray(g.names[0]) {
		files, err := l.p.find(g.names...)
		if err != nil {
			return l.place(g.at, err)
		}
		if len(files) != 1 {
			return l.y.Errorf(g.at, "found %d arrays, expected one with the ends of edges; name one file", len(files))
		}
		if g.base, err = arrayfiles.OpenPairs(l.p.fsys, files[0]); err != nil {
			return l.place(g.at, err)
		}
	}
	for _, name := range slices.Compact([]string{g.src, g.dst}) { // one array can be both
		if isArray(name) {
			a, err := l.array(g, name)
			if err != nil {
				return err
			}
			g.beside = append(g.beside, a)
		}
	}
	if err := l.open(&g.source); err != nil {
		return err
	}
	if g.joined == nil {
		return l.y.Errorf(g.at, "found no edges of %s, expected a table, or src and dst, or parent; add one of them", x.Type)
	}
	s, d, err := pickEnds(g.joined, g.fields, g.src, g.dst, [2]*looks{})
	if err != nil {
		return l.y.Errorf(g.at, "%w with src and dst", err)
	}
	x.Src, x.Dst = s.Name, d.Name
	if x.Split, err = l.split(g); err != nil {
		return err
	}
	if x.Split.Kind == collection.NoSplit && !x.Global {
		return l.y.Errorf(g.at, "found neither graph_ptr nor graph_id of %s, expected one, as its ends are local", x.Type)
	}
	cols, err := l.columns(ctx, &g.source, []string{x.Src, x.Dst, g.graphID})
	x.Rows = collection.Rows{Table: g.joined, Columns: kept(cols)}
	return err
}

// turned returns the edge type of the same rows with its ends swapped.
func turned(x collection.Edges, rel string) collection.Edges {
	x.Type = graph.EdgeType{Src: x.Type.Dst, Rel: rel, Dst: x.Type.Src}
	x.Src, x.Dst = x.Dst, x.Src
	x.ToParent = !x.ToParent
	return x
}

// symmetriseCollection adds the reverse of each edge.
func symmetriseCollection(in *collection.Input) {
	for i := range in.Edges {
		if x := &in.Edges[i]; x.Type.Src == x.Type.Dst {
			x.Symmetrise = true
		} else {
			in.Edges = append(in.Edges, turned(*x, "rev_"+x.Type.Rel))
		}
	}
}

// checkCollection refuses repeated names of types.
func checkCollection(in *collection.Input) error {
	seen := map[string]bool{}
	once := func(what string) error {
		if seen[what] {
			return sourcef("found %s twice, expected each once; rename one of the two", what)
		}
		seen[what] = true
		return nil
	}
	tables := func(what string, tables ...collection.Rows) error {
		for _, t := range tables {
			for _, c := range t.Columns {
				if err := once("column " + c.Name + " of " + what); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := tables("the graphs", in.Context...); err != nil {
		return err
	}
	for _, n := range in.Nodes {
		if err := errors.Join(once("node type "+n.Type), tables(n.Type, n.Tables...)); err != nil {
			return err
		}
	}
	for _, e := range in.Edges {
		t := e.Type.String()
		if err := errors.Join(once("edge type "+t), tables(t, e.Rows), tables(t, e.Beside...)); err != nil {
			return err
		}
	}
	return nil
}
