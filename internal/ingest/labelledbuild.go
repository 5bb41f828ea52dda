package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/limits"
)

// nodesOf makes the table of a node type.
func (l *labelled) nodesOf(ctx context.Context, m *maker, t *labelledType) (n assemble.Nodes, err error) {
	var tables []table.Table
	var names []string // of the properties that some row has
	var widths listWidths
	for _, p := range l.nodes {
		kind := slices.Index(p.kinds, t)
		if kind < 0 {
			continue
		}
		for i, f := range p.properties() {
			if (p.has == nil || p.has[kind][i]) && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
		x := p.Table
		if p.marks != nil {
			x = views.Kept(x, p.marks, kind)
		}
		tables = append(tables, views.Named(x, map[string]string{labelledID: p.id}))
		widths = append(widths, p.Table)
	}
	if n.Type = t.name; tables == nil { // only edges have nodes of the type
		n.ID = keyColumn("", l.o.IDs == idsInteger)
		l.notes = append(l.notes, l.path+": found no node with the labels "+t.name+": its nodes are those that edges have")
		return n, nil
	}
	n.Table = views.Union(tables...)
	n.ID = keyColumn(labelledID, l.o.IDs == idsInteger)
	n.Columns, err = l.columns(ctx, m, n.Table, names, widths)
	return n, err
}

// columns are the columns of properties. widths has all rows of the tables, also those of other types.
func (l *labelled) columns(ctx context.Context, m *maker, t table.Table, names []string, widths listWidths) (columns []table.Column, err error) {
	fields, err := describe(t)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f := field(fields, name)
		if f == nil || f.Ignored {
			continue
		}
		w := &wanted{}
		if isNumberList(&f.Field) { // rows of other types are read, too
			width, err := l.width(ctx, widths, f.Field)
			if err != nil {
				return nil, err
			}
			if w.Field = f.Field; width > 0 {
				w.Shape = []int{width}
			}
		}
		add, err := m.columns(ctx, t, f, w)
		if err != nil {
			return nil, err
		}
		columns = append(columns, add...)
	}
	return columns, nil
}

// listWidths are tables whose lists of numbers are vectors if all of a column have one length.
type listWidths []table.Table

// listColumn is a column of a table.
type listColumn struct {
	of   table.Table
	name string
}

// width is the length of all lists of a column; 0: they differ, or there are none. A table is read once for each of its columns, and not for each type of its rows.
func (l *labelled) width(ctx context.Context, tables listWidths, f table.Field) (width int, err error) {
	for _, t := range tables {
		if !slices.ContainsFunc(t.Fields(), func(g table.Field) bool { return g.Name == f.Name }) {
			continue
		}
		k := listColumn{t, f.Name}
		n, ok := l.widths[k]
		if !ok {
			if n, err = table.SameWidth(ctx, t, f); err != nil {
				return 0, err
			}
			if l.widths == nil {
				l.widths = map[listColumn]int{}
			}
			l.widths[k] = n
		}
		if n < 0 {
			continue // no lists
		}
		if n == 0 || width > 0 && width != n {
			return 0, nil
		}
		width = n
	}
	return width, nil
}

// The types of the ends of rows and their relation are one text: a line for each, where an end of no known type has an empty line.

// relText is the text of an edge type with perhaps unknown ends.
func appendRel(text []byte, src, rel, dst string) []byte {
	text = append(append(text, src...), '\n')
	text = append(append(text, rel...), '\n')
	return append(text, dst...)
}

// endColumns are the columns from which the type of a row of edges follows.
func (e *labelledEdges) endColumns() (ask []table.Column) {
	for k, name := range []string{e.src, e.dst} {
		if e.labels[k] != "" {
			name = e.labels[k]
		}
		ask = append(ask, keyColumn(name, false))
	}
	if e.rel != "" {
		ask = append(ask, table.Column{Name: e.rel, DType: graph.String})
	}
	return ask
}

