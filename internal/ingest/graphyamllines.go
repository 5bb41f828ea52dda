package ingest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/vfs"
)

// LineType is a node or edge type of a graph.yaml whose rows come as lines, each an object of JSON.
type LineType struct {
	Name  string // of the node type, or src:rel:dst
	Table string // what lines call its table: the name of the file without its ending
	Place string // of the type in the file, for errors
	Edge  bool
	// ID is the column of the ids of a node type; Src and Dst are those of the ends of an edge type, which lie in SrcType and DstType.
	ID, Src, Dst, SrcType, DstType string
	// OfRow says that an end of the edge type is the node of the row, with which the edge is dropped. Optional says that the graph.yaml leaves this end out, and a row whose other end is
	// empty has no edge.
	OfRow, Optional bool
	// Bare says that the type has no columns, so that nothing of it can change.
	Bare bool
	// Where and Value say which rows are edges; Where is "" if all are.
	Where, Value string
	Missing      []string // texts that stand for an empty cell
}

// Empty says whether a text stands for an empty cell.
func (t *LineType) Empty(text string) bool { return text == "" || slices.Contains(t.Missing, text) }

// LineTypes reads the types of a graph.yaml whose rows come as lines. Its tables need not exist.
func LineTypes(fsys vfs.FS, path string, o Options) ([]LineType, error) {
	var names []string
	if info, err := fsys.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		entries, err := fsys.ReadDir(path)
		if err != nil {
			return nil, err
		}
		names = []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if !(graphYAML{}).detect(path, names) || o.Format != "" && o.Format != (graphYAML{}).name() {
		return nil, usagef("%s: found no graph.yaml, expected one that says which table each line belongs to; write one with the types of the store", path)
	}
	if names != nil {
		path = filepath.Join(path, "graph.yaml")
	}
	l := &lister{y: yamlfile.File{Path: path, Kind: ErrSource}, p: newOpener(fsys, path, o), o: o, m: &maker{gaps: newGaps(o)}}
	body, err := l.y.Read(fsys)
	if err != nil {
		return nil, err
	}
	top, err := readSections(l.y, body)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(top, func(e yamlfile.Entry) bool { return e.Key == "graphs" }); i >= 0 {
		return nil, l.y.Errorf(top[i].At, "found many graphs, expected nodes and edges of one, whose rows come as lines; import the graphs to a collection")
	}
	if top, err = l.readMissing(top); err != nil {
		return nil, err
	}
	if err := l.read(body, top); err != nil {
		return nil, err
	}
	return l.lineTypes()
}

// lineTypes describes the types that have tables, of which lines bring the rows, and refuses what lines cannot bring.
func (l *lister) lineTypes() ([]LineType, error) {
	var types []LineType
	files := map[string]string{} // by the name of a table
	add := func(t LineType, s *source) (err error) {
		if t.Table, err = l.lineTable(t.Name, s); err != nil {
			return err
		}
		if file := files[t.Table]; file != "" && file != s.names[0] {
			return l.y.Errorf(s.at, "found the tables %s and %s, expected one of the name %s, as lines name their table so; rename one", file, s.names[0], t.Table)
		}
		files[t.Table] = s.names[0]
		t.Place, t.Missing = l.y.Place(s.at), s.csv.Missing
		t.Bare = s.listed && len(s.columns) == 0 || t.Optional && !s.listed
		types = append(types, t)
		return nil
	}
	for _, n := range l.nodes {
		if n.query == nil && n.names == nil && !slices.ContainsFunc(n.columns, func(c columnEntry) bool { return c.file != "" }) {
			continue
		}
		if err := add(LineType{Name: n.out.Type, ID: n.id}, &n.source); err != nil {
			return nil, err
		}
		if n.id == "" {
			return nil, l.y.Errorf(n.at, "found no id of %s, expected the column that names its nodes, as lines have no row numbers; add id: COLUMN", n.out.Type)
		}
	}
	for _, e := range l.edges {
		if e.indptr != "" {
			return nil, l.y.Errorf(e.at, "found indptr and indices of %s, expected table: NAME, as its rows come as lines; name the table", e.typ)
		}
		if err := l.checkEnds(e); err != nil {
			return nil, err
		}
		t := LineType{Name: e.typ.String(), Edge: true, SrcType: e.typ.Src, DstType: e.typ.Dst}
		l.lineEnds(e, &t)
		if e.where != nil {
			t.Where, t.Value = e.where.Column, e.where.Value
		}
		if err := add(t, &e.source); err != nil {
			return nil, err
		}
		for _, end := range [][2]string{{"src", t.Src}, {"dst", t.Dst}} {
			if end[1] == "" {
				return nil, l.y.Errorf(e.at, "found no %s of %s, expected the column that has it, as the edges of lines are found by their ends; add %s: COLUMN", end[0], e.typ, end[0])
			}
		}
	}
	if len(types) == 0 {
		return nil, l.y.Errorf(nil, "found no tables, expected one for each type whose rows come as lines; add table: NAME.jsonl")
	}
	return types, nil
}

