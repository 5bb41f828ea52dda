package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
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
			return slices.Contains([]string{"transforms", "dangling_edges", "duplicate_nodes", "fit"}, e.Key)
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
	if err == nil {
		err = l.queries(ctx)
	}
	if err == nil {
		err = l.resolve(ctx)
	}
	if err == nil {
		err = l.m.check()
	}
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: l.p.files, Transforms: l.transforms, Rules: l.rules, Warnings: l.m.notes}
	s.Features = features.Plan{Fit: l.fit, Nodes: map[string][]features.Spec{}, Edges: map[string][]features.Spec{}}
	for _, n := range l.nodes {
		if n.features != nil {
			s.Features.Nodes[n.out.Type] = n.features
		}
		s.unreadable(n.base, n.listed)
		s.Input.Nodes = append(s.Input.Nodes, n.out)
	}
	for _, e := range l.edges {
		if e.features != nil {
			s.Features.Edges[e.typ.String()] = e.features
		}
		s.unreadable(e.base, e.listed)
		s.Input.Edges = append(s.Input.Edges, e.out)
		if e.reverse != "" {
			s.Input.Edges = append(s.Input.Edges, reverse(e.out, e.reverse))
		}
	}
	if err := checkTwice(&s.Input); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
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
}

// source holds the parts that node and edge types share: a table, arrays with the same rows, and columns.
type source struct {
	at      ast.Node
	names   []string // file names of the table
	query   *queryEntry
	csv     textfiles.CSVOptions
	listed  bool // the file lists the columns
	columns []columnEntry
	// features are what the file makes of the columns.
	features []features.Spec
	keys     []string // listed arrays that are ids or ends, and no features
	// base is the table without the arrays, joined the table of the arrays.
	base, joined table.Table
	fields       []looks
	beside       []arrayfiles.NpyColumn // arrays with the same rows that are not columns of the type
}

type columnEntry struct {
	wanted
	at    ast.Node
	file  string           // an .npy array, or text without a header
	lists arrayfiles.Lists // the offsets of an array of strings or lists
}

type nodeEntry struct {
	source
	id    string
	noID  bool // no column has the ids: they are the row numbers
	ids   IDs
	count uint64
	none  bool // the count is 0
	out   assemble.Nodes
	// uses are the columns of edges that contain ids of this type.
	uses    []*looks
	foreign []string // columns of the table that edges use as foreign keys
	whole   bool     // ids such as 2.0 are integers
}

type edgeEntry struct {
	source
	typ             graph.EdgeType
	src, dst        string
	indptr, indices string
	where           *assemble.Filter
	reverse         string
	asWritten       bool // the file gives symmetrise or reverse, so a column of the table does not decide it
	out             assemble.Edges
	srcLooks        *looks // nil: the end is the row number
	dstLooks        *looks
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
	return y.Mapping(body, "nodes and edges", []string{"nodes", "edges", "graphs", "missing", "dangling_edges", "duplicate_nodes", "transforms", "source", "fit"})
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
	if len(l.edges) == 0 {
		return l.y.Errorf(body, "found no edges, expected at least one edge type under the key edges")
	}
	return nil
}

var tableKeys = []string{"table", "source", "query", "columns", "names", "delimiter", "header", "missing_texts", "features"}