// relOf appends the text of the type of a row to a text. columns are those of endColumns.
func (l *labelled) relOf(text []byte, e *labelledEdges, columns []table.Vector, row int, ends *[2]map[string]string) []byte {
	var names [2]string
	for k := range names {
		id := columns[k].ID(row, graph.String)
		switch {
		case e.labels[k] != "":
			name, ok := ends[k][string(id)]
			if !ok {
				name = labelSet(e.labelsOf(id))
				if ends[k] == nil || len(ends[k]) > 1<<16 { // ids that say their types may be many
					ends[k] = map[string]string{}
				}
				ends[k][string(id)] = name
			}
			names[k] = name
		case e.only[k] != "":
			names[k] = e.only[k]
		default:
			if kind, ok := l.ids[e.spaces[k]].find(id); ok {
				names[k] = l.types[kind].name
			}
		}
	}
	rel := e.typ
	if e.rel != "" {
		rel = typeName(strings.TrimSpace(string(columns[2].ID(row, graph.String))), graph.HomogeneousEdge.Rel)
	}
	return appendRel(text, names[0], rel, names[1])
}

// readRels finds the edge types of a table.
func (l *labelled) readRels(ctx context.Context, e *labelledEdges) error {
	e.has = map[*labelledRel][]bool{}
	for k, space := range e.spaces {
		if types := l.typesOf(space); e.labels[k] == "" && len(types) == 1 {
			e.only[k] = types[0].name
		}
	}
	if e.rel == "" && e.only[0] != "" && e.only[1] != "" {
		r, err := l.relation(e.only[0], e.typ, e.only[1])
		e.found, e.rows = []*labelledRel{r}, map[string]*labelledRel{string(appendRel(nil, e.only[0], e.typ, e.only[1])): r}
		return err
	}
	ends := e.endColumns()
	fields := e.properties()
	marked, at := marksOf(fields, e.text)
	ask := append(slices.Clone(ends), marked...)
	s := &survey{index: map[string]int{}}
	threads := max(l.o.Threads, 1)
	workers := make([]surveyWorker, threads)
	known := make([][2]map[string]string, threads)
	_, err := e.Scan(ctx, ask, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		if w.mine == nil {
			w.mine = map[string]int{}
		}
		for i := range c.Rows {
			w.text = l.relOf(w.text[:0], e, c.Columns, i, &known[id])
			k, err := s.kind(w.mine, w.text, c.First+uint64(i), l.path)
			if err != nil {
				return err
			}
			s.earlier(k, c.First+uint64(i), w)
			w.note(k, i, c, len(ends))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range workers {
		s.add(workers[i].has)
	}
	s.order()
	e.rows = map[string]*labelledRel{}
	for _, whole := range []bool{true, false} { // then the rows with an end that is no node
		for _, k := range s.kinds {
			part := strings.Split(k.text, "\n")
			if (part[0] != "" && part[2] != "") != whole {
				continue
			}
			r, err := l.relOfRows(e, part)
			if err != nil {
				return err
			}
			e.rows[k.text] = r
			if e.has[r] == nil {
				e.has[r], e.found = make([]bool, len(fields)), append(e.found, r)
			}
			for f, x := range spread(k.has, at, len(fields)) {
				e.has[r][f] = e.has[r][f] || x
			}
		}
	}
	return nil
}

// relOfRows is the edge type of rows with the types of their ends, of which unknown ones are empty, and a relation. An end of no known type is taken for one of the type that it has in
// other rows of the table: the build then refuses the row, drops it or adds the node, as it is told to.
func (l *labelled) relOfRows(e *labelledEdges, part []string) (*labelledRel, error) {
	for end, name := range []string{part[0], part[2]} { // labels of nodes that no table has
		if e.labels[end] == "" {
			continue
		}
		if _, err := l.typ(name, e.spaces[end]); err != nil {
			return nil, err
		}
	}
	if part[0] == "" || part[2] == "" {
		for _, r := range e.found {
			if r.Rel == part[1] && (part[0] == "" || part[0] == r.Src) && (part[2] == "" || part[2] == r.Dst) {
				return r, nil
			}
		}
	}
	return l.relation(l.known(part[0], e.spaces[0]), part[1], l.known(part[2], e.spaces[1]))
}

// known is a node type, or the first one of a space where an id has none.
func (l *labelled) known(name, space string) string {
	if name != "" && slices.ContainsFunc(l.types, func(t *labelledType) bool { return t.name == name }) {
		return name
	}
	if types := l.typesOf(space); len(types) > 0 {
		return types[0].name
	}
	return l.types[0].name
}

// relation returns an edge type.
func (l *labelled) relation(src, rel, dst string) (*labelledRel, error) {
	typ := graph.EdgeType{Src: src, Rel: rel, Dst: dst}
	for _, r := range l.rels {
		if r.EdgeType == typ {
			return r, nil
		}
	}
	if len(l.rels) == limits.Names {
		return nil, sourcef("%s: found more than %d edge types, expected fewer; write the types of edges as a property", l.path, limits.Names)
	}
	r := &labelledRel{EdgeType: typ}
	l.rels = append(l.rels, r)
	return r, nil
}

// addEdges makes the edge types. Those that share a table are cut from it in one pass; a type with tables of its own is read from these.
func (l *labelled) addEdges(ctx context.Context, m *maker, s *Source) error {
	if len(l.rels) == 0 {
		return sourcef("%s: found no edges, expected some; add the files of edges", l.path)
	}
	for _, e := range l.edges {
		for _, r := range e.found {
			r.parts = append(r.parts, e)
		}
	}
	done := map[*labelledRel]bool{}
	for _, r := range l.rels {
		if done[r] {
			continue
		}
		rels, parts := l.together(r)
		for _, x := range rels {
			done[x] = true
		}
		if err := l.addTogether(ctx, m, s, rels, parts); err != nil {
			return err
		}
	}
	return nil
}

// together returns the edge types that share tables with one, directly or not, and these tables, both in order.
func (l *labelled) together(r *labelledRel) (rels []*labelledRel, parts []*labelledEdges) {
	in := map[*labelledRel]bool{r: true}
	has := map[*labelledEdges]bool{}
	for grown := true; grown; {
		grown = false
		for _, e := range l.edges {
			if has[e] || !slices.ContainsFunc(e.found, func(x *labelledRel) bool { return in[x] }) {
				continue
			}
			has[e], grown = true, true
			for _, x := range e.found {
				in[x] = true
			}
		}
	}
	for _, x := range l.rels {
		if in[x] {
			rels = append(rels, x)
		}
	}
	for _, e := range l.edges {
		if has[e] {
			parts = append(parts, e)
		}
	}
	return rels, parts
}

// addTogether adds edge types that share tables.
func (l *labelled) addTogether(ctx context.Context, m *maker, s *Source, rels []*labelledRel, parts []*labelledEdges) error {
	var tables []table.Table
	for _, e := range parts {
		tables = append(tables, &typedEdges{views.Named(e.Table, map[string]string{labelledSrc: e.src, labelledDst: e.dst}), l, e, len(rels) > 1})
	}
	t := views.Union(tables...)
	integer := l.o.IDs == idsInteger
	own, from := true, len(s.Input.Edges)
	for _, r := range rels {
		var names []string
		for _, e := range r.parts {
			for i, f := range e.properties() {
				if (e.has[r] == nil || e.has[r][i]) && !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
			}
		}
		x := assemble.Edges{Type: r.EdgeType, Table: t, Src: keyColumn(labelledSrc, integer), Dst: keyColumn(labelledDst, integer)}
		var err error
		if x.Columns, err = l.columns(ctx, m, t, names, listWidths{t}); err != nil {
			return err
		}
		for _, c := range x.Columns {
			own = own && !slices.Contains(c.Shape, -1)
		}
		if len(rels) > 1 {
			x.Where = &assemble.Filter{Column: labelledKind, Value: r.String()}
		}
		s.Input.Edges = append(s.Input.Edges, x)
	}
	for _, x := range s.Input.Edges[from:] {
		if x.Where != nil {
			x.Where.Own = own
		}
	}
	return nil
}

// typedEdges is a table of edges with a column of their edge types.
type typedEdges struct {
	table.Table
	l     *labelled
	e     *labelledEdges
	typed bool
}

// Fields implements table.Table.
func (t *typedEdges) Fields() []table.Field {
	fields := slices.Clone(t.Table.Fields())
	if t.typed {
		fields = append(fields, table.Field{Name: labelledKind, DType: graph.String})
	}
	return fields
}

// Guess describes the fields.
func (t *typedEdges) Guess() ([]table.Guess, error) {
	g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) })
	if !ok {
		return make([]table.Guess, len(t.Fields())), nil
	}
	guesses, err := g.Guess()
	if t.typed {
		guesses = append(slices.Clone(guesses), table.Guess{})
	}
	return guesses, err
}

