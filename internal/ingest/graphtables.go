package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/suggest"
)

// resolve opens the tables and decides what the file does not say: the ends of edges, the kinds of ids, the dtypes of
// columns.
func (l *lister) resolve(ctx context.Context) error {
	for _, n := range l.nodes {
		n.taken = l.o.Marks[n.out.Type]
		if err := l.open(&n.source); err != nil {
			return err
		}
	}
	for _, e := range l.edges {
		if err := l.ends(ctx, e); err != nil {
			return err
		}
	}
	for _, n := range l.nodes {
		if err := l.identify(ctx, n); err != nil {
			return err
		}
	}
	for _, e := range l.edges {
		if err := l.edge(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// place puts the place that names a table before an error about it.
func (l *lister) place(at ast.Node, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), l.y.Path+":") {
		return err
	}
	return l.y.Errorf(at, "%w", err)
}

// open opens the table of a type, and the arrays with the same rows.
func (l *lister) open(s *source) error {
	if err := l.openBase(s); err != nil {
		return l.place(s.at, err)
	}
	s.joined = s.base
	arrays, texts, err := l.openColumns(s)
	if err != nil {
		return err
	}
	if arrays != nil {
		n, err := arrayfiles.OpenNpy(l.p.fsys, arrays)
		if err != nil {
			return l.place(s.at, err)
		}
		if s.joined = n; s.base != nil {
			s.joined = arrayfiles.Beside(s.base, n)
		}
		if err := s.add(n); err != nil {
			return err
		}
	}
	for _, t := range texts {
		if err := s.add(t); err != nil {
			return err
		}
	}
	if s.joined != nil {
		texts = append(texts, s.joined) // after the others, whose columns replace its columns of the same names
	}
	if len(texts) == 1 {
		s.joined = texts[0]
	} else if len(texts) > 1 {
		s.joined = views.InStep(texts...)
	}
	return nil
}

// openBase opens the table of a type, without the arrays beside it.
func (l *lister) openBase(s *source) (err error) {
	if s.base == nil && s.names != nil {
		if s.base, err = l.p.open(s.names, s.csv, s.taken); err != nil {
			return err
		}
	}
	if s.lines != "" {
		if s.base, err = l.openLines(s); err != nil {
			return err
		}
	}
	if s.query != nil {
		if err := l.openQueried(s); err != nil {
			return err
		}
	}
	if s.base == nil {
		return nil
	}
	if s.fields, err = describe(s.base); err != nil {
		return err
	}
	if s.query != nil {
		s.fields = s.query.queried.declare(s.fields)
	}
	return nil
}

// openColumns finds the files of columns of a type: the arrays, with those beside its table, and tables of texts.
func (l *lister) openColumns(s *source) (arrays []arrayfiles.NpyColumn, texts []table.Table, err error) {
	arrays = slices.Clone(s.beside)
	for _, c := range s.columns {
		if c.file == "" {
			continue
		}
		files, err := l.p.find(c.file)
		if err != nil {
			return nil, nil, l.place(c.at, err)
		}
		if len(files) != 1 {
			return nil, nil, l.y.Errorf(c.at, "found %d files of column %q, expected one; name one file", len(files), c.Name)
		}
		if isText(c.file) {
			t, err := l.values(c, files[0])
			if err != nil {
				return nil, nil, l.place(c.at, err)
			}
			texts = append(texts, t)
			continue
		}
		a := arrayfiles.NpyColumn{Name: c.Name, Path: files[0]}
		if c.lists.Rows != nil || c.lists.Strings != "" {
			if a.Lists, err = l.lists(c); err != nil {
				return nil, nil, l.place(c.at, err)
			}
		}
		arrays = append(arrays, a)
	}
	return arrays, texts, nil
}

// lists finds the offsets of a column of strings or lists.
func (l *lister) lists(c columnEntry) (*arrayfiles.Lists, error) {
	out := &arrayfiles.Lists{DType: c.DType, Shape: c.Shape}
	names := c.lists.Rows
	if c.lists.Strings != "" {
		names = append(slices.Clone(names), c.lists.Strings)
	}
	files, err := l.p.find(names...)
	if err == nil && len(files) != len(names) {
		err = fmt.Errorf("found %d files of offsets of column %q, expected %d; name one file", len(files), c.Name, len(names))
	}
	if err != nil {
		return nil, err
	}
	if c.lists.Strings != "" {
		files, out.Strings = files[:len(files)-1], files[len(files)-1]
	}
	out.Rows = files
	return out, nil
}

// add adds the fields of a table, which replace fields of the same names.
func (s *source) add(t table.Table) error {
	fields, err := describe(t)
	for _, f := range fields {
		s.fields = slices.DeleteFunc(s.fields, func(g looks) bool { return g.Name == f.Name })
	}
	s.fields = append(s.fields, fields...)
	return err
}

// values opens text without a header as one column, whose rows are the numbers of a line.
func (l *lister) values(c columnEntry, file string) (table.Table, error) {
	t, err := textfiles.OpenCSV(l.p.fsys, []string{file}, textfiles.CSVOptions{Numbered: true, Delimiter: l.o.Delimiter})
	if err != nil {
		return nil, err
	}
	fields, err := describe(t)
	if err != nil {
		return nil, err
	}
	f := table.Field{Name: c.Name, DType: c.DType}
	switch n := len(fields); {
	case n == 0:
		return nil, sourcef("%s: found no lines, expected one per row; write one line per row", file)
	case n > 1:
		f.Shape = []int{n}
	}
	for i := range fields {
		switch {
		case fields[i].text || c.DType == graph.String:
			return nil, sourcef("%s: found strings for column %q, expected numbers without a header; put strings into the table", file, c.Name)
		case c.DType != graph.Invalid:
		case fields[i].DType != graph.Int64:
			f.DType = graph.Float32
		case f.DType == graph.Invalid:
			f.DType = graph.Int64
		}
	}
	return views.Stack(t, f, fieldNames(fields)), nil
}

// checkEnds refuses an edge type whose node types are not listed.
func (l *lister) checkEnds(e *edgeEntry) error {
	for _, typ := range []string{e.typ.Src, e.typ.Dst} {
		if l.node(typ) == nil {
			var names []string
			for _, n := range l.nodes {
				names = append(names, n.out.Type)
			}
			return l.y.Errorf(e.at, "found the node type %q in %s, expected one of the nodes %s%s; list it under nodes, as %s: {} if only edges refer to it", typ, e.typ, strings.Join(names, ", "), suggest.Hint(typ, names), typ)
		}
	}
	return nil
}

// ends opens the table of an edge type and finds the columns of its ends.
func (l *lister) ends(ctx context.Context, e *edgeEntry) error {
	if err := l.checkEnds(e); err != nil {
		return err
	}
	if err := l.openPairs(e); err != nil {
		return l.place(e.at, err)
	}
	e.taken = l.o.Marks[e.typ.String()]
	if err := l.open(&e.source); err != nil {
		return err
	}
	if e.where != nil && field(e.fields, e.where.Column) == nil {
		return l.y.Errorf(e.at, "found the column %q in where, expected one of %s%s", e.where.Column, table.List(some(fieldNames(e.fields))), suggest.Hint(e.where.Column, fieldNames(e.fields)))
	}
	src, dst := l.node(e.typ.Src), l.node(e.typ.Dst)
	if err := e.pickEnds(src, dst); err != nil {
		return l.y.Errorf(e.at, "%w with src and dst", err)
	}
	for _, f := range []*looks{e.srcLooks, e.dstLooks} {
		if err := f.peekIDs(ctx, e.base); err != nil {
			return l.place(e.at, err)
		}
	}
	if e.srcLooks != nil {
		src.uses = append(src.uses, e.srcLooks)
	}
	if e.dstLooks != nil {
		dst.uses = append(dst.uses, e.dstLooks)
	}
	for _, f := range []*looks{e.srcLooks, e.dstLooks} {
		for _, n := range l.nodes {
			if f != nil && n.base != nil && n.base == e.base {
				n.foreign = append(n.foreign, f.Name)
			}
		}
	}
	return nil
}

// openPairs opens the arrays that are the ends of an edge type, if it has no other table.
func (l *lister) openPairs(e *edgeEntry) error {
	switch {
	case e.indptr != "":
		files, err := l.p.find(e.indptr, e.indices)
		if err != nil {
			return err
		}
		if len(files) != 2 {
			return fmt.Errorf("found %d files of indptr and indices, expected 2; name one file each", len(files))
		}
		e.base, err = arrayfiles.OpenCSC(l.p.fsys, files[0], files[1])
		return err
	case e.names != nil && isArray(e.names[0]):
		files, err := l.p.find(e.names...)
		if err != nil {
			return err
		}
		if len(files) != 1 {
			return fmt.Errorf("found %d arrays, expected one with the ends of edges; name one file", len(files))
		}
		e.base, err = arrayfiles.OpenPairs(l.p.fsys, files[0])
		return err
	}
	return nil
}

// pickEnds finds the columns of the ends, between nodes of src and dst. Where the table is one of nodes, the end that is not named
// is the node of the row.
func (e *edgeEntry) pickEnds(src, dst *nodeEntry) (err error) {
	srcRow := e.src == "" && src.base == e.base && (e.dst != "" || dst.base != e.base)
	dstRow := !srcRow && e.dst == "" && dst.base == e.base
	keys := [2]*looks{e.key(src), e.key(dst)}
	switch {
	case srcRow:
		if e.dstLooks, err = pickEnd(e.joined, e.fields, e.dst, dstNames, keys[1]); err != nil {
			return fmt.Errorf("%w; name the column of the destination", err)
		}
	case dstRow:
		if e.srcLooks, err = pickEnd(e.joined, e.fields, e.src, srcNames, keys[0]); err != nil {
			return fmt.Errorf("%w; name the column of the source", err)
		}
	default:
		e.srcLooks, e.dstLooks, err = pickEnds(e.joined, e.fields, e.src, e.dst, keys)
	}
	return err
}

// key returns the field of an edge table with the name that the ids of a node type have there, or TYPE_id; nil: there is none, or
// both ends would have it. Names of ids of all types, such as id, do not count.
func (e *edgeEntry) key(n *nodeEntry) *looks {
	if e.typ.Src == e.typ.Dst {
		return nil
	}
	for _, name := range []string{n.id, n.out.Type + "_id"} {
		if f := field(e.fields, name); f != nil && !slices.Contains(idNames, name) {
			return f
		}
	}
	return nil
}

// identify decides how the ids of a node type are read, and which columns it has.
func (l *lister) identify(ctx context.Context, n *nodeEntry) error {
	integer := true
	ids := slices.Clone(n.uses)
	switch {
	case n.none:
		n.out.ID = keyColumn("", true)
		n.out.Table = noNodes{l.y.Path}
		return nil
	case n.joined == nil:
		if n.count == 0 {
			for _, f := range n.uses {
				integer = integer && f.unsigned
			}
			if n.ids != idsAuto {
				integer = n.ids == idsInteger
			}
		}
		n.out.Count = n.count
		n.out.ID = keyColumn("", integer)
		n.out.ID.Inferred = n.ids == idsAuto
	case n.id != "" || !n.noID && slices.ContainsFunc(idNames, func(name string) bool { return candidates(n.fields, name, false) != nil }):
		f, err := pick(n.joined, n.fields, n.id, idNames)
		if err != nil {
			return l.y.Errorf(n.at, "%w", err)
		}
		// Integers that are not the row numbers are keys.
		integer = f.rows
		if n.ids != idsAuto {
			integer = n.ids == idsInteger
		}
		n.out.ID = keyColumn(f.Name, integer)
		n.out.ID.Inferred, n.out.ID.Whole = n.ids == idsAuto, f.whole
		ids = append(ids, f)
		l.m.notes = noted(l.m.notes, blanksNote(n.joined, f))
	default:
		n.out.ID = keyColumn("", true)
	}
	whole := wholeNumbers(ids...)
	if n.whole = whole != nil && n.ids != idsString; n.whole {
		l.m.note("node type %s: found whole numbers with a point as ids, in %s, and reads integers; give it ids of the dtype string to keep the texts", n.out.Type, strings.Join(whole, ", "))
	}
	n.out.ID.Whole = n.out.ID.Whole && n.whole
	n.out.Table = n.joined
	if n.joined == nil {
		if n.columns != nil {
			return l.y.Errorf(n.at, "found columns of %q, expected a table that has them; name the table", n.out.Type)
		}
		return nil
	}
	var err error
	n.out.Columns, err = l.columns(ctx, &n.source, append(n.foreign, n.out.ID.Name))
	return err
}

// columns returns the columns that are listed, or otherwise all columns except some.
func (l *lister) columns(ctx context.Context, s *source, but []string) ([]table.Column, error) {
	var cols []table.Column
	if !s.listed {
		for i := range s.fields {
			f := &s.fields[i]
			if slices.Contains(but, f.Name) || f.Ignored {
				continue
			}
			add, err := l.m.columns(ctx, s.joined, f, &wanted{filled: features.Fills(s.features, f.Name)})
			if err != nil {
				return nil, l.place(s.at, err)
			}
			cols = append(cols, add...)
		}
		return cols, nil
	}
	for i := range s.columns {
		c := &s.columns[i]
		if slices.Contains(s.keys, c.Name) {
			continue
		}
		if c.from != nil {
			add, _, err := l.m.vector(c.Name, &c.wanted, s.fields, but)
			if err != nil {
				return nil, l.y.Errorf(c.at, "column %q: %w", c.Name, err)
			}
			cols = append(cols, add...)
			continue
		}
		f := field(s.fields, c.Name)
		if f == nil {
			return nil, l.y.Errorf(c.at, "found the column %q, expected one of %s%s", c.Name, table.List(some(fieldNames(s.fields))), suggest.Hint(c.Name, fieldNames(s.fields)))
		}
		if c.DType != graph.Invalid && c.file != "" && c.Shape == nil {
			c.Shape = f.Shape
		}
		w := c.wanted
		w.filled = features.Fills(s.features, c.Name)
		add, err := l.m.columns(ctx, s.joined, f, &w)
		if err != nil {
			return nil, l.place(c.at, err)
		}
		cols = append(cols, add...)
	}
	return cols, nil
}

// edge completes an edge type. The ids of its node types are known by now.
func (l *lister) edge(ctx context.Context, e *edgeEntry) error {
	e.out.Table, e.out.Where = e.joined, e.where
	but := []string{}
	if e.where != nil {
		but = append(but, e.where.Column)
	}
	for _, x := range []struct {
		col   *table.Column
		looks *looks
		typ   string
	}{{&e.out.Src, e.srcLooks, e.typ.Src}, {&e.out.Dst, e.dstLooks, e.typ.Dst}} {
		id, whole := l.node(x.typ).out.ID, l.node(x.typ).whole
		if x.looks == nil {
			*x.col = table.Column{DType: id.DType}
			continue
		}
		*x.col = keyColumn(x.looks.Name, id.DType == graph.Uint64)
		l.m.notes = noted(l.m.notes, blanksNote(e.joined, x.looks))
		x.col.Inferred, x.col.Whole = id.Inferred, whole && x.looks.whole
		if e.srcLooks == nil || e.dstLooks == nil {
			x.col.Empty = table.EmptyAbsent // an empty foreign key
		}
		but = append(but, x.looks.Name)
	}
	if (e.srcLooks == nil || e.dstLooks == nil) && !e.listed {
		return nil // the columns belong to the node type
	}
	if e.srcLooks != nil && e.dstLooks != nil && e.typ.Src == e.typ.Dst && e.where == nil && !e.asWritten {
		undirected, note, err := gephiUndirected(ctx, e.joined, e.fields, e.srcLooks.Name, e.dstLooks.Name)
		if err != nil {
			return err
		}
		e.out.Symmetrise = undirected
		l.m.notes = noted(l.m.notes, note)
	}
	var err error
	e.out.Columns, err = l.columns(ctx, &e.source, but)
	return err
}