func (l *lister) readNode(e yamlfile.Entry) error {
	n := &nodeEntry{source: source{at: e.At}, ids: l.o.IDs, out: assemble.Nodes{Type: e.Key}}
	if err := graph.CheckName(e.Key); err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	fields, err := l.y.Mapping(e.Value, "a node type", append([]string{"id", "count"}, tableKeys...))
	if err != nil {
		return err
	}
	for _, f := range fields {
		switch f.Key {
		case "id":
			err = l.readID(f, n)
		case "count":
			n.count, err = l.y.Count(f.Value, "the number of nodes")
			n.none = n.count == 0
		default:
			err = l.readSource(f, &n.source)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(l.checkMissingTexts(e, &n.source), l.checkQuery(e, &n.source)); err != nil {
		return err
	}
	if (n.count > 0 || n.none) && (n.tabled() || n.columns != nil || n.id != "") {
		return l.y.Errorf(e.At, "found a count together with a table, an id or columns of %q, expected no count, as the rows give it; remove count", e.Key)
	}
	if n.id != "" && !n.tabled() && !n.array(n.id) {
		return l.y.Errorf(e.At, "found an id column of %q, expected a table or an array that has it; name the table", e.Key)
	}
	n.keyed(n.id)
	l.nodes = append(l.nodes, n)
	return nil
}

func (l *lister) readID(f yamlfile.Entry, n *nodeEntry) (err error) {
	if s, ok := f.Value.(*ast.StringNode); ok {
		n.id = s.Value
		return nil
	}
	if _, ok := f.Value.(*ast.NullNode); ok {
		n.noID = true
		return nil
	}
	fields, err := l.y.Mapping(f.Value, "column and dtype", []string{"column", "dtype"})
	for _, f := range fields {
		var s string
		if s, err = l.y.Text(f.Value, "a name"); err != nil {
			return err
		}
		if f.Key == "column" {
			n.id = s
		} else if n.ids, err = ParseIDs(s); err != nil {
			return l.y.Errorf(f.Value, "found ids %q, expected auto, integer or string%s", s, suggest.Hint(s, []string{"auto", "integer", "string"}))
		}
	}
	return err
}

// readSource reads a key that node and edge types share.
func (l *lister) readSource(f yamlfile.Entry, s *source) (err error) {
	switch f.Key {
	case "source", "query":
		return l.readQuery(f, s)
	case "features":
		s.features, err = readFeatures(l.y, f.Value)
	case "table":
		s.names, err = l.y.Texts(f.Value, "the name of a file")
	case "names":
		s.csv.Names, err = l.y.Texts(f.Value, "the names of the columns")
	case "header":
		s.csv.Header, err = l.y.Boolean(f.Value)
	case "missing_texts":
		s.csv.Missing, err = l.readMissingTexts(f.Value)
	case "delimiter":
		var d string
		if d, err = l.y.Text(f.Value, "a delimiter"); err == nil {
			if len(d) != 1 || !strings.Contains(",\t;| ", d) {
				return l.y.Errorf(f.Value, "found the delimiter %q, expected one of \",\", \"\\t\", \";\", \"|\" and \" \" (runs of spaces and tabs)", d)
			}
			s.csv.Delimiter = d[0]
		}
	case "columns":
		s.listed = true
		if list, ok := f.Value.(*ast.SequenceNode); ok {
			for _, v := range list.Values {
				name, err := l.y.Text(v, "the name of a column")
				if err != nil {
					return err
				}
				s.columns = append(s.columns, columnEntry{wanted: wanted{Field: table.Field{Name: name}}, at: v})
			}
			return nil
		}
		entries, err := l.y.Mapping(f.Value, "columns", nil)
		for _, e := range entries {
			c, err := l.readColumn(e)
			if err != nil {
				return err
			}
			s.columns = append(s.columns, c)
		}
		return err
	}
	return err
}

// readMissingTexts reads the texts that stand for an empty cell.
func (l *lister) readMissingTexts(n ast.Node) ([]string, error) {
	texts, err := l.y.Texts(n, `texts that stand for an empty cell, such as ["-", "n/a"]; write null in quotes`)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if t == "" || strings.TrimSpace(t) != t {
			return nil, l.y.Errorf(n, "found the text %q in missing_texts, expected one without blanks at its ends, which do not count, and not an empty one, which is an empty cell anyway; remove the blanks, or the entry", t)
		}
	}
	return texts, nil
}

// checkMissingTexts refuses missing_texts of what is no table of text by its keys. Other kinds of files are refused when they are opened.
func (l *lister) checkMissingTexts(e yamlfile.Entry, s *source) error {
	switch {
	case s.csv.Missing == nil || s.names != nil && !isArray(s.names[0]):
		return nil
	case s.query != nil:
		return l.y.Errorf(e.At, "found missing_texts with the query of %s, expected them with text files; write NULLIF(column, 'text') in the query", e.Key)
	}
	return l.y.Errorf(e.At, "found missing_texts of %s without a table of text, expected a CSV or JSON lines; remove missing_texts", e.Key)
}

// array says whether a listed column is an array.
func (s *source) array(name string) bool {
	return slices.ContainsFunc(s.columns, func(c columnEntry) bool { return c.Name == name && isArray(c.file) })
}

// keyed marks a listed array as the ids of nodes or an end of edges, and so as no feature.
func (s *source) keyed(name string) {
	if s.array(name) {
		s.keys = append(s.keys, name)
	}
}

// isColumn says whether a name names a file with one column.
func isColumn(name string) bool { return isArray(name) || isText(name) }

// readColumn reads "int64", "float32[128]", "feat.npy", "data.npz:x", "feat.csv.gz" or a mapping.
func (l *lister) readColumn(e yamlfile.Entry) (columnEntry, error) {
	c := columnEntry{wanted: wanted{Field: table.Field{Name: e.Key}}, at: e.At}
	if s, ok := e.Value.(*ast.StringNode); ok {
		if isColumn(s.Value) {
			c.file = s.Value
			return c, nil
		}
		return c, l.readType(&c, e.Value, s.Value)
	}
	fields, err := l.y.Mapping(e.Value, "dtype, file, array, from, categories and missing", []string{"dtype", "file", "array", "row_offsets", "string_offsets", "from", "categories", "missing", "empty"})
	if err != nil {
		return c, err
	}
	array := ""
	for _, f := range fields {
		var s string
		switch f.Key {
		case "row_offsets":
			c.lists.Rows, err = l.y.Texts(f.Value, "the name of an .npy array")
		case "from":
			c.from, err = l.y.Texts(f.Value, "columns to join")
		case "categories":
			if c.categories, err = l.y.Texts(f.Value, "the texts of the categories"); err == nil {
				if _, bad := table.NewCategories(c.categories); bad != nil {
					err = l.y.Errorf(f.Value, "column %q: %w", c.Name, bad)
				}
			}
		default:
			s, err = l.y.Text(f.Value, "a value")
		}
		if err != nil {
			return c, err
		}
		switch f.Key {
		case "string_offsets":
			c.lists.Strings = s
		case "dtype":
			err = l.readType(&c, f.Value, s)
		case "file":
			if c.file = s; !isColumn(s) && filepath.Ext(s) != npzSuffix {
				err = l.y.Errorf(f.Value, "found the file %q, expected an .npy array, an archive .npz with the key array, or numbers as .csv, .tsv or .txt without a header", s)
			}
		case "array":
			array = s
		case "missing", "empty":
			c.missing = s
		}
		if err != nil {
			return c, err
		}
	}
	if archive := filepath.Ext(c.file) == npzSuffix; archive != (array != "") {
		return c, l.y.Errorf(e.At, "found file %q and array %q of column %q, expected both for an array of an archive .npz, and otherwise no array; add the missing key, or remove array", c.file, array, c.Name)
	} else if archive {
		c.file += ":" + array
	}
	switch {
	case (c.lists.Rows != nil || c.lists.Strings != "") && (!isArray(c.file) || c.DType == graph.Invalid):
		return c, l.y.Errorf(e.At, "found offsets of column %q, expected also its dtype with its shape, such as \"int64[]\", and an .npy array as its file", c.Name)
	case c.categories != nil && c.DType == graph.Invalid:
		c.DType, c.Category = graph.String, true
	case c.categories != nil && !c.Category:
		return c, l.y.Errorf(e.At, "found categories of column %q with another dtype, expected the dtype category; remove categories, or give the dtype", c.Name)
	case c.from != nil && c.file != "":
		return c, l.y.Errorf(e.At, "found from and file of column %q, expected one of them", c.Name)
	}
	return c, nil
}

func (l *lister) readType(c *columnEntry, at ast.Node, s string) error {
	f, err := parseType(s)
	if err != nil {
		return l.y.Errorf(at, "column %q: %w", c.Name, err)
	}
	f.Name = c.Name
	c.Field = f
	return nil
}

func (l *lister) readEdge(e yamlfile.Entry) error {
	typ, err := graph.ParseEdgeType(e.Key)
	if err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	x := &edgeEntry{source: source{at: e.At}, typ: typ, out: assemble.Edges{Type: typ}}
	fields, err := l.y.Mapping(e.Value, "an edge type", append([]string{"src", "dst", "where", "reverse", "symmetrise", "indptr", "indices"}, tableKeys...))
	if err != nil {
		return err
	}
	for _, f := range fields {
		name := "the name of a column"
		switch f.Key {
		case "src":
			x.src, err = l.y.Text(f.Value, name)
		case "dst":
			x.dst, err = l.y.Text(f.Value, name)
		case "indptr":
			x.indptr, err = l.y.Text(f.Value, "the name of a file")
		case "indices":
			x.indices, err = l.y.Text(f.Value, "the name of a file")
		case "reverse":
			x.asWritten = true
			if x.reverse, err = l.y.Text(f.Value, "the name of a relation"); err == nil {
				if bad := graph.CheckName(x.reverse); bad != nil {
					err = l.y.Errorf(f.Value, "%w", bad)
				}
			}
		case "symmetrise":
			x.asWritten = true
			if x.out.Symmetrise, err = l.y.Boolean(f.Value); err == nil && x.out.Symmetrise && typ.Src != typ.Dst {
				err = l.y.Errorf(f.Value, "found symmetrise between %s and %s, expected one node type; name the other direction with reverse", typ.Src, typ.Dst)
			}
		case "where":
			err = l.readWhere(f, x)
		default:
			err = l.readSource(f, &x.source)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(l.checkMissingTexts(e, &x.source), l.checkQuery(e, &x.source)); err != nil {
		return err
	}
	if w := x.where; w != nil && slices.Contains(x.csv.Missing, w.Value) {
		return l.y.Errorf(e.At, "found the value %q of where among missing_texts, expected another one, as such cells are empty; leave it out of missing_texts", w.Value)
	}
	matrix := x.indptr != "" || x.indices != ""
	switch {
	case matrix && (x.indptr == "" || x.indices == "" || x.tabled() || x.src != "" || x.dst != "" || x.where != nil):
		return l.y.Errorf(e.At, "found some of indptr, indices and a table, expected both arrays and no table, src, dst or where; add the missing array, or remove what does not belong")
	case !matrix && !x.tabled() && !(x.array(x.src) && x.array(x.dst)):
		return l.y.Errorf(e.At, "found no table of %s, expected one, or arrays for src and dst among its columns, or indptr and indices", typ)
	}
	x.keyed(x.src)
	x.keyed(x.dst)
	l.edges = append(l.edges, x)
	return nil
}

func (l *lister) readWhere(f yamlfile.Entry, x *edgeEntry) error {
	fields, err := l.y.Mapping(f.Value, "a column and its value", nil)
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return l.y.Errorf(f.At, "found %d columns in where, expected one; split the edge type into one per value", len(fields))
	}
	value, err := l.y.Text(fields[0].Value, "a value of the column")
	x.where = &assemble.Filter{Column: fields[0].Key, Value: value}
	return err
}
