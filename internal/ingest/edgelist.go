package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// edgeList is one table with one row per edge. It gives a homogeneous graph, unless the ends have different id spaces in
// Neo4j's header: then these are the node types.
type edgeList struct{}

func (edgeList) name() string { return "edge-list" }
func (edgeList) about() string {
	return table.Expected + ", or a folder of them; the folder of a table of Delta Lake or Iceberg, also as DIR@version=N or DIR@time=T"
}

func (edgeList) becomes() string {
	return "a graph of one type, or of the id spaces of Neo4j's header; further columns become columns of the edges"
}

func (edgeList) detect(path string, names []string) bool {
	if names != nil {
		return tablefiles.IsTable(names)
	}
	switch table.KindByName(pattern(path)) {
	case table.Text, table.ParquetFile, table.ArrowFile, table.JSONLines:
		return true
	}
	return false
}

// isText says whether a path names a table of text.
func isText(path string) bool { return table.KindByName(pattern(path)) == table.Text }

// pattern returns the name of a table without the "@N" of its shards.
func pattern(path string) string {
	if i := lastAt(path); i >= 0 {
		return path[:i]
	}
	return path
}

// lastAt returns the index of the "@N" in a name, or -1.
func lastAt(path string) int {
	i := len(path)
	for i > 0 && path[i-1] >= '0' && path[i-1] <= '9' {
		i--
	}
	if i == len(path) || i == 0 || path[i-1] != '@' {
		return -1
	}
	return i - 1
}

func (edgeList) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	l := &edgeListTable{o: o}
	if err := l.open(fsys, path); err != nil {
		return nil, err
	}
	fields, err := describe(l.t)
	if err != nil {
		return nil, err
	}
	if l.src, l.dst, err = pickEnds(l.t, fields, o.Src, o.Dst, [2]*looks{}); err != nil {
		if err := notEdgeList(l.files[0], fields); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w with `Src` and `Dst`, or name all with `Columns` if there is no header%s", err, otherReading(l.files[0], fields))
	}
	for _, f := range []*looks{l.src, l.dst} {
		if err := f.peekIDs(ctx, l.t); err != nil {
			return nil, err
		}
	}
	integer := l.hasIntegers()
	typ, err := l.edgeType()
	if err != nil {
		return nil, err
	}
	if taken := o.Marks[typ.String()]; taken != "" && tablefiles.MarkOf(l.t) != "" {
		if l.t, err = tablefiles.Open(fsys, l.files, tablefiles.Options{Outside: o.Outside, Mark: taken}); err != nil {
			return nil, err
		}
	}
	src, dst := l.src.Name, l.dst.Name
	e := assemble.Edges{Type: typ, Table: l.t, Src: keyColumn(src, integer), Dst: keyColumn(dst, integer)}
	e.Src.Inferred, e.Dst.Inferred = o.IDs == idsAuto, o.IDs == idsAuto
	l.lookAtEnds(ctx, &e)
	m := &maker{gaps: newGaps(o)}
	if e.Columns, err = m.features(ctx, l.t, fields, l.specs, o.Vectors, src, dst); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	l.warnings = append(l.warnings, m.notes...)
	nodes, err := l.nodes(&e, integer)
	if err != nil {
		return nil, err
	}
	undirected, note, err := gephiUndirected(ctx, l.t, fields, src, dst)
	if err != nil {
		return nil, err
	}
	if note != "" {
		l.warnings = append(l.warnings, note)
	}
	e.Symmetrise = (l.snap.undirected || undirected) && typ.Src == typ.Dst
	var counts countsLine
	if text, ok := l.t.(*textfiles.CSV); ok && len(l.files) == 1 {
		counts = newCountsLine(text)
	}
	s := &Source{
		counts:   counts,
		Primary:  graph.In,
		Files:    l.t.Files(),
		Warnings: l.warnings,
		Declared: l.snap.Declared,
		Input: assemble.Input{
			Nodes: nodes,
			Edges: []assemble.Edges{e},
		},
	}
	s.mark(&o, typ.String(), l.t)
	return s, nil
}

// edgeListTable is the table of an edge list while it is opened.
type edgeListTable struct {
	o        Options
	files    []string
	t        table.Table
	specs    []table.Field // of `Columns`; nil: none
	snap     snapComments
	src, dst *looks
	warnings []string
}

