package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// autoUnit stands for the unit that the values of a column of times ask for.
const autoUnit graph.Unit = "auto"

// wanted is what is asked of a column, in a graph.yaml or in the options.
type wanted struct {
	// Field has the dtype Invalid if none is asked for.
	table.Field
	categories []string // fixed; nil: the texts of the cells
	from       []string // fields whose values are joined
	missing    string   // what an empty cell means; empty: nothing is asked for
	filled     bool     // a feature fills empty cells, where no rule says what they mean
}

// maker makes the columns to ask tables for.
type maker struct {
	*gaps
	notes []string
}

// columns returns the column to read a field as, and the one that marks its empty cells if that is wanted.
func (m *maker) columns(ctx context.Context, t table.Table, f *looks, w *wanted) ([]table.Column, error) {
	c, err := m.column(ctx, t, f, w)
	if err != nil {
		return nil, err
	}
	if value, _, _ := m.rule(&c, w.missing); value == "" && (w.filled || m.prepared.Fills(f.Name)) {
		return m.fill(c, keptMissing(&c)), nil
	}
	return m.fill(c, w.missing), nil
}

// column returns the column without what its empty cells mean.
func (m *maker) column(ctx context.Context, t table.Table, f *looks, w *wanted) (c table.Column, err error) {
	want := w.Field
	if want.DType == graph.Invalid {
		want = f.Field
	}
	c = table.Column{Name: f.Name, DType: want.DType, Shape: want.Shape, Unit: want.Unit, Inferred: want.Inferred && w.DType == graph.Invalid, Separator: f.Separator, Escapes: f.Escapes, Zone: f.Zone}
	if c.Inferred && c.DType == graph.Int64 && c.Unit == "" && f.guess != nil && f.guess.Zeros != "" {
		c.Inferred = false
		m.note("%s: column %q: found leading zeros, as in %q, and integers, which do not keep them; give it the dtype string to keep them, or int64", t.Files()[0], f.Name, f.guess.Zeros)
	}
	if w.DType == graph.Invalid && isNumberList(&f.Field) {
		// Lists that are all alike are vectors: batches have only these.
		if width, err := table.Width(ctx, t, f.Field); err != nil {
			return c, err
		} else if width > 0 {
			c.Shape = []int{width}
		}
	}
	if w.DType == graph.Invalid && f.guess != nil && f.guess.Comma && c.DType == graph.String {
		m.note("%s: column %q: its cells look like numbers with a decimal comma, and are read as strings; write a point instead of the comma", t.Files()[0], f.Name)
	}
	switch {
	case want.Category:
		c.DType, c.Unit, c.Categories = graph.Int32, "", &table.Categories{}
		if w.categories != nil {
			c.Categories, err = table.NewCategories(w.categories)
		}
	case want.Unit == autoUnit:
		c.Unit, err = m.unit(ctx, t, f)
	}
	return c, err
}

// isNumberList says whether a field has lists of numbers or bools.
func isNumberList(f *table.Field) bool {
	return slices.Equal(f.Shape, []int{-1}) && f.DType != graph.String && f.Unit == ""
}

// unit is the unit of a column of times that asks for none.
func (m *maker) unit(ctx context.Context, t table.Table, f *looks) (graph.Unit, error) {
	if f.Unit != "" {
		return f.Unit, nil
	}
	g := f.guess
	if g == nil {
		var err error
		if g, err = table.Peek(ctx, t, f.Field); err != nil {
			return "", err
		}
	}
	if g == nil {
		return "", sourcef("%s: found %s in column %q, expected integers, or text in ISO 8601, for datetime", t.Files()[0], f.DType, f.Name)
	}
	unit, counted := g.Unit()
	if counted {
		m.note("%s: column %q: its integers are read as times in %s since 1970, by their size; give datetime[%[3]s] to say so, or another unit", t.Files()[0], f.Name, unit)
	}
	return unit, nil
}

func (m *maker) note(format string, a ...any) { m.notes = noted(m.notes, fmt.Sprintf(format, a...)) }

// noted are notes with one more, unless it is empty or among them.
func noted(notes []string, note string) []string {
	if note == "" || slices.Contains(notes, note) {
		return notes
	}
	return append(notes, note)
}

