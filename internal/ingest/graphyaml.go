package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// graphYAML is a file that lists node and edge tables, or the folder of a graph.yaml. docs/graph-yaml.md specifies
// the content.
type graphYAML struct{}

func (graphYAML) name() string { return "graph.yaml" }

func (graphYAML) about() string {
	return "a .yaml file that lists tables, or the folder of a graph.yaml"
}

func (graphYAML) becomes() string {
	return "a graph with the types and columns that it lists; with the key graphs, a collection"
}

func (graphYAML) detect(path string, names []string) bool {
	ext := filepath.Ext(path)
	return names == nil && (ext == ".yaml" || ext == ".yml") || slices.Contains(names, "graph.yaml")
}

func (graphYAML) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if info, err := fsys.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		path = filepath.Join(path, "graph.yaml")
	}
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the counts in that file", path)
	}
	l := &lister{y: yamlfile.File{Path: path, Kind: ErrSource}, p: newOpener(fsys, path, o), o: o, m: &maker{gaps: newGaps(o)}}
	l.p.member = func(archive, array string) (string, error) { return o.arrays.Array(ctx, archive, array) }
	body, err := l.y.Read(fsys)
	if err != nil {
		return nil, err
	}
	top, err := readSections(l.y, body)
	if err != nil {
		return nil, err
	}
	if top, err = l.readMissing(top); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(top, func(e yamlfile.Entry) bool { return e.Key == "graphs" }) {
		if i := slices.IndexFunc(top, func(e yamlfile.Entry) bool { return e.Key == "source" }); i >= 0 {
			return nil, l.y.Errorf(top[i].At, "found a source of many graphs, expected tables of files: rows of a query are sorted, and those of graphs must be in the order of the graphs; export the tables")
		}
		if i := slices.IndexFunc(top, func(e yamlfile.Entry) bool {
			return slices.Contains([]string{"transforms", "dangling_edges", "duplicate_nodes", "fit", "marks"}, e.Key)
		}); i >= 0 {
			return nil, l.y.Errorf(top[i].At, "found %s of many graphs, expected them with one graph; remove the key", top[i].Key)
		}
		c := &collectionLister{lister: l}
		if err := c.read(ctx, top); err != nil {
			return nil, err
		}
		return &Source{Collection: &c.out, Files: l.p.files, Warnings: l.m.notes}, l.m.check()
	}
	err = l.read(body, top)
	if err == nil {
		err = l.findSplits()
	}
	if err == nil && o.Lines != nil {
		err = l.takeLines()
	}
	if err == nil {
		err = l.queries(ctx)
	}
	if err == nil {
		err = l.resolve(ctx)
	}
	if err == nil && o.Lines == nil { // lines need not have all tables
		err = l.m.check()
	}
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: l.p.files, Transforms: l.transforms, Rules: l.rules, Warnings: l.m.notes, Taken: l.marks}
	s.Features = features.Plan{Fit: l.fit, Nodes: map[string][]features.Spec{}, Edges: map[string][]features.Spec{}}
	for _, n := range l.nodes {
		if n.left {
			continue
		}
		if n.features != nil {
			s.Features.Nodes[n.out.Type] = n.features
		}
		s.unreadable(n.base, n.listed)
		s.mark(&o, n.out.Type, n.base)
		s.Input.Nodes = append(s.Input.Nodes, n.out)
	}
	for _, e := range l.edges {
		if e.features != nil {
			s.Features.Edges[e.typ.String()] = e.features
		}
		s.unreadable(e.base, e.listed)
		s.mark(&o, e.typ.String(), e.base)
		s.Input.Edges = append(s.Input.Edges, e.out)
		if e.reverse != "" {
			s.Input.Edges = append(s.Input.Edges, reverse(e.out, e.reverse))
		}
	}
	if err := checkTwice(&s.Input); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, l.checkMarks(s)
}

// checkMarks refuses marks of types that have others: the store keeps one of each type, and an append without the mark of a lake or a query would take
// all rows again.
func (l *lister) checkMarks(s *Source) error {
	queried := map[string]bool{}
	for _, n := range l.nodes {
		queried[n.out.Type] = n.query != nil
	}
	for _, e := range l.edges {
		queried[e.typ.String()] = e.query != nil
	}
	for _, m := range l.marked {
		if queried[m.Key] || s.Marks[m.Key] != "" {
			return l.y.Errorf(m.At, "found a mark of %q, whose rows are of a lake or a query, expected types of files alone, as the store keeps the marks of lakes and queries itself; remove the mark", m.Key)
		}
	}
	return nil
}

