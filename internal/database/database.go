package database

import (
	"context"
	"errors"
	"io"
	"strings"
)

// ErrUsage is the kind of errors about an address or options that cannot be meant.
var ErrUsage = errors.New("bad address or options of a database")

// kind is the kind of the values of a column.
type kind uint8

const (
	other kind = iota // bytes, ranges and the like, which are left out
	integer
	float
	boolean
	text
	timestamp
	undeclared // the values of SQLite decide
)

// column is a column of a table.
type column struct {
	name string
	kind kind
	typ  string // as the database calls it
	// nullable columns may have nulls.
	nullable bool
}

// rowColumn is a column of ones, which the file of a table with one column has besides it: null alone would be an empty line, and that
// is no row.
var rowColumn = column{name: "#row", kind: integer}

// foreignKey says that columns of a table have the values of columns of another table.
type foreignKey struct {
	columns []string
	table   string
	targets []string // nil: the key of the table
}

// relation is a table of a database.
type relation struct {
	name    string
	query   string // a SELECT in place of a table
	columns []column
	key     []string
	foreign []foreignKey
	// generated says that expressions make columns of the table.
	generated bool
}

func (r *relation) column(name string) *column {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	return nil
}

// database is one kind of database. All its methods see the tables as they were when it was opened.
type database interface {
	// tables are the tables in the order of their names, without the database's own.
	tables(ctx context.Context) ([]relation, error)
	// describeQuery finds the columns of the result of a query, and refuses all but one SELECT.
	describeQuery(ctx context.Context, query string) (*relation, error)
	// named is a table in SQL.
	named(r *relation) string
	// size is about the number of bytes of the tables.
	size(ctx context.Context) (int64, error)
	// has says whether a table has a row for which a condition in SQL holds.
	has(ctx context.Context, r *relation, condition string) (bool, error)
	// compared is the expression by which rows are sorted and marks are compared: texts by their bytes, whatever the database compares them by.
	compared(c *column) string
	// value is the text that a SELECT of one text returns; "" for null.
	value(ctx context.Context, query string) (string, error)
	// copy writes columns of a table as CSV with a header, in the order of the given columns, and returns the number of rows. Bools are
	// true and false, and times are ISO 8601 or whole seconds since 1970.
	copy(ctx context.Context, to io.Writer, r *relation, columns []column, order []string) (rows int64, err error)
	close() error
}

// Snapshot is an open database.
type Snapshot struct {
	db database
	// Name is the address, without what a person may have put in it that others must not see.
	Name string
}

// Is says whether a source is the address of a database.
func Is(source string) bool {
	for _, scheme := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(source, scheme) {
			return true
		}
	}
	return false
}

// Open opens the database of an address. Close it.
func Open(ctx context.Context, address string) (*Snapshot, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		db, err := openSQLite(ctx, file)
		if err != nil {
			return nil, err
		}
		return &Snapshot{db: db, Name: address}, nil
	}
	return openPostgres(ctx, address)
}

// Close ends the snapshot.
func (s *Snapshot) Close() error { return s.db.close() }