// unknownCategories returns the columns of the source whose categories come from their cells, by table.
func (s *Source) unknownCategories() (tables []table.Table, columns [][]table.Column) {
	add := func(t table.Table, c table.Column) {
		if c.Categories == nil || c.Categories.Known() {
			return
		}
		i := slices.Index(tables, t)
		if i < 0 {
			i = len(tables)
			tables, columns = append(tables, t), append(columns, nil)
		}
		columns[i] = append(columns[i], c)
	}
	each := func(t table.Table, cols []table.Column) {
		for _, c := range cols {
			add(t, c)
		}
	}
	if c := s.Input.Context; c != nil {
		each(c.Table, c.Columns)
	}
	for _, n := range s.Input.Nodes {
		each(n.Table, n.Columns)
	}
	for _, e := range s.Input.Edges {
		each(e.Table, e.Columns)
	}
	if s.Collection == nil {
		return tables, columns
	}
	for _, r := range s.Collection.Context {
		for _, c := range r.Columns {
			add(r.Table, c.Column)
		}
	}
	for _, n := range s.Collection.Nodes {
		for _, r := range n.Tables {
			for _, c := range r.Columns {
				add(r.Table, c.Column)
			}
		}
	}
	for _, e := range s.Collection.Edges {
		for _, c := range e.Columns {
			add(e.Table, c.Column)
		}
		for _, r := range e.Beside {
			for _, c := range r.Columns {
				add(r.Table, c.Column)
			}
		}
	}
	return tables, columns
}

// Collect finds the categories of the columns that do not list theirs, with one scan of each of their tables. Columns of
// one name in one table have the same categories; with homogeneous, so have all columns of one name of node types, and
// of edge types, as they become one column. It adds the memory of all categories to Held. They take at most memory
// bytes; 0: any number.
func (s *Source) Collect(ctx context.Context, threads int, memory int64, homogeneous bool) error {
	tables, columns := s.unknownCategories()
	s.collected = s.categories()
	for i, t := range tables {
		var ask []table.Column
		for _, c := range columns[i] {
			if !slices.ContainsFunc(ask, func(x table.Column) bool { return x.Name == c.Name && slices.Equal(x.Shape, c.Shape) }) {
				ask = append(ask, c)
			}
		}
		limits := table.Limits{Bytes: memory}
		if memory > 0 {
			limits.Bytes = max(memory-s.Held, 1)
		}
		found, err := table.Collect(ctx, t, ask, threads, limits)
		if err != nil {
			return err
		}
		for k, c := range ask {
			s.Held += found[k].Bytes()
			for _, x := range columns[i] {
				if x.Name == c.Name && slices.Equal(x.Shape, c.Shape) {
					x.Categories.Set(found[k].Texts())
				}
			}
		}
	}
	if homogeneous && len(tables) > 0 {
		s.unite(columns)
	}
	return nil
}

// unite gives columns of one name the categories of all of them.
func (s *Source) unite(found [][]table.Column) {
	mine := map[*table.Categories]bool{}
	for _, cols := range found {
		for _, c := range cols {
			mine[c.Categories] = true
		}
	}
	of := func(lists [][]table.Column) {
		byName := map[string][]*table.Categories{}
		for _, cols := range lists {
			for _, c := range cols {
				if mine[c.Categories] {
					byName[c.Name] = append(byName[c.Name], c.Categories)
				}
			}
		}
		for _, list := range byName {
			var texts []string
			for _, c := range list {
				texts = append(texts, c.Texts()...)
			}
			slices.Sort(texts)
			texts = slices.Compact(texts)
			for _, c := range list {
				c.Set(texts)
			}
		}
	}
	var nodes, edges [][]table.Column
	for _, n := range s.Input.Nodes {
		nodes = append(nodes, n.Columns)
	}
	for _, e := range s.Input.Edges {
		edges = append(edges, e.Columns)
	}
	of(nodes)
	of(edges)
}

// categories belong to the columns of unknownCategories, in order.
func (s *Source) categories() (all []*table.Categories) {
	_, columns := s.unknownCategories()
	for _, cols := range columns {
		for _, c := range cols {
			all = append(all, c.Categories)
		}
	}
	return all
}

// Collected returns the categories that Collect found, for SetCollected of another Source that was opened in the same
// way.
func (s *Source) Collected() (texts [][]string) {
	for _, c := range s.collected {
		texts = append(texts, c.Texts())
	}
	return texts
}

// SetCollected takes the place of Collect.
func (s *Source) SetCollected(texts [][]string) error {
	all := s.categories()
	if len(all) != len(texts) {
		return fmt.Errorf("found the categories of %d columns, expected %d; use the same files on all machines", len(texts), len(all))
	}
	for i, c := range all {
		c.Set(texts[i])
	}
	return nil
}