// lister reads the list of tables: first what is written, then what follows from the tables.
type lister struct {
	y     yamlfile.File
	p     *opener
	o     Options
	m     *maker
	nodes []*nodeEntry
	edges []*edgeEntry
	// source is the database of queries; nil: none.
	source *yamlfile.Entry

	transforms Transforms
	rules      Rules
	fit        features.FitRows
	marks      map[string]string // by type: up to where its rows are taken of where they come from, as the file says
	marked     []yamlfile.Entry  // the entries of these
}

func (l *lister) node(name string) *nodeEntry {
	for _, n := range l.nodes {
		if n.out.Type == name {
			return n
		}
	}
	return nil
}

// readSections returns the entries of the whole file.
func readSections(y yamlfile.File, body ast.Node) ([]yamlfile.Entry, error) {
	return y.Mapping(body, "nodes and edges", []string{"nodes", "edges", "graphs", "missing", "dangling_edges", "duplicate_nodes", "transforms", "source", "fit", "marks"})
}

// readMarks reads what a program that wrote the tables says of each type: up to where it took the rows. The store keeps it.
func (l *lister) readMarks(n ast.Node) error {
	marks, err := l.y.Mapping(n, "types and their marks", nil)
	if err != nil {
		return err
	}
	l.marks, l.marked = map[string]string{}, marks
	for _, m := range marks {
		if l.marks[m.Key], err = l.y.Text(m.Value, "a mark"); err != nil {
			return err
		}
	}
	return nil
}

// readMissing reads what empty cells mean, by dtype or kind of dtypes, and returns the other sections.
func (l *lister) readMissing(top []yamlfile.Entry) (rest []yamlfile.Entry, err error) {
	for _, part := range top {
		if part.Key != "missing" {
			rest = append(rest, part)
			continue
		}
		rules, err := l.y.Mapping(part.Value, "dtypes and what their empty cells mean", nil)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			if !isDType(r.Key) {
				return nil, l.y.Errorf(r.At, "found %q in missing, expected a dtype, or one of %s%s; say what the empty cells of one column mean at that column", r.Key, strings.Join(missingKinds, ", "), suggest.Hint(r.Key, missingKinds))
			}
			v, err := l.y.Text(r.Value, "error, column or a value")
			if err != nil {
				return nil, err
			}
			l.m.file = append(l.m.file, Missing{r.Key, v})
		}
	}
	return rest, nil
}

func (l *lister) read(body ast.Node, top []yamlfile.Entry) error {
	for _, part := range top {
		if part.Key == "source" {
			l.source = &part
			continue
		}
		if part.Key == "fit" {
			var err error
			if l.fit, err = readFit(l.y, part.Value); err != nil {
				return err
			}
			continue
		}
		if part.Key == "marks" {
			if err := l.readMarks(part.Value); err != nil {
				return err
			}
			continue
		}
		if part.Key == "dangling_edges" {
			var err error
			if l.rules.DanglingEdges, err = readPolicy(l.y, part.Value, "error", "drop", "zeros"); err != nil {
				return err
			}
			continue
		}
		if part.Key == "duplicate_nodes" {
			var err error
			if l.rules.DuplicateNodes, err = readPolicy(l.y, part.Value, "error", "drop"); err != nil {
				return err
			}
			continue
		}
		if part.Key == "transforms" {
			var err error
			if l.transforms, err = readTransforms(l.y, part.Value); err != nil {
				return err
			}
			continue
		}
		entries, err := l.y.Mapping(part.Value, "types", nil)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if part.Key == "nodes" {
				err = l.readNode(e)
			} else {
				err = l.readEdge(e)
			}
			if err != nil {
				return err
			}
		}
	}
	if len(l.edges) == 0 && !(l.o.NodesAlone && len(l.nodes) > 0) {
		return l.y.Errorf(body, "found no edges, expected at least one edge type under the key edges")
	}
	return nil
}
