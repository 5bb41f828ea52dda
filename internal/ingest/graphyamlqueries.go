package ingest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
)

// Query is a table of a graph.yaml that a database makes.
type Query struct {
	Source string // the address of the database; a file of SQLite by its path
	SQL    string
	Mark   string   // the column that grows with each row; "": none
	Types  []string // the types that ask for it, with edge types by their whole names
	Type   string   // the first type that asks for it
	Place  string   // of the query in the file, for errors
}

// Queried is what a query gave.
type Queried struct {
	// File is a file of CSV with a header.
	File string
	// Columns are the columns of the result, in order. DType is Invalid where the cells decide.
	Columns []table.Field
}

// queryEntry is the query of a type.
type queryEntry struct {
	Query
	key     string // of the type that it is an entry of
	at      yamlfile.Entry
	markAt  yamlfile.Entry
	from    *yamlfile.Entry // the source of the type; nil: the source of the file
	queried *Queried
}

// readQuery reads the keys source, query and mark of a type.
func (l *lister) readQuery(f yamlfile.Entry, s *source) (err error) {
	if s.query == nil {
		s.query = &queryEntry{}
	}
	switch f.Key {
	case "source":
		s.query.from = &f
		return nil
	case "mark":
		s.query.markAt = f
		s.query.Mark, err = l.y.Text(f.Value, "a column of the query")
		return err
	}
	s.query.at = f
	s.query.SQL, err = l.y.Text(f.Value, "a SELECT")
	return err
}

// tabled says whether a type has a table, as files or as a query.
func (s *source) tabled() bool { return s.names != nil || s.query != nil }

// checkQuery refuses keys of a type that do not go with its query.
func (l *lister) checkQuery(e yamlfile.Entry, s *source) error {
	q := s.query
	if q == nil {
		return nil
	}
	q.key = e.Key
	switch {
	case q.SQL == "" && q.at.Value != nil:
		return l.y.Errorf(q.at.Value, "found an empty query of %s, expected a SELECT; write the query", e.Key)
	case q.SQL == "" && q.Mark != "":
		return l.y.Errorf(q.markAt.At, "found a mark of %s without a query, expected both; write query: SELECT ..., or leave the mark out", e.Key)
	case q.SQL == "":
		return l.y.Errorf(q.from.At, "found a source of %s without a query, expected both; write query: SELECT ..., or leave the source out", e.Key)
	case s.names != nil:
		return l.y.Errorf(q.at.At, "found a table and a query of %s, expected one of them", e.Key)
	case s.csv.Names != nil || s.csv.Header || s.csv.Delimiter != 0:
		return l.y.Errorf(q.at.At, "found names, header or delimiter with the query of %s, expected a SELECT that names its columns with AS; remove these keys", e.Key)
	}
	return nil
}

// queries carries out the queries of all types. Equal queries of one source are one table, as equal files are.
func (l *lister) queries(ctx context.Context) error {
	var all []*queryEntry
	for _, n := range l.nodes {
		all = append(all, n.query)
	}
	for _, e := range l.edges {
		all = append(all, e.query)
	}
	all = slices.DeleteFunc(all, func(q *queryEntry) bool { return q == nil })
	if len(all) == 0 {
		return nil
	}
	if l.o.Query == nil {
		return l.y.Errorf(all[0].at.At, "found a query, expected tables of files on a cluster, and of what is dropped or changed; write the rows to a file")
	}
	var asked []Query
	at := make([]int, len(all))
	for i, q := range all {
		from := q.from
		if from == nil {
			from = l.source
		}
		if from == nil {
			return l.y.Errorf(q.at.At, "found the query of %s without a source, expected the database that it asks; write source: sqlite:FILE or source: postgres://USER@HOST/DATABASE at the top of the file", q.key)
		}
		var err error
		if q.Source, err = l.address(*from); err != nil {
			return err
		}
		q.Type, q.Place = q.key, l.y.Place(q.at.At)
		at[i] = slices.IndexFunc(asked, func(p Query) bool { return p.Source == q.Source && p.SQL == q.SQL && p.Mark == q.Mark })
		if at[i] < 0 {
			at[i] = len(asked)
			asked = append(asked, q.Query)
		}
		asked[at[i]].Types = append(asked[at[i]].Types, q.key)
	}
	got, err := l.o.Query(ctx, asked)
	if err != nil {
		return err
	}
	for i, q := range all {
		q.queried = &got[at[i]]
	}
	return nil
}

// address reads a source. A file is relative to the folder of the yaml file, and must lie in it as files of tables must. A server counts as
// outside of that folder, because it would get a password and what the user may read.
func (l *lister) address(e yamlfile.Entry) (string, error) {
	text, err := l.y.Text(e.Value, "sqlite:FILE or postgres://USER@HOST/DATABASE")
	if err != nil {
		return "", err
	}
	scheme, file, ok := strings.Cut(text, ":")
	switch {
	case ok && scheme == "sqlite" && file != "":
		path := file
		if !filepath.IsAbs(file) {
			path = filepath.Join(l.p.dir, file)
		}
		return "sqlite:" + path, l.place(e.Value, l.p.inside(l.p.dir, path))
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		if !l.p.outside {
			return "", l.y.Errorf(e.Value, "found a source on a server, expected one within %s, as the user's password could go to any server that a file names; allow it with `AllowOutside`", l.p.dir)
		}
		return text, nil
	}
	return "", l.y.Errorf(e.Value, "found a source that is no address of a database, expected sqlite:FILE or postgres://USER@HOST/DATABASE")
}

// openQueried opens the result of a query. Its columns have the types of the database.
func (l *lister) openQueried(s *source) (err error) {
	q := s.query.queried
	key := "query " + q.File
	if s.base = l.p.tables[key]; s.base == nil {
		if s.base, err = textfiles.OpenCSV(l.p.fsys, []string{q.File}, textfiles.CSVOptions{Delimiter: ',', Header: true}); err != nil {
			return err
		}
		l.p.tables[key] = s.base
		l.p.use(q.File)
	}
	return nil
}

// declare gives the fields of a result the types of the database, and leaves out those that are none of its columns.
func (q *Queried) declare(fields []looks) []looks {
	var out []looks
	for _, c := range q.Columns {
		f := field(fields, c.Name)
		if f == nil {
			continue
		}
		if c.DType != graph.Invalid {
			f.DType, f.Unit = c.DType, ""
			f.text = c.DType == graph.String
			if c.DType != graph.Int64 {
				f.unsigned, f.rows, f.mixed = false, false, false
			}
		}
		out = append(out, *f)
	}
	return out
}