// Where implements table.Table.
func (t *typedEdges) Where(row uint64, column string) string {
	if column == labelledKind {
		column = cmp.Or(t.e.rel, labelledSrc)
	}
	return t.Table.Where(row, column)
}

// Scan implements table.Table.
func (t *typedEdges) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	if !t.typed {
		return t.Table.Scan(ctx, columns, threads, fn)
	}
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

// typedWorker is what a goroutine of a scan has.
type typedWorker struct {
	chunk table.Chunk
	known [2]map[string]string
	names map[string]int // numbers of edge types, by the texts of rows
	rels  []uint16       // of the rows
	data  []byte
	ends  []uint32
	text  []byte
}

// plain finds the edge type of each row. A cell is empty without an error where the type of the row has no such property.
func (t *typedEdges) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	ask, lenient := views.Lenient(columns)
	at := slices.IndexFunc(columns, func(c table.Column) bool { return c.Name == labelledKind })
	if at < 0 && len(lenient) == 0 {
		return t.Table.Scan(ctx, columns, threads, fn)
	}
	from := len(ask)
	if at >= 0 {
		ask[at].Name = labelledSrc // any text: it is replaced
	}
	ends := t.e.endColumns()
	for i := range ends {
		ends[i].Name = t.named(ends[i].Name)
	}
	ask = append(ask, ends...)
	needs := t.needs(columns, lenient)
	workers := make([]typedWorker, max(threads, 1))
	return t.Table.Scan(ctx, ask, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		if err := t.typeRows(w, c, from); err != nil {
			return err
		}
		for k, i := range lenient {
			for _, row := range c.Columns[i].Empty {
				if needs[k][w.rels[row]] {
					return views.NoValue(t, c.First+uint64(row), &columns[i])
				}
			}
		}
		vectors := append(w.chunk.Columns[:0], c.Columns[:from]...)
		if at >= 0 {
			vectors[at] = table.Vector{Data: w.data, Ends: w.ends}
		}
		w.chunk = *c
		w.chunk.Columns = vectors
		return fn(id, &w.chunk)
	})
}

