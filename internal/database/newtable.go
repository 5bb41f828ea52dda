package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrTableExists means that a table to write is there already.
var ErrTableExists = errors.New("table exists")

// Kind is the kind of the values of a column to write.
type Kind uint8

// The kinds.
const (
	Integer Kind = iota
	Float
	Bool
	Text
)

var sqliteTypes = map[Kind]string{Integer: "INTEGER", Float: "REAL", Bool: "BOOLEAN", Text: "TEXT"}

// NewColumn is a column of a table to write.
type NewColumn struct {
	Name string
	Kind Kind
}

// mostColumns is the most columns of a table of SQLite as it is built by default.
const mostColumns = 2000

// NewTable is a table that is being written, in one transaction. Commit or Rollback ends it.
type NewTable struct {
	name   string // of the file, for errors
	db     *sql.DB
	tx     *sql.Tx
	insert *sql.Stmt
	made   string // the file, if it was not there before
}

// CreateTable makes a table in a file of SQLite, which is made where there is none. replace drops a table of this name first, in the same
// transaction.
func CreateTable(ctx context.Context, address, table string, columns []NewColumn, replace bool) (_ *NewTable, err error) {
	file := strings.TrimPrefix(address, "sqlite:")
	if len(columns) > mostColumns {
		return nil, tagged.Errorf(ErrUsage, "found %d columns, expected at most %d in a table of SQLite, which has one for each value of a vector; write Parquet", len(columns), mostColumns)
	}
	t := &NewTable{name: address}
	switch info, err := vfs.OS.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		t.made = file
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: found a folder or a device, expected a file of SQLite; correct the path", address)
	}
	if t.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)&_txlock=immediate"}).String()); err != nil {
		return nil, err
	}
	t.db.SetMaxOpenConns(1)
	if err := t.begin(ctx, table, columns, replace); err != nil {
		return nil, errors.Join(t.in(err), t.Rollback())
	}
	return t, nil
}

// begin begins the transaction, and makes the table.
func (t *NewTable) begin(ctx context.Context, table string, columns []NewColumn, replace bool) (err error) {
	if t.tx, err = t.db.BeginTx(ctx, nil); err != nil {
		return err
	}
	var there bool
	if err := t.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE)", table).Scan(&there); err != nil {
		return err
	}
	switch {
	case there && !replace:
		return tagged.Errorf(ErrTableExists, "found a table %q, expected none of this name; choose another `Table`, or give `Overwrite` to replace it", table)
	case there:
		if _, err := t.tx.ExecContext(ctx, "DROP TABLE "+quoted(table)); err != nil {
			return err
		}
	}
	var names, marks []string
	for _, c := range columns {
		names, marks = append(names, quoted(c.Name)+" "+sqliteTypes[c.Kind]), append(marks, "?")
	}
	if _, err := t.tx.ExecContext(ctx, "CREATE TABLE "+quoted(table)+" ("+strings.Join(names, ", ")+")"); err != nil {
		return err
	}
	t.insert, err = t.tx.PrepareContext(ctx, "INSERT INTO "+quoted(table)+" VALUES ("+strings.Join(marks, ", ")+")")
	return err
}

// Insert adds a row: an int64, float64, bool or string per column, or nil.
func (t *NewTable) Insert(ctx context.Context, row []any) error {
	if _, err := t.insert.ExecContext(ctx, row...); err != nil {
		return t.in(err)
	}
	return nil
}

// Commit makes the table last. After an error there is none.
func (t *NewTable) Commit() error {
	if err := t.tx.Commit(); err != nil {
		return t.in(err) // the caller rolls back
	}
	t.made = ""
	return t.in(t.db.Close())
}

// Rollback leaves the database as it was.
func (t *NewTable) Rollback() error {
	var err error
	if t.tx != nil {
		if err = t.tx.Rollback(); errors.Is(err, sql.ErrTxDone) { // its context has ended
			err = nil
		}
	}
	if err = errors.Join(err, t.db.Close()); err != nil {
		err = t.in(err)
	}
	if t.made == "" {
		return err
	}
	return errors.Join(err, vfs.OS.RemoveAll(t.made), vfs.OS.RemoveAll(t.made+"-journal"))
}

// in adds the file to an error.
func (t *NewTable) in(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", t.name, err)
}