// open opens the files of a path and of `More` as one table.
func (l *edgeListTable) open(fsys vfs.FS, path string) error {
	var folders []string
	for _, path := range append([]string{path}, l.o.More...) {
		found, folder, err := tablefiles.FindPath(fsys, path, l.o.Outside)
		if err != nil {
			return sourcef("%w", err)
		}
		if l.files = append(l.files, found...); folder != "" {
			folders = append(folders, folder)
		}
	}
	kind, err := tablefiles.KindOf(fsys, l.files[0])
	if err != nil {
		return err
	}
	if kind == table.Unknown && l.o.Format != "" {
		kind = table.Text // Open refuses what is none
	}
	if kind == table.Text {
		l.t, l.specs, l.snap, err = openEdgeList(fsys, l.files, folders, l.o)
	} else {
		l.t, l.specs, l.warnings, err = openEdgeColumns(fsys, l.files, folders, l.o)
	}
	if err != nil {
		return err
	}
	l.warnings = append(l.warnings, l.snap.warnings...)
	if l.specs == nil {
		l.warnings = append(l.warnings, unnamed(l.t)...)
	}
	return nil
}

// hasIntegers says whether ids are read as integers, and warns of texts among integers.
func (l *edgeListTable) hasIntegers() bool {
	if l.o.IDs != idsAuto {
		return l.o.IDs == idsInteger
	}
	if l.src.unsigned && l.dst.unsigned {
		return true
	}
	for _, f := range []*looks{l.src, l.dst} {
		if f.mixed {
			l.warnings = append(l.warnings, fmt.Sprintf("%s: found id %q among integers, so all ids are read as strings; give `IDs` integer to make it an error, or `IDs` string to read strings without this warning",
				l.t.Where(f.oddRow, f.Name), f.odd))
		}
	}
	return false
}

// edgeType is the type of the edges, by the names of the ends and the options.
func (l *edgeListTable) edgeType() (graph.EdgeType, error) {
	typ := edgeTypeOf(l.src.Name, l.dst.Name)
	if typ.Src, typ.Dst = cmp.Or(l.o.SrcType, typ.Src), cmp.Or(l.o.DstType, typ.Dst); l.o.SrcType+l.o.DstType != "" {
		for _, name := range []string{typ.Src, typ.Dst} {
			if err := graph.CheckName(name); err != nil {
				return typ, usagef("`SrcType` and `DstType`: %w", err)
			}
		}
	}
	return typ, nil
}

// lookAtEnds warns of what the ids of the ends look like, and has those that are whole numbers with a point read as integers.
func (l *edgeListTable) lookAtEnds(ctx context.Context, e *assemble.Edges) {
	o, src, dst := l.o, l.src, l.dst
	if o.Src+o.Dst != "" && o.SrcType+o.DstType == "" && e.Type.Src == e.Type.Dst && !isPair(src.Name, dst.Name) && overlap(ctx, l.t, e.Src, e.Dst) {
		l.warnings = append(l.warnings, fmt.Sprintf("%s: found equal ids in the columns %q and %q, which are read as one node each; if the columns are of two types of nodes, name them with `SrcType` and `DstType`, and give both the same name otherwise",
			l.t.Files()[0], src.Name, dst.Name))
	}
	for _, f := range []*looks{src, dst} {
		if note := blanksNote(l.t, f); note != "" {
			l.warnings = append(l.warnings, note)
		}
	}
	if note := kindsNote(l.t.Files()[0], src, dst); note != "" && o.IDs != idsString && o.SrcType+o.DstType == "" && e.Type.Src == e.Type.Dst {
		l.warnings = append(l.warnings, note)
	}
	if whole := wholeNumbers(src, dst); whole != nil && o.IDs != idsString {
		e.Src.Whole, e.Dst.Whole = src.whole, dst.whole
		l.warnings = append(l.warnings, fmt.Sprintf("%s: found whole numbers with a point as ids, in %s, and reads integers; give `IDs` string to keep the texts", l.t.Files()[0], strings.Join(whole, ", ")))
	}
}

// nodes is the node types of the ends, which have no table. integer says whether ids are integers.
func (l *edgeListTable) nodes(e *assemble.Edges, integer bool) ([]assemble.Nodes, error) {
	if !integer && l.o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with string ids, expected it with integer ids, which it bounds")
	}
	nodes := []assemble.Nodes{{Type: e.Type.Src, ID: table.Column{DType: e.Src.DType}, Count: l.o.NumNodes}}
	if e.Type.Dst == e.Type.Src {
		return nodes, nil
	}
	if l.o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with the node types %s and %s, expected it with one node type", e.Type.Src, e.Type.Dst)
	}
	return append(nodes, assemble.Nodes{Type: e.Type.Dst, ID: table.Column{DType: e.Dst.DType}}), nil
}

var errEnough = errors.New("enough rows")