// lineEnds finds the columns of the ends of an edge type. Where its table is one of nodes, the end that is not named is the node of the row.
func (l *lister) lineEnds(e *edgeEntry, t *LineType) {
	from, to := l.node(e.typ.Src), l.node(e.typ.Dst)
	same := func(n *nodeEntry) bool { return slices.Equal(n.names, e.names) }
	t.Src, t.Dst = e.src, e.dst
	switch {
	case e.src == "" && same(from) && (e.dst != "" || !same(to)):
		t.Src, t.Optional = from.id, true
	case e.dst == "" && same(to):
		t.Dst, t.Optional = to.id, true
	}
	t.OfRow = t.Optional || same(from) && t.Src == from.id || same(to) && t.Dst == to.id
}

// lineTable returns the name that lines give the table of a type.
func (l *lister) lineTable(typ string, s *source) (string, error) {
	if s.query != nil {
		return "", l.y.Errorf(s.at, "found a query of %s, expected table: NAME, as its rows come as lines; name the table, or follow the queries in an append of their own", typ)
	}
	for _, c := range s.columns {
		if c.file != "" {
			return "", l.y.Errorf(c.at, "found the file %s of column %q, expected columns of lines alone; write the column into the lines", c.file, c.Name)
		}
	}
	if len(s.names) != 1 {
		return "", l.y.Errorf(s.at, "found %d tables of %s, expected one, as its rows come as lines; name one", len(s.names), typ)
	}
	file := s.names[0]
	base := filepath.Base(file)
	if strings.HasSuffix(file, "/") || strings.ContainsAny(file, "*?[") || strings.Contains(base, "@") || isArray(file) {
		return "", l.y.Errorf(s.at, "found the table %s of %s, expected the name of one file, without its ending, as what lines name it; write table: NAME.jsonl", file, typ)
	}
	ext, compressed := table.SplitExtension(base)
	name := base[:len(base)-len(compressed)]
	if table.KindByName(base) != table.Unknown {
		name = name[:len(name)-len(ext)]
	}
	if name == "" {
		return "", l.y.Errorf(s.at, "found the table %q of %s, expected a name before the ending; write table: NAME.jsonl", file, typ)
	}
	return name, nil
}

// takeLines puts the files of Options.Lines in place of the tables. Types without rows are left out, but that edges may lead to their nodes.
func (l *lister) takeLines() error {
	types, err := l.lineTypes()
	if err != nil {
		return err
	}
	of := map[string]*LineType{}
	for i := range types {
		of[types[i].Name] = &types[i]
	}
	for _, n := range l.nodes {
		t := of[n.out.Type]
		if t == nil {
			continue
		}
		for _, e := range types { // the foreign keys of its table are no columns
			if e.Edge && e.Table == t.Table {
				n.foreign = append(n.foreign, e.Src, e.Dst)
			}
		}
		if n.left = l.o.Lines[t.Name] == ""; n.left {
			n.source, n.id = source{at: n.at}, ""
			continue
		}
		n.take(l.o.Lines[t.Name], n.id)
	}
	l.edges = slices.DeleteFunc(l.edges, func(e *edgeEntry) bool { return l.o.Lines[e.typ.String()] == "" })
	for _, e := range l.edges {
		t := of[e.typ.String()]
		if e.src == "" || e.dst == "" { // the columns belong to the node type
			e.listed = true
		}
		e.src, e.dst = t.Src, t.Dst
		keys := []string{t.Src, t.Dst}
		if t.Where != "" {
			keys = append(keys, t.Where)
		}
		e.take(l.o.Lines[t.Name], keys...)
	}
	return nil
}

// take makes a file of JSON lines the table of a type. Where the columns are listed, all else in the lines is ignored, and a column that no line of the file has is empty, so that
// it does not matter which lines come together.
func (s *source) take(file string, keys ...string) {
	s.lines, s.names = file, nil
	s.csv = textfiles.CSVOptions{Missing: s.csv.Missing}
	if !s.listed || slices.ContainsFunc(s.columns, func(c columnEntry) bool { return c.from != nil }) {
		return
	}
	for _, key := range keys {
		if !slices.Contains(s.csv.Names, key) {
			s.csv.Names = append(s.csv.Names, key)
		}
	}
	for _, c := range s.columns {
		if !slices.Contains(s.csv.Names, c.Name) {
			s.csv.Names = append(s.csv.Names, c.Name)
		}
	}
}

// openLines opens the lines of a type.
func (l *lister) openLines(s *source) (table.Table, error) {
	l.p.use(s.lines)
	return textfiles.OpenJSONLines(l.p.fsys, []string{s.lines}, s.csv.Names, s.csv.Missing)
}
