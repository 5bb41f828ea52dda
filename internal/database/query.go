package database

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Column is a column of the result of a query.
type Column struct {
	Name string
	// DType belongs to the type that the database declares for the column. It is Invalid for times, and where no type is declared.
	DType graph.DType
}

// Result is what Query wrote.
type Result struct {
	Rows    int64
	Columns []Column
	Notes   []string // what is left out
	// Last is the largest value of the column of a Mark in the rows that were written; "" without rows.
	Last string
}

// Mark asks for the rows of a query that are new: those with a larger value in a column than After, which an earlier Query returned as Last; all of them for "".
type Mark struct{ Column, After string }

// Query writes the rows of a query to a file, as CSV with a header, in the order of all columns: the rows of a query have none. The query
// is one SELECT, which can end with a semicolon. It is read within the snapshot, so it cannot change anything. With a mark, which may be nil, they are in the order of its column first.
func (s *Snapshot) Query(ctx context.Context, fsys vfs.FS, file, query string, mark *Mark) (*Result, error) {
	if strings.Contains(query, "\x00") {
		return nil, s.errorf("found a NUL in a query, expected text; remove the byte")
	}
	r, err := s.db.describeQuery(ctx, strings.TrimRight(query, "; \t\r\n"))
	if err != nil {
		return nil, err
	}
	out := &Result{}
	if mark != nil {
		if out.Last, err = s.mark(ctx, r, mark); err != nil {
			return nil, err
		}
	}
	t := tableLayout{relation: *r}
	if mark != nil {
		t.first = mark.Column
	}
	seen := map[string]bool{}
	for _, c := range r.columns {
		if seen[c.name] || seen[renamed.ReplaceAllString(c.name, "")] {
			return nil, s.errorf("found two columns %q in the result of a query, expected each name once; name one of them with AS", renamed.ReplaceAllString(c.name, ""))
		}
		seen[c.name] = true
		if c.kind == other {
			out.Notes = append(out.Notes, fmt.Sprintf("column %s of %s is left out: expected numbers, bools, texts or times", c.name, c.typ))
			continue
		}
		t.copied = append(t.copied, c)
		out.Columns = append(out.Columns, Column{c.name, dtypes[c.kind]})
	}
	if len(t.copied) == 0 {
		return nil, s.errorf("found a query without a column of numbers, bools, texts or times, expected a SELECT of at least one; cast a column of another type in the query")
	}
	out.Rows, err = s.copyTable(ctx, fsys, file, &t)
	return out, err
}

// plainMark matches marks that are literals of SQL between quotes, whatever the database.
var plainMark = regexp.MustCompile(`^[^'\\\x00]*$`)

// wholeMark is a mark that is a whole number.
var wholeMark = regexp.MustCompile(`^-?[0-9]+$`)

// mark makes r the rows of a query after a mark, and returns the largest value of its column in them.
func (s *Snapshot) mark(ctx context.Context, r *relation, mark *Mark) (last string, err error) {
	c := r.column(mark.Column)
	switch {
	case c == nil:
		return "", s.errorf("found no column %q in the result of a query, expected it, because it is the mark; name one of its columns", mark.Column)
	case c.kind != integer && c.kind != timestamp && c.kind != text && c.kind != undeclared:
		return "", s.errorf("found the mark %q of %s, expected a column of whole numbers, times or texts, which grows with each row; take another one", c.name, c.typ)
	}
	name, compared := quoted(c.name), s.db.compared(c)
	value := func(of, where string) (string, error) {
		return s.db.value(ctx, "SELECT CAST("+of+" AS TEXT) FROM "+r.from()+" AS marked"+where)
	}
	nulls, err := value("count(*)", " WHERE "+name+" IS NULL")
	if err != nil {
		return "", err
	}
	if nulls != "0" {
		return "", s.errorf("found %s rows with an empty %q, expected a value in each, because it is the mark; leave these rows out of the query", nulls, c.name)
	}
	if mark.After != "" {
		after := "'" + mark.After + "'"
		if wholeMark.MatchString(mark.After) && c.kind != text {
			after = mark.After
		}
		r.query = "SELECT * FROM " + r.from() + " AS marked WHERE " + compared + " > " + after
	}
	if last, err = value("max("+compared+")", ""); err == nil && !plainMark.MatchString(last) {
		err = s.errorf("found the mark %q, expected one without quotes and backslashes; take another column", last)
	}
	return last, err
}