// overlap says whether a row among the first has the id of a source that is the id of a destination in one of them.
func overlap(ctx context.Context, t table.Table, src, dst table.Column) bool {
	found := false
	_, err := t.Scan(ctx, []table.Column{src, dst}, 1, func(_ int, c *table.Chunk) error {
		ids := [2]map[string]bool{{}, {}}
		for i, seen := range ids {
			v := &c.Columns[i]
			if src.DType == graph.String {
				for _, id := range texts(v) {
					seen[string(id)] = true
				}
				continue
			}
			for at := 0; at < len(v.Data); at += 8 {
				seen[string(v.Data[at:at+8])] = true
			}
		}
		for id := range ids[0] {
			found = found || id != "" && ids[1][id]
		}
		return errEnough
	})
	return found && errors.Is(err, errEnough) // the import meets any other error again and returns it
}

// features returns the columns of an edge list that are not ends: the vectors, and then the columns of
// specs or, where it is nil, all other columns.
func (m *maker) features(ctx context.Context, t table.Table, fields []looks, specs []table.Field, vectors []string, ends ...string) (cols []table.Column, err error) {
	used := map[string]bool{}
	for _, name := range ends {
		used[name] = true
	}
	var joins []table.Column
	for _, v := range vectors {
		name, from, ok := strings.Cut(v, "=")
		name, typ, typed := strings.Cut(name, ":")
		w := &wanted{from: strings.Split(from, ",")}
		if !ok || name == "" || from == "" {
			return nil, usagef("`Vectors`: found %q, expected NAME=COLUMNS, such as feat=f0:f127, feat=f* or feat:float32=a,b", v)
		}
		if typed {
			if w.Field, err = parseType(typ); err != nil {
				return nil, usagef("`Vectors`: %q: %w", v, err)
			}
		}
		add, parts, err := m.vector(name, w, fields, ends)
		if err != nil {
			return nil, sourcef("%s: `Vectors` %s: %w", t.Files()[0], v, err)
		}
		joins = append(joins, add...)
		for _, name := range parts {
			used[name] = true
		}
	}
	for i := range fields {
		f := &fields[i]
		if used[f.Name] || specs == nil && f.Ignored {
			continue
		}
		w := &wanted{}
		if specs != nil {
			k := slices.IndexFunc(specs, func(c table.Field) bool { return c.Name == f.Name })
			if k < 0 {
				continue
			}
			w.Field = specs[k]
		}
		add, err := m.columns(ctx, t, f, w)
		if err != nil {
			return nil, err
		}
		cols = append(cols, add...)
	}
	return append(cols, joins...), nil
}

// openEdgeList opens files with or without a header. If the caller names columns, the files have no header, unless the first
// line contains all of these names. The comments of a file without a header can name its columns.
func openEdgeList(fsys vfs.FS, files, folders []string, o Options) (table.Table, []table.Field, snapComments, error) {
	csv := tablefiles.Options{CSVOptions: textfiles.CSVOptions{Delimiter: o.Delimiter}, Folders: folders, Text: o.Format != ""}
	t, err := tablefiles.Open(fsys, files, csv)
	none := (*textfiles.NoHeaderError)(nil)
	snap, serr := readSNAP(fsys, files)
	if serr != nil {
		return nil, nil, snap, firstOf(err, serr)
	}
	dicts, derr := dictionaries(t, none, err, files[0])
	if derr != nil {
		return nil, nil, snap, derr
	}
	if o.Columns == "" && dicts {
		csv.Names = []string{"src", "dst", "{}"}
		t, err = tablefiles.Open(fsys, files, csv)
		return t, []table.Field{{Name: "src"}, {Name: "dst"}}, snap, err
	}
	if o.Columns == "" {
		if !errors.As(err, &none) {
			return t, nil, snap, err
		}
		if csv.Names = snap.names(none.Cells, files[0]); csv.Names == nil {
			return nil, nil, snap, fmt.Errorf("%w; for example `Columns` src,dst,weight:float32%s", err, matrixReading(none.Cells))
		}
		t, err = tablefiles.Open(fsys, files, csv)
		return t, nil, snap, err
	}
	specs, perr := parseColumns(o.Columns)
	if perr != nil {
		return nil, nil, snap, perr
	}
	if err == nil {
		have := t.Fields()
		if !slices.ContainsFunc(specs, func(c table.Field) bool {
			return !slices.ContainsFunc(have, func(f table.Field) bool { return f.Name == c.Name })
		}) {
			return t, specs, snap, nil
		}
	}
	for _, c := range specs {
		csv.Names = append(csv.Names, c.Name)
	}
	t, err = openTable(fsys, files, csv)
	return t, specs, snap, err
}

