package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// kuzu is a folder of EXPORT DATABASE of Kùzu or LadybugDB: schema.cypher creates the tables, and copy.cypher says their files, Parquet or CSV. LadybugDB from 0.16 on
// writes no copy.cypher, and files nodes_TABLE.parquet and rels_TABLE.parquet.
type kuzu struct{}

const (
	kuzuSchemaFile = "schema.cypher"
	kuzuCopyFile   = "copy.cypher"
)

func (kuzu) name() string { return "kuzu" }
func (kuzu) about() string {
	return "a folder of EXPORT DATABASE of Kùzu or LadybugDB, with schema.cypher and tables in Parquet or CSV"
}
func (kuzu) becomes() string {
	return "a node type for each node table; an edge type for each pair of node tables of a relationship table"
}

func (kuzu) detect(_ string, names []string) bool { return slices.Contains(names, kuzuSchemaFile) }

// maxCypher is the most bytes of a schema.
const maxCypher = 16 << 20

// kuzuCopy is the file of a table: of a pair of node tables, for a relationship table.
type kuzuCopy struct {
	file    string
	line    int
	columns []string // properties in the file, after the ends of a relationship
	pair    [2]string
	options map[string]string
	named   bool // the columns of the file have the names of the schema
}

// kuzuReader reads a folder.
type kuzuReader struct {
	o      Options
	fsys   vfs.FS
	dir    string
	schema string
	raw    *raw
	tables []*kuzuTable
	m      *maker
	s      *Source
	left   []string
}

func (kuzu) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of its files; leave it out", path)
	}
	r := &kuzuReader{o: o, fsys: fsys, dir: path, schema: filepath.Join(path, kuzuSchemaFile), raw: &raw{fsys: fsys, dir: path, o: o}, m: &maker{gaps: newGaps(o)}, s: &Source{Primary: graph.In}}
	if err := r.raw.list(); err != nil {
		return nil, err
	}
	statements, err := r.statements(kuzuSchemaFile)
	if err != nil {
		return nil, err
	}
	if r.tables, err = kuzuSchema(r.schema, statements); err != nil {
		return nil, err
	}
	copies, err := r.copies()
	if err != nil {
		return nil, err
	}
	for _, t := range r.tables {
		if t.isRel {
			continue
		}
		if err := r.addNodes(ctx, t, copies[t.name]); err != nil {
			return nil, err
		}
	}
	for _, t := range r.tables {
		for _, c := range copies[t.name] {
			if !t.isRel {
				continue
			}
			if err := r.addEdges(ctx, t, c); err != nil {
				return nil, err
			}
		}
	}
	if len(r.s.Input.Edges) == 0 {
		return nil, sourcef("%s: found no relationship table with a file, expected at least one; import the node tables by a graph.yaml", r.schema)
	}
	if len(r.left) > 0 {
		r.s.Warnings = append(r.s.Warnings, fmt.Sprintf("%s: columns of these types are left out: %s", r.schema, strings.Join(r.left, ", ")))
	}
	r.s.Warnings = append(r.s.Warnings, r.m.notes...)
	if err := r.m.check(); err != nil {
		return nil, err
	}
	return r.s, checkTwice(&r.s.Input)
}

// statements reads a file of Cypher.
func (r *kuzuReader) statements(name string) ([]cypherStatement, error) {
	path := filepath.Join(r.dir, name)
	if err := r.raw.inside(path); err != nil {
		return nil, err
	}
	text, err := textfiles.Head(r.fsys, path, maxCypher)
	if err != nil {
		return nil, err
	}
	if len(text) == maxCypher {
		return nil, sourcef("%s: found %d bytes or more, expected fewer; is it a schema?", path, maxCypher)
	}
	r.s.use([]string{path})
	return cypherStatements(path, text)
}