// dtypes are the dtypes of kinds, except where the values decide.
var dtypes = map[kind]graph.DType{integer: graph.Int64, float: graph.Float64, boolean: graph.Bool, text: graph.String}

// renamed matches the suffix that SQLite adds to the second of two columns with the same name.
var renamed = regexp.MustCompile(`:[0-9]+$`)

func (s *Snapshot) errorf(format string, a ...any) error {
	return fmt.Errorf("%s: %w", s.Name, fmt.Errorf(format, a...))
}

// from is a query as the source of a SELECT. The line end closes a comment.
func (r *relation) from() string { return "(" + r.query + "\n)" }

// oneSelect is an error where a query, in the SQL of SQLite, could end within the SELECT that is built around it, as one of several
// statements does: the driver would carry them out one after another.
func oneSelect(query string) error {
	depth := 0
	for i := 0; i < len(query); i++ {
		rest := query[i:]
		end := 1
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			end = closing(rest, 1, string(c))
		case c == '[':
			end = closing(rest, 1, "]")
		case strings.HasPrefix(rest, "/*"):
			end = closing(rest, 2, "*/")
		case strings.HasPrefix(rest, "--"):
			if end = strings.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';':
			return errors.New("found a semicolon within a query, expected one SELECT; give each query a table of its own")
		case strings.IndexByte("?$@:#", c) >= 0:
			return fmt.Errorf("found a parameter %q in a query, expected its value; write the value into the query", rest[:1])
		}
		if end == 0 || depth < 0 {
			return fmt.Errorf("found %q in a query, which nothing opens or closes, expected one SELECT; correct the query", rest[:1])
		}
		i += end - 1
	}
	if depth > 0 {
		return errors.New("found a bracket in a query that nothing closes, expected one SELECT; close it")
	}
	return nil
}

// closing is the number of bytes up to the end of what a text opens with its first bytes; 0: nothing closes it.
func closing(text string, opens int, by string) int {
	at := strings.Index(text[opens:], by)
	if at < 0 {
		return 0
	}
	return opens + at + len(by)
}

// describeQuery implements database.
func (s *sqliteFile) describeQuery(ctx context.Context, query string) (*relation, error) {
	r := &relation{query: query}
	if err := oneSelect(query); err != nil {
		return nil, s.in(err)
	}
	rows, err := s.tx.QueryContext(ctx, "SELECT * FROM "+r.from()+" LIMIT 0")
	if err != nil {
		return nil, s.in(err)
	}
	types, err := rows.ColumnTypes()
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, s.in(err)
	}
	for _, t := range types {
		c := column{name: t.Name(), typ: t.DatabaseTypeName(), kind: undeclared, nullable: true}
		if c.typ != "" {
			c.kind = sqliteKind(c.typ)
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

// describeQuery implements database. The server parses the query alone, so it is one statement, and its brackets are closed.
func (p *postgres) describeQuery(ctx context.Context, query string) (*relation, error) {
	r := &relation{query: query}
	d, err := p.conn.Prepare(ctx, "", query)
	if err != nil {
		return nil, p.in(err)
	}
	for _, f := range d.Fields {
		c := column{name: f.Name, nullable: true}
		var base, category string
		err := p.conn.QueryRow(ctx, `SELECT format_type(t.oid, $2), `+baseType+`, t.typcategory::text FROM pg_type t WHERE t.oid = $1`, f.DataTypeOID, f.TypeModifier).Scan(&c.typ, &base, &category)
		if err != nil {
			return nil, p.in(err)
		}
		c.kind = postgresKind(base, category)
		r.columns = append(r.columns, c)
	}
	if len(d.Fields) == 0 {
		return nil, p.in(errors.New("found a statement that has no result, expected one SELECT; write a query that returns rows"))
	}
	return r, nil
}