// dictionaries says whether the third cell of each line is the empty dictionary of Python that networkx.write_edgelist writes
// for an edge without attributes. Others are an error.
func dictionaries(t table.Table, none *textfiles.NoHeaderError, err error, file string) (bool, error) {
	var first []string
	switch {
	case errors.As(err, &none):
		first = none.Cells
	case err == nil:
		for _, f := range t.Fields() {
			first = append(first, f.Name)
		}
	}
	switch {
	case len(first) < 3 || !strings.HasPrefix(first[2], "{"):
		return false, nil
	case len(first) == 3 && first[2] == "{}":
		return true, nil
	}
	return false, sourcef("%s: found the dictionary %s of Python in the first line, expected columns; write the file with networkx.write_weighted_edgelist, or with write_edgelist and data=False or data=[\"weight\"]", file, strings.Join(first[2:], " "))
}

// firstOf returns the first of two errors that there is.
func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// openEdgeColumns opens files whose columns have names. The caller can choose among the columns.
func openEdgeColumns(fsys vfs.FS, files, folders []string, o Options) (table.Table, []table.Field, []string, error) {
	options := tablefiles.Options{Folders: folders, Outside: o.Outside}
	var specs []table.Field
	if o.Columns != "" {
		var err error
		if specs, err = parseColumns(o.Columns); err != nil {
			return nil, nil, nil, err
		}
		for _, c := range specs { // of JSON lines
			options.Names = append(options.Names, c.Name)
		}
	}
	t, err := tablefiles.Open(fsys, files, options)
	if err != nil {
		return nil, nil, nil, err
	}
	if specs == nil {
		var s Source
		s.unreadable(t, false)
		return t, nil, s.Warnings, nil
	}
	var names []string
	for _, f := range t.Fields() {
		names = append(names, f.Name)
	}
	if k, ok := t.(interface{ Keys() []string }); ok && len(k.Keys()) > 0 { // its fields are the columns that were asked for
		names = k.Keys()
	}
	for _, c := range specs {
		if !slices.Contains(names, c.Name) {
			return nil, nil, nil, usagef("found the column %q in `Columns`, expected some of %s, which %s has; correct `Columns`, or give the names of all columns if the file has no header%s", c.Name, table.List(some(names)), files[0], suggest.Hint(c.Name, names))
		}
	}
	return t, specs, nil, nil
}

// unreadable warns of the columns of a table that cannot be read, unless the columns to read are listed.
func (s *Source) unreadable(t table.Table, listed bool) {
	if t == nil || listed {
		return
	}
	warnings := unnamed(t)
	for _, c := range table.Unreadable(t) {
		warnings = append(warnings, fmt.Sprintf("%s: the column %s is left out: it is not a number, bool or string, or a list of them", t.Files()[0], c))
	}
	for _, w := range warnings {
		if !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}

// unnamed warns of columns of text without a name that have values.
func unnamed(t table.Table) (warnings []string) {
	for _, i := range table.Unnamed(t) {
		warnings = append(warnings, fmt.Sprintf("%s: column %d has no name and is left out, as the index of pandas and the names of R's rows are; give it a name to keep it", t.Files()[0], i))
	}
	return warnings
}

// openTable opens a table. If the caller names the columns of text that has a header, the header would become a row. It is
// detected by a cell of the first line that is the only one of its column that is not a number, by usual names of both ends of
// edges, or by the names of the caller.
func openTable(fsys vfs.FS, files []string, o tablefiles.Options) (table.Table, error) {
	if o.Names != nil && o.Header {
		return nil, usagef("%s: found names of columns and a header that is to be read, expected one of them; leave the names out to use those of the header, or the header if there is none", files[0])
	}
	whole, err := tablefiles.Open(fsys, files, o)
	t, text := whole.(*textfiles.CSV)
	if err != nil || o.Names == nil || !text {
		return whole, err
	}
	if first := t.First(); isHeader(first, o.Names) {
		return nil, usagef("%s: found the first line %q, which looks like a header, expected data, as the names %s are given for a file without a header; leave the names out to use those of the header", files[0], strings.Join(first, ","), strings.Join(o.Names, ","))
	}
	headed, err := textfiles.OpenCSV(fsys, files[:1], textfiles.CSVOptions{Delimiter: o.Delimiter})
	if err != nil || len(headed.Fields()) != len(o.Names) {
		return t, nil
	}
	with, err := t.Guess()
	if err != nil {
		return nil, err
	}
	without, err := headed.Guess()
	if err != nil {
		return nil, err
	}
	for i, f := range headed.Fields() {
		if without[i].Seen && without[i].Number && !with[i].Number {
			return nil, usagef("%s: found %q in the first line above numbers, expected a number, as the names %s are given for a file without a header; leave the names out, or give those of the header", files[0], f.Name, strings.Join(o.Names, ","))
		}
	}
	return t, nil
}