func (r *kuzuReader) table(name string) *kuzuTable {
	i := slices.IndexFunc(r.tables, func(t *kuzuTable) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return r.tables[i]
}

// copies are the files of each table.
func (r *kuzuReader) copies() (map[string][]kuzuCopy, error) {
	out := map[string][]kuzuCopy{}
	if !slices.Contains(r.raw.names, kuzuCopyFile) {
		for _, t := range r.tables {
			c := kuzuCopy{file: "nodes_" + t.name + ".parquet", columns: t.names(), named: true, line: t.line}
			if t.isRel {
				c.file, c.pair = "rels_"+t.name+".parquet", t.pairs[0]
			}
			if t.isRel && len(t.pairs) > 1 {
				return nil, sourcef("%s:%d: found the pairs %v of the relationship table %s, and no %s that says their files, expected one pair; export the database with Kùzu, or a table for each pair", r.schema, t.line, t.pairs, t.name, kuzuCopyFile)
			}
			out[t.name] = []kuzuCopy{c}
		}
		return out, nil
	}
	path := filepath.Join(r.dir, kuzuCopyFile)
	statements, err := r.statements(kuzuCopyFile)
	if err != nil {
		return nil, err
	}
	for i := range statements {
		s := &statements[i]
		bad := func(text string) error {
			return sourcef("%s:%d: found a statement that is not read, expected COPY table (columns) FROM \"file\" (options); %s", path, s.line, text)
		}
		if !s.is(0, "COPY") || len(s.words) < 4 {
			return nil, bad("export the database again")
		}
		t := r.table(s.words[1])
		if t == nil {
			return nil, bad(fmt.Sprintf("the table %.40q is not in %s", s.words[1], kuzuSchemaFile))
		}
		c := kuzuCopy{line: s.line, options: map[string]string{}}
		at := 2
		if s.words[at] == "(" {
			for _, part := range cypherParts(s.words[at+1:]) {
				c.columns = append(c.columns, strings.Join(part, ""))
				at += len(part) + 1
			}
			at++
		} else {
			c.columns = t.names()
		}
		if !s.is(at, "FROM") || at+1 >= len(s.words) || !strings.HasPrefix(s.words[at+1], "'") {
			return nil, bad("export the database again")
		}
		c.file = s.words[at+1][1:]
		if at += 2; s.is(at, "(") {
			for _, part := range cypherParts(s.words[at+1:]) {
				if len(part) > 2 && part[1] == "=" { // Kùzu 0.11 writes delim=delim='|'
					c.options[strings.ToLower(part[0])] = strings.TrimPrefix(part[len(part)-1], "'")
				}
			}
		}
		if t.isRel {
			c.pair = [2]string{c.options["from"], c.options["to"]}
			if c.pair[0] == "" && len(t.pairs) == 1 {
				c.pair = t.pairs[0]
			}
			if !slices.Contains(t.pairs, c.pair) {
				return nil, bad(fmt.Sprintf("the relationship table %s has no pair from %q to %q", t.name, c.pair[0], c.pair[1]))
			}
		}
		out[t.name] = append(out[t.name], c)
	}
	return out, nil
}

// open opens the file of a table, whose columns get the names of the schema. ends are the names of the first two columns of a relationship table.
func (r *kuzuReader) open(t *kuzuTable, c kuzuCopy, ends ...string) (table.Table, []looks, error) {
	// The folder may have been elsewhere when the statements were written.
	if base := filepath.Base(c.file); base != c.file && slices.Contains(r.raw.names, base) {
		c.file = base
	}
	if filepath.Base(c.file) != c.file {
		return nil, nil, sourcef("%s:%d: found the file %q, expected one in the folder; correct the name", filepath.Join(r.dir, kuzuCopyFile), c.line, c.file)
	}
	path := filepath.Join(r.dir, c.file)
	if !slices.Contains(r.raw.names, c.file) {
		return nil, nil, sourcef("%s: found no file %s of the table %s, expected it; export the database again", r.dir, c.file, t.name)
	}
	if err := r.raw.inside(path); err != nil {
		return nil, nil, err
	}
	r.s.use([]string{path})
	names := append(slices.Clone(ends), c.columns...)
	isText := table.KindByName(path) == table.Text
	csv := textfiles.CSVOptions{}
	if isText {
		csv.Names, csv.Delimiter = names, ','
		if d := c.options["delim"]; len(d) == 1 {
			csv.Delimiter = d[0]
		}
		header, said := c.options["header"]
		if !said {
			is, err := r.isHeader(path, csv.Delimiter, c.columns)
			if err != nil {
				return nil, nil, err
			}
			header = strconv.FormatBool(is)
		}
		if strings.EqualFold(header, "true") {
			csv.Skip = 1
		}
		info, err := r.fsys.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if info.Size() == 0 { // a table without rows and without a header
			return nil, nil, nil
		}
	}
	x, err := tablefiles.Open(r.fsys, []string{path}, tablefiles.Options{CSVOptions: csv})
	if err != nil {
		return nil, nil, err
	}
	if !isText && !c.named {
		fields := x.Fields()
		if n := len(fields) + len(table.Unreadable(x)); n != len(names) {
			return nil, nil, sourcef("%s: found %d columns, expected %d, as %s says; export the database again", path, n, len(names), kuzuCopyFile)
		}
		of := map[string]string{}
		for i, f := range fields {
			_, property, exported := strings.Cut(f.Name, ".") // a.name, or r.since
			switch {
			case i < len(ends):
				of[ends[i]] = f.Name
			case exported:
				of[property] = f.Name
			case len(fields) == len(names): // a file of another program, whose columns are in the order of the statement
				of[names[i]] = f.Name
			}
		}
		x = views.Named(x, of)
	}
	fields, err := describe(x)
	return x, fields, err
}

// isHeader says whether the first line of a file ends with the names of columns: Kùzu looks for a header where no statement says whether there is one.
func (r *kuzuReader) isHeader(path string, delimiter byte, columns []string) (bool, error) {
	text, err := head(r.fsys, path)
	if err != nil || len(columns) == 0 {
		return false, err
	}
	cells, _ := textfiles.FirstCells(path, text, len(text) < headSize, delimiter)
	return len(cells) >= len(columns) && slices.EqualFunc(cells[len(cells)-len(columns):], columns, strings.EqualFold), nil
}

// columns are those of the schema that a file has.
func (r *kuzuReader) columns(ctx context.Context, t *kuzuTable, x table.Table, fields []looks, but string) (columns []table.Column, err error) {
	for i := range t.columns {
		c := &t.columns[i]
		if c.name == but {
			continue
		}
		f := field(fields, c.name)
		want, ok := c.field()
		if f == nil || !ok {
			r.left = append(r.left, fmt.Sprintf("%s.%s (%s)", t.name, c.name, c.typ))
			continue
		}
		w := &wanted{Field: want}
		if f.DType != graph.Invalid && f.guess == nil { // Parquet says it
			w = &wanted{}
			if len(want.Shape) > 0 && !slices.Contains(want.Shape, -1) && f.DType == want.DType { // a list of no fixed length, in which null is a value
				w.Field = want
			}
		}
		add, err := r.m.columns(ctx, x, f, w)
		if err != nil {
			return nil, err
		}
		columns = append(columns, add...)
	}
	return columns, nil
}

// addNodes adds a node table.
func (r *kuzuReader) addNodes(ctx context.Context, t *kuzuTable, copies []kuzuCopy) error {
	if len(copies) != 1 {
		return sourcef("%s:%d: found %d files of the table %s, expected one; export the database again", r.schema, t.line, len(copies), t.name)
	}
	if err := graph.CheckName(t.name); err != nil {
		return sourcef("%s:%d: %w; rename the table", r.schema, t.line, err)
	}
	x, fields, err := r.open(t, copies[0])
	if err != nil {
		return err
	}
	n := assemble.Nodes{Type: t.name, ID: keyColumn(t.key, r.o.IDs == idsInteger)}
	if x == nil {
		n.Table, n.ID = noNodes{r.schema}, keyColumn("", true)
		r.s.Input.Nodes = append(r.s.Input.Nodes, n)
		return nil
	}
	id := field(fields, t.key)
	if id == nil {
		return sourcef("%s:%d: found the primary key %q of the table %s, expected it in %s; export the database again", r.schema, t.line, t.key, t.name, copies[0].file)
	}
	n.Table = x
	if n.Columns, err = r.columns(ctx, t, x, fields, t.key); err != nil {
		return err
	}
	r.s.Input.Nodes = append(r.s.Input.Nodes, n)
	return nil
}

// addEdges adds the rows of a relationship table between two node tables.
func (r *kuzuReader) addEdges(ctx context.Context, t *kuzuTable, c kuzuCopy) error {
	if err := graph.CheckName(t.name); err != nil {
		return sourcef("%s:%d: %w; rename the table", r.schema, t.line, err)
	}
	ends := []string{labelledSrc, labelledDst}
	if c.named {
		ends = []string{"from", "to"}
	}
	x, fields, err := r.open(t, c, ends...)
	if err != nil {
		return err
	}
	e := assemble.Edges{Type: graph.EdgeType{Src: c.pair[0], Rel: t.name, Dst: c.pair[1]}, Table: x}
	for k, name := range c.pair {
		i := slices.IndexFunc(r.s.Input.Nodes, func(n assemble.Nodes) bool { return n.Type == name })
		if i < 0 {
			return sourcef("%s:%d: found the node table %.40q of the relationship table %s, expected one of the schema", r.schema, t.line, name, t.name)
		}
		col := keyColumn(ends[k], r.s.Input.Nodes[i].ID.DType == graph.Uint64)
		if k == 0 {
			e.Src = col
		} else {
			e.Dst = col
		}
	}
	if x == nil {
		e.Table = noNodes{r.schema}
	} else if e.Columns, err = r.columns(ctx, t, x, fields, ""); err != nil {
		return err
	}
	r.s.Input.Edges = append(r.s.Input.Edges, e)
	return nil
}