// named is the name of a column of the table of edges here.
func (t *typedEdges) named(name string) string {
	switch name {
	case t.e.src:
		return labelledSrc
	case t.e.dst:
		return labelledDst
	}
	return name
}

// needs says, for some of the columns and each edge type of the table, whether the type has the property.
func (t *typedEdges) needs(columns []table.Column, lenient []int) [][]bool {
	needs := make([][]bool, len(lenient))
	for k, i := range lenient {
		name := columns[i].Name
		p := slices.IndexFunc(t.e.properties(), func(f table.Field) bool { return f.Name == name })
		for _, r := range t.e.found {
			needs[k] = append(needs[k], p < 0 || t.e.has[r] == nil || t.e.has[r][p]) // an end is no property, and needed
		}
	}
	return needs
}

// typeRows finds the edge types of the rows of a chunk, whose columns from one on are those of endColumns.
func (t *typedEdges) typeRows(w *typedWorker, c *table.Chunk, from int) error {
	if w.names == nil {
		w.names = map[string]int{}
	}
	w.data, w.ends, w.rels = w.data[:0], w.ends[:0], w.rels[:0]
	for i := range c.Rows {
		w.text = t.l.relOf(w.text[:0], t.e, c.Columns[from:], i, &w.known)
		n, ok := w.names[string(w.text)]
		if !ok {
			if n = slices.Index(t.e.found, t.e.rows[string(w.text)]); n < 0 {
				return sourcef("%s: found an edge of a type that was not there before; is the file being written?", t.Where(c.First+uint64(i), labelledKind))
			}
			w.names[string(w.text)] = n
		}
		w.rels = append(w.rels, uint16(n))
		w.data = append(w.data, t.e.found[n].String()...)
		w.ends = append(w.ends, uint32(len(w.data)))
	}
	return nil
}