// joined names the fields whose values a vector joins: a name, a range "f0:f127" in the order of the file, or a glob, of
// fields that are not in but; or several of these, one after the other.
func joined(from []string, fields []looks, but []string) ([]*looks, error) {
	var out []*looks
	add := func(f *looks) error {
		if slices.Contains(out, f) {
			return fmt.Errorf("found the column %q twice in a vector, expected it once; name it once", f.Name)
		}
		out = append(out, f)
		return nil
	}
	for _, s := range from {
		first, last, ranged := strings.Cut(s, ":")
		if f := field(fields, s); f != nil {
			if err := add(f); err != nil {
				return nil, err
			}
			continue
		}
		begin, end := 0, len(fields)-1
		if ranged {
			begin = slices.IndexFunc(fields, func(f looks) bool { return f.Name == first })
			end = slices.IndexFunc(fields, func(f looks) bool { return f.Name == last })
			if begin < 0 || end < begin {
				return nil, fmt.Errorf("found the range %q of columns, expected two of %s, in this order; correct the names, or their order", s, table.List(some(fieldNames(fields))))
			}
		}
		found := false
		for i := begin; i <= end; i++ {
			f := &fields[i]
			if slices.Contains(but, f.Name) || !ranged && !glob(s, f.Name) {
				continue
			}
			found = true
			if err := add(f); err != nil {
				return nil, err
			}
		}
		if !found {
			return nil, fmt.Errorf("found no column that %q means, expected some of %s; correct the name or the pattern", s, table.List(some(fieldNames(fields))))
		}
	}
	return out, nil
}

// some are the first names of a long list.
func some(names []string) []string {
	if len(names) > 20 {
		return append(slices.Clone(names[:20]), "...")
	}
	return names
}

// glob says whether a name matches a pattern with * and ?.
func glob(pattern, name string) bool {
	star, back := -1, 0 // the last *, and the end of what it matches
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, back = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star >= 0:
			back++
			p, n = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// featureOf returns the column that reads a field of an array, which has no empty cells, as it is.
func featureOf(f table.Field) table.Column {
	return table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Unit: f.Unit}
}

// declared are the looks of fields whose dtypes are known.
func declared(fields []table.Field) []looks {
	out := make([]looks, len(fields))
	for i, f := range fields {
		out[i].Field = f
	}
	return out
}

// featuresOf returns the columns that read fields as they are, and their notes.
func featuresOf(ctx context.Context, t table.Table, fields []looks, o Options) (cols []table.Column, notes []string, err error) {
	m := &maker{gaps: newGaps(o)}
	if cols, err = m.featuresOf(ctx, t, fields); err != nil {
		return nil, nil, err
	}
	return cols, m.notes, m.check()
}

// featuresOf is the function of that name for one of several tables: a rule of Missing may name a column of any of them, so the caller checks
// the rules after the last.
func (m *maker) featuresOf(ctx context.Context, t table.Table, fields []looks) (cols []table.Column, err error) {
	for i := range fields {
		add, err := m.columns(ctx, t, &fields[i], &wanted{})
		if err != nil {
			return nil, err
		}
		cols = append(cols, add...)
	}
	return cols, nil
}

// vector returns the column that joins fields, with those fields.
func (m *maker) vector(name string, w *wanted, fields []looks, but []string) ([]table.Column, []string, error) {
	parts, err := joined(w.from, fields, but)
	if err != nil {
		return nil, nil, err
	}
	c := table.Column{Name: name, DType: w.DType, Shape: w.Shape, Unit: w.Unit}
	if w.Category || w.Unit == autoUnit || w.DType == graph.String {
		return nil, nil, fmt.Errorf("found a vector of strings, categories, or times without a unit, expected numbers")
	}
	integers, wide := true, false
	for _, f := range parts {
		c.From = append(c.From, f.Name)
		if f.text && c.Unit == "" || len(f.Shape) > 0 {
			return nil, nil, fmt.Errorf("found the column %q of %s%v in a vector, expected numbers, one per row", f.Name, f.DType, f.Shape)
		}
		c.Inferred = w.DType == graph.Invalid
		integers, wide = integers && f.DType == graph.Int64, wide || f.guess != nil && (f.guess.Wide || f.DType == graph.Int64 && f.guess.Largest >= 1<<24)
	}
	switch {
	case !c.Inferred:
	case integers:
		c.DType = graph.Int64
	case wide:
		c.DType = graph.Float64
	default:
		c.DType = graph.Float32
	}
	switch n := 1; {
	case c.Shape == nil:
		c.Shape = []int{len(parts)}
	default:
		for _, d := range c.Shape {
			n *= max(d, 0)
		}
		if n != len(parts) {
			return nil, nil, fmt.Errorf("found %d columns for a vector of shape %v, expected %d; correct the shape or the columns", len(parts), c.Shape, n)
		}
	}
	return m.fill(c, w.missing), c.From, nil
}
