package database

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/yamltext"
)

// GraphFile is the name of the file that describes the tables of a folder.
const GraphFile = "graph.yaml"

// Options say how a database becomes a graph.
type Options struct {
	// Times are the columns that are times of their table, TABLE.COLUMN.
	Times []string
	// Progress is called with the number of rows after each table; nil: not.
	Progress func(rows int64)
}

// Extracted is what Extract wrote.
type Extracted struct {
	Rows int64
	// Notes say what is left out.
	Notes []string
	names map[string]string // of tables, by file
}

// Extract writes the tables and their description to a folder, which must be there and be empty.
func (s *Snapshot) Extract(ctx context.Context, fsys vfs.FS, dir string, o Options) (*Extracted, error) {
	tables, err := s.db.tables(ctx)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s: found no table, expected some; name the database that has them", s.Name)
	}
	l, err := newLayout(tables, o.Times)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if !slices.ContainsFunc(l.tables, func(t tableLayout) bool { return len(t.copied) < len(t.columns) }) {
		size, err := s.db.size(ctx)
		if err == nil {
			err = vfs.Room(fsys, dir, 1, uint64(size), "the copies of the tables of "+s.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	out := &Extracted{Notes: l.notes, names: map[string]string{}}
	for i := range l.tables {
		t := &l.tables[i]
		if err := s.look(ctx, t); err != nil {
			return nil, err
		}
		n, err := s.copyTable(ctx, fsys, filepath.Join(dir, t.file), t)
		if err != nil {
			return nil, err
		}
		out.Rows += n
		out.names[t.file] = t.name
		if o.Progress != nil {
			o.Progress(n)
		}
	}
	return out, writeWhole(fsys, filepath.Join(dir, GraphFile), l.yaml())
}

// look finds out what the values of a table decide.
func (s *Snapshot) look(ctx context.Context, t *tableLayout) (err error) {
	t.nulls = map[string]bool{}
	for _, c := range t.copied {
		if c.nullable && (c.kind == integer || c.kind == boolean) && !slices.Contains(t.keys, c.name) {
			if t.nulls[c.name], err = s.db.has(ctx, &t.relation, quoted(c.name)+" IS NULL"); err != nil {
				return err
			}
		}
	}
	if t.id != "" && t.column(t.id).kind == integer {
		t.negative, err = s.db.has(ctx, &t.relation, quoted(t.id)+" < 0")
	}
	return err
}

func (s *Snapshot) copyTable(ctx context.Context, fsys vfs.FS, file string, t *tableLayout) (n int64, err error) {
	f, err := fsys.Create(file)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	columns := t.copied
	if len(columns) == 1 {
		columns = append(slices.Clone(columns), rowColumn)
	}
	n, err = s.db.copy(ctx, w, &t.relation, columns, t.order())
	return n, errors.Join(err, w.Flush(), f.Close())
}

func writeWhole(fsys vfs.FS, name string, b []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// layout is the graph of a database.
type layout struct {
	tables []tableLayout
	notes  []string
}

// tableLayout is what becomes of a table.
type tableLayout struct {
	relation
	file   string
	copied []column // the columns of the file
	keys   []string // those that are ids or ends, and no features
	id     string   // of nodes; empty: the rows are numbered
	ends   []end    // foreign keys that become edges
	joins  bool     // the rows are edges between the two ends, and no nodes
	times  []string
	first  string // a column that rows without a key are sorted by first; "": none
	nulls  map[string]bool
	// negative says that some ids are negative, which integer ids of a store cannot be.
	negative bool
}

// end is a foreign key of one column.
type end struct {
	column, table string
	rel           string // the relation of its edge type
}

// order is the columns by which rows are sorted.
func (t *tableLayout) order() []string {
	if len(t.key) > 0 {
		return t.key
	}
	var names []string
	if t.first != "" {
		names = append(names, t.first)
	}
	for _, c := range t.copied {
		if c.name != t.first {
			names = append(names, c.name)
		}
	}
	return names
}

func newLayout(tables []relation, times []string) (*layout, error) {
	l := &layout{}
	names := map[string]*relation{}
	for i := range tables {
		names[tables[i].name] = &tables[i]
	}
	for i, r := range tables {
		if err := graph.CheckName(r.name); err != nil {
			return nil, fmt.Errorf("table %q: %w", r.name, err)
		}
		if names[r.name] != &tables[i] {
			return nil, fmt.Errorf("found two tables of the name %s, expected one, as the name of a schema is a part of it; rename one of them", r.name)
		}
		t := tableLayout{relation: r, file: fileName(r.name, len(l.tables))}
		if len(r.key) == 1 && r.column(r.key[0]).kind != other {
			t.id = r.key[0]
		}
		for _, f := range r.foreign {
			if why := unusable(&r, &f, names); why != "" {
				l.notef("table %s: the foreign key %s is left out: %s", r.name, strings.Join(f.columns, ", "), why)
				continue
			}
			if err := graph.CheckName(f.columns[0]); err != nil {
				return nil, fmt.Errorf("table %s: the foreign key %q, which names an edge type: %w", r.name, f.columns[0], err)
			}
			t.ends = append(t.ends, end{column: f.columns[0], table: f.table, rel: f.columns[0]})
		}
		slices.SortFunc(t.ends, func(a, b end) int {
			return slices.Index(columnNames(&r), a.column) - slices.Index(columnNames(&r), b.column)
		})
		t.ends = slices.Compact(t.ends)
		own := slices.ContainsFunc(r.key, func(k string) bool { return !slices.ContainsFunc(t.ends, func(e end) bool { return e.column == k }) })
		referred := slices.ContainsFunc(tables, func(o relation) bool {
			return slices.ContainsFunc(o.foreign, func(f foreignKey) bool { return f.table == r.name })
		})
		t.joins = len(t.ends) == 2 && t.ends[0].column != t.ends[1].column && !own && !referred
		if t.id != "" && !t.joins {
			t.keys = append(t.keys, t.id)
		}
		for _, e := range t.ends {
			t.keys = append(t.keys, e.column)
		}
		for _, c := range r.columns {
			if c.kind == other {
				l.notef("table %s: column %s of %s is left out: expected numbers, bools, texts or times", r.name, c.name, c.typ)
				continue
			}
			t.copied = append(t.copied, c)
		}
		if len(t.copied) == 0 {
			return nil, fmt.Errorf("table %s: found no column of numbers, bools, texts or times, expected at least one", r.name)
		}
		l.tables = append(l.tables, t)
	}
	if !slices.ContainsFunc(l.tables, func(t tableLayout) bool { return len(t.ends) > 0 }) {
		return nil, errors.New("found no foreign key between the tables, expected at least one: foreign keys become edges; write a graph.yaml with queries to say what belongs together")
	}
	l.relate()
	return l, l.setTimes(times)
}

// relate gives each edge type and its reverse a name of their own. Tables that are edges keep theirs.
func (l *layout) relate() {
	taken := map[string]bool{}
	take := func(src, rel, dst string) bool {
		a, b := src+":"+rel+":"+dst, dst+":rev_"+rel+":"+src
		free := !taken[a] && !taken[b] && a != b
		if free {
			taken[a], taken[b] = true, true
		}
		return free
	}
	for _, t := range l.tables {
		if t.joins {
			take(t.ends[0].table, t.name, t.ends[1].table)
		}
	}
	for i := range l.tables {
		t := &l.tables[i]
		for k := range t.ends {
			e := &t.ends[k]
			if t.joins || take(t.name, e.rel, e.table) {
				continue
			}
			rel := t.name + "_" + e.column
			for n := 2; !take(t.name, rel, e.table); n++ {
				rel = fmt.Sprintf("%s_%s_%d", t.name, e.column, n)
			}
			l.notef("table %s: the edges of the foreign key %s are %s:%s:%s, as others have the name %s or its reverse", t.name, e.column, t.name, rel, e.table, e.column)
			e.rel = rel
		}
	}
}

func (l *layout) notef(format string, a ...any) { l.notes = append(l.notes, fmt.Sprintf(format, a...)) }

// unusable says why a foreign key cannot become edges; empty: it can.
func unusable(r *relation, f *foreignKey, tables map[string]*relation) string {
	to := tables[f.table]
	switch {
	case to == nil:
		return "there is no table " + f.table
	case len(f.columns) > 1:
		return "it has several columns"
	case len(to.key) != 1 || len(f.targets) > 0 && f.targets[0] != to.key[0]:
		return "it refers to other columns than the key of " + f.table
	case r.column(f.columns[0]) == nil || r.column(f.columns[0]).kind == other:
		return "its values are no numbers or texts"
	}
	return ""
}

func columnNames(r *relation) (names []string) {
	for _, c := range r.columns {
		names = append(names, c.name)
	}
	return names
}

// setTimes marks the columns that are times.
func (l *layout) setTimes(times []string) error {
	for _, name := range times {
		i := slices.IndexFunc(l.tables, func(t tableLayout) bool {
			return strings.HasPrefix(name, t.name+".") && t.column(name[len(t.name)+1:]) != nil
		})
		if i < 0 {
			var have []string
			for _, t := range l.tables {
				for _, c := range t.copied {
					have = append(have, t.name+"."+c.name)
				}
			}
			return tagged.Errorf(ErrUsage, "found the time %q, expected TABLE.COLUMN, one of the columns of the database; correct its name%s", name, suggest.Hint(name, have))
		}
		t := &l.tables[i]
		c := t.column(name[len(t.name)+1:])
		if c.kind != timestamp && c.kind != integer && c.kind != text {
			return tagged.Errorf(ErrUsage, "found the time %q of type %s, expected a column of times, dates or whole numbers; choose another column, or cast it in a query", name, c.typ)
		}
		if slices.Contains(t.keys, c.name) {
			return tagged.Errorf(ErrUsage, "found the time %q, which is a key, expected another column; leave this one out", name)
		}
		t.times = append(t.times, c.name)
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}$`)

// fileName is the name of the file of a table.
func fileName(table string, number int) string {
	if plainName.MatchString(table) {
		return table + ".csv"
	}
	return fmt.Sprintf("table %d.csv", number)
}

// yaml describes the tables for package ingest.
func (l *layout) yaml() []byte {
	var b strings.Builder
	b.WriteString("nodes:\n")
	for i := range l.tables {
		t := &l.tables[i]
		if t.joins {
			continue
		}
		fmt.Fprintf(&b, "  %s:\n    table: %s\n", yamltext.Quoted(t.name), yamltext.Quoted(t.file))
		if t.id != "" {
			ids := "string"
			if t.column(t.id).kind == integer && !t.negative {
				ids = "integer"
			}
			fmt.Fprintf(&b, "    id: {column: %s, dtype: %s}\n", yamltext.Quoted(t.id), ids)
		}
		b.WriteString("    columns:")
		t.features(&b, t.copied)
	}
	b.WriteString("edges:\n")
	for i := range l.tables {
		t := &l.tables[i]
		if t.joins {
			a, z := t.ends[0], t.ends[1]
			fmt.Fprintf(&b, "  %s:\n    table: %s\n    src: %s\n    dst: %s\n    reverse: %s\n    columns:", yamltext.Quoted(a.table+":"+t.name+":"+z.table), yamltext.Quoted(t.file), yamltext.Quoted(a.column), yamltext.Quoted(z.column), yamltext.Quoted("rev_"+t.name))
			t.features(&b, t.copied)
			continue
		}
		for _, e := range t.ends {
			fmt.Fprintf(&b, "  %s:\n    table: %s\n    dst: %s\n    reverse: %s\n    columns:", yamltext.Quoted(t.name+":"+e.rel+":"+e.table), yamltext.Quoted(t.file), yamltext.Quoted(e.column), yamltext.Quoted("rev_"+e.rel))
			var times []column
			for _, name := range t.times {
				times = append(times, *t.column(name))
			}
			t.features(&b, times)
		}
	}
	return []byte(b.String())
}

// features writes the columns that are no keys.
func (t *tableLayout) features(b *strings.Builder, columns []column) {
	empty := true
	for _, c := range columns {
		if slices.Contains(t.keys, c.name) {
			continue
		}
		empty = false
		dtype, missing := map[kind]string{integer: "int64", float: "float64", boolean: "bool", text: "string", timestamp: "datetime"}[c.kind], ""
		switch {
		case slices.Contains(t.times, c.name):
			dtype = "datetime"
		case c.kind == float && c.nullable:
			missing = "nan"
		case t.nulls[c.name]:
			missing = "column"
		}
		fmt.Fprintf(b, "\n      %s: {dtype: %s", yamltext.Quoted(c.name), dtype)
		if missing != "" {
			fmt.Fprintf(b, ", missing: %s", missing)
		}
		b.WriteString("}")
	}
	if empty {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
}
