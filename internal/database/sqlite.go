package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"modernc.org/sqlite"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sqliteFile is a file of SQLite, within a transaction that sees it as it was at its first read.
type sqliteFile struct {
	file string
	db   *sql.DB
	conn *sql.Conn
	tx   *sql.Tx
	most int    // bytes of a value
	of   string // the table that is read, for errors
}

// The limits of a connection: SQLITE_LIMIT_LENGTH, the bytes of a value, and SQLITE_LIMIT_ATTACHED, the number of files besides the first that
// it can open, also to write.
const (
	limitLength   = 0
	limitAttached = 7
)

// The most bytes of a value: of one that is stored, as many as a record of a table has; of one that an expression makes, fewer, as a few bytes
// of a file can demand any number of them. All values of a row are in memory at a time.
const (
	maxValue     = 16 << 20
	maxGenerated = 2 << 20
	maxRow       = 64 << 20 // of generated columns
	maxResult    = 256 << 20
)

// bound limits the values of a table or query of which n columns are read.
func (s *sqliteFile) bound(r *relation, n int) error {
	most := maxValue
	switch {
	case r.query != "":
		most = min(maxValue, maxResult/max(n, 1))
	case r.generated:
		most = min(maxGenerated, maxRow/max(n, 1))
	}
	_, err := sqlite.Limit(s.conn, limitLength, most)
	s.most, s.of = most, ""
	if r.query == "" && r.name != "" {
		s.of = "table " + r.name + ": "
	}
	return err
}

func openSQLite(ctx context.Context, file string) (*sqliteFile, error) {
	info, err := vfs.OS.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, tagged.Errorf(fs.ErrNotExist, "sqlite:%s: found no such file, expected one of SQLite", file)
	case err != nil:
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("sqlite:%s: found a folder or a device, expected a file of SQLite; correct the path", file)
	}
	address := url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)&_pragma=trusted_schema(0)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqliteFile{file: file, db: db}
	if s.conn, err = db.Conn(ctx); err == nil {
		_, err = sqlite.Limit(s.conn, limitAttached, 0)
	}
	if err == nil {
		err = s.bound(&relation{}, 1)
	}
	if err == nil {
		s.tx, err = s.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	}
	if err == nil {
		var version int64 // the first read begins the snapshot
		err = s.tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&version)
	}
	if err != nil {
		return nil, errors.Join(s.in(err), s.close())
	}
	return s, nil
}

func (s *sqliteFile) close() error {
	var err error
	if s.tx != nil {
		err = s.tx.Rollback()
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close())
	}
	if err = errors.Join(err, s.db.Close()); err != nil {
		return s.in(err)
	}
	return nil
}

// in adds the file to an error of the driver.
func (s *sqliteFile) in(err error) error {
	var failed *sqlite.Error
	if errors.As(err, &failed) && failed.Code() == tooBig {
		err = fmt.Errorf("%sfound a value of more than %d bytes, expected fewer; name the other columns in a query, with graph.yaml", s.of, s.most)
	}
	return fmt.Errorf("sqlite:%s: %w", s.file, err)
}

// tooBig is SQLITE_TOOBIG, the error of a value that is longer than the limit.
const tooBig = 18

// quoted is an identifier in SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// list calls fn with each row of a query.
func (s *sqliteFile) list(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return s.in(err)
	}
	for rows.Next() && err == nil {
		err = fn(rows.Scan)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return s.in(err)
	}
	return nil
}

func (s *sqliteFile) tables(ctx context.Context) (all []relation, err error) {
	err = s.list(ctx, func(scan func(...any) error) error {
		var r relation
		err := scan(&r.name)
		all = append(all, r)
		return err
	}, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	for i := range all {
		if err == nil {
			err = s.describe(ctx, &all[i])
		}
	}
	if err == nil {
		spell(all)
	}
	return all, err
}

// spell writes the names in foreign keys as their tables have them: in SQLite, letters of both cases are one.
func spell(all []relation) {
	for i := range all {
		for k := range all[i].foreign {
			f := &all[i].foreign[k]
			spelled(f.columns, &all[i])
			to := slices.IndexFunc(all, func(r relation) bool { return strings.EqualFold(r.name, f.table) })
			if to >= 0 {
				f.table = all[to].name
				spelled(f.targets, &all[to])
			}
		}
	}
}

// spelled writes names as the columns of a table are spelled.
func spelled(names []string, r *relation) {
	for i, name := range names {
		if at := slices.IndexFunc(r.columns, func(c column) bool { return strings.EqualFold(c.name, name) }); at >= 0 {
			names[i] = r.columns[at].name
		}
	}
}

// describe finds the columns and keys of a table.
func (s *sqliteFile) describe(ctx context.Context, r *relation) error {
	type part struct {
		name  string
		place int
	}
	var key []part
	err := s.list(ctx, func(scan func(...any) error) error {
		var name, typ string
		var notNull, place, hidden int
		if err := scan(&name, &typ, &notNull, &place, &hidden); err != nil {
			return err
		}
		r.generated = r.generated || hidden != 0
		r.columns = append(r.columns, column{name: name, kind: sqliteKind(typ), typ: cmp.Or(typ, "no type"), nullable: notNull == 0})
		if place > 0 {
			key = append(key, part{name, place})
		}
		return nil
	}, `SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1`, r.name)
	if err != nil {
		return err
	}
	slices.SortFunc(key, func(a, b part) int { return a.place - b.place })
	for _, k := range key {
		r.key = append(r.key, k.name)
	}
	last := -1
	return s.list(ctx, func(scan func(...any) error) error {
		var id int
		var table, from string
		var to sql.NullString
		if err := scan(&id, &table, &from, &to); err != nil {
			return err
		}
		if id != last {
			r.foreign, last = append(r.foreign, foreignKey{table: table}), id
		}
		f := &r.foreign[len(r.foreign)-1]
		f.columns = append(f.columns, from)
		if to.Valid {
			f.targets = append(f.targets, to.String)
		}
		return nil
	}, `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq`, r.name)
}

// timeOfDay are the declared types of times without a date, which are no times of a graph.
var timeOfDay = regexp.MustCompile(`^TIME\b`)

// sqliteKind is the kind of a declared type. SQLite keeps any value in any column, so a value can differ.
func sqliteKind(typ string) kind {
	typ = strings.ToUpper(typ)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(typ, p) })
	}
	switch {
	case has("BOOL"):
		return boolean
	case timeOfDay.MatchString(typ):
		return text
	case has("DATE", "TIME"):
		return timestamp
	case has("INT"):
		return integer
	case has("CHAR", "CLOB", "TEXT", "UUID", "JSON"):
		return text
	case has("REAL", "FLOA", "DOUBLE", "NUM", "DEC"):
		return float
	}
	return other
}

func (s *sqliteFile) size(ctx context.Context) (n int64, err error) {
	err = s.list(ctx, func(scan func(...any) error) error { return scan(&n) },
		"SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
	return n, err
}

func (s *sqliteFile) has(ctx context.Context, r *relation, condition string) (found bool, err error) {
	if err := s.bound(r, 1); err != nil {
		return false, err
	}
	err = s.list(ctx, func(scan func(...any) error) error { return scan(&found) }, "SELECT EXISTS (SELECT 1 FROM "+quoted(r.name)+" WHERE "+condition+")")
	return found, err
}

func (s *sqliteFile) compared(c *column) string { return quoted(c.name) + " COLLATE BINARY" }

func (s *sqliteFile) value(ctx context.Context, query string) (text string, err error) {
	err = s.list(ctx, func(scan func(...any) error) error {
		var found *string
		err := scan(&found)
		if found != nil {
			text = *found
		}
		return err
	}, query)
	return text, err
}

func (s *sqliteFile) copy(ctx context.Context, to io.Writer, r *relation, columns []column, order []string) (n int64, err error) {
	var names, by []string
	for _, c := range columns {
		if c == rowColumn {
			names = append(names, "1")
			continue
		}
		names = append(names, quoted(c.name))
	}
	for _, c := range order { // in bytes, whatever the column compares by; 1 and 1.0 are equal and have different texts
		by = append(by, quoted(c)+" COLLATE BINARY", "typeof("+quoted(c)+")")
	}
	from := quoted(r.name)
	if r.query != "" {
		from = r.from()
	}
	if err := s.bound(r, len(columns)+len(order)); err != nil {
		return 0, err
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + from
	if len(by) > 0 {
		query += " ORDER BY " + strings.Join(by, ", ")
	}
	if _, err := to.Write(header(columns)); err != nil {
		return 0, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var line []byte
	err = s.list(ctx, func(scan func(...any) error) error {
		if err := scan(into...); err != nil {
			return err
		}
		line = line[:0]
		for i, v := range values {
			if i > 0 {
				line = append(line, ',')
			}
			var err error
			if line, err = appendCell(line, columns[i].kind, v); err != nil {
				if r.query != "" {
					return fmt.Errorf("row %d of the result in its order, column %s: %w", n+1, columns[i].name, err)
				}
				return fmt.Errorf("table %s, row %d of its key's order, column %s: %w", r.name, n+1, columns[i].name, err)
			}
		}
		n++
		line = append(line, '\n')
		_, err := to.Write(line)
		return err
	}, query)
	return n, err
}

// appendCell appends a value of the driver as a cell. Null is an empty cell.
func appendCell(b []byte, k kind, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return b, nil
	case int64:
		if k == boolean {
			return strconv.AppendBool(b, v != 0), nil
		}
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case time.Time:
		return v.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999Z"), nil
	case string:
		if !utf8.ValidString(v) {
			return b, errors.New("found bytes that are no UTF-8, expected text; cast the column to a number, or convert its text in a query")
		}
		return appendQuoted(b, v), nil
	case []byte:
		return b, fmt.Errorf("found %d bytes, expected text or numbers; leave the column out, or convert it with hex() in a query", len(v))
	}
	return b, fmt.Errorf("found a value of type %T, expected text or numbers; cast the column in a query", v)
}

// appendQuoted appends a text as a cell, in quotes.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// header is the line of the names of columns.
func header(columns []column) (b []byte) {
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, c.name)
	}
	return append(b, '\n')
}
