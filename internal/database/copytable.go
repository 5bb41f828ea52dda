package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
)

// CopyColumn is a column of a table of PostgreSQL to write.
type CopyColumn struct {
	Name string
	Type string // in SQL, such as "real[]"
}

// mostName is the most bytes of a name in PostgreSQL, which cuts longer ones.
const mostName = 63

// CopiedTable is a table of PostgreSQL that is being written by COPY, in one transaction. Commit or Rollback ends it.
type CopiedTable struct {
	p    *postgres
	rows *io.PipeWriter
	copy *guard.Group // the COPY; nil before it begins and after it ends
}

// The begin and the end of COPY's binary format.
const (
	copyHead = "PGCOPY\n\377\r\n\000\000\000\000\000\000\000\000\000"
	copyTail = "\377\377"
)

// CopyTable makes a table in a database of PostgreSQL. A name SCHEMA.TABLE names the schema; others are in the first one of the search path.
// replace drops a table of this name first, in the same transaction.
func CopyTable(ctx context.Context, address, table string, columns []CopyColumn, replace bool) (_ *CopiedTable, err error) {
	for _, c := range append([]CopyColumn{{Name: table[strings.IndexByte(table, '.')+1:]}}, columns...) {
		if len(c.Name) > mostName {
			return nil, tagged.Errorf(ErrUsage, "found the name %q of %d bytes, expected at most %d in PostgreSQL; choose a shorter one", c.Name, len(c.Name), mostName)
		}
	}
	p, err := connectPostgres(ctx, address)
	if err != nil {
		return nil, err
	}
	t := &CopiedTable{p: p}
	name, err := t.begin(ctx, table, columns, replace)
	if err != nil {
		return nil, errors.Join(err, t.Rollback())
	}
	var from *io.PipeReader
	from, t.rows = io.Pipe()
	t.copy = &guard.Group{}
	t.copy.Go(func() error {
		_, err := p.conn.PgConn().CopyFrom(ctx, from, "COPY "+name+" FROM STDIN (FORMAT binary)")
		var refused *pgconn.PgError
		if err != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("the connection ended while rows were written: %w", err)
		}
		if err != nil {
			err = p.in(err)
		}
		return errors.Join(err, from.CloseWithError(err)) // no Write waits any more
	})
	if _, err := t.Write([]byte(copyHead)); err != nil {
		return nil, errors.Join(err, t.Rollback())
	}
	return t, nil
}

// begin begins the transaction, makes the table, and returns its name in SQL.
func (t *CopiedTable) begin(ctx context.Context, table string, columns []CopyColumn, replace bool) (name string, err error) {
	for _, q := range []string{"BEGIN", "SET LOCAL client_encoding = 'UTF8'"} {
		if _, err := t.p.conn.Exec(ctx, q); err != nil {
			return "", t.p.in(err)
		}
	}
	schema, base, ok := strings.Cut(table, ".")
	if !ok {
		schema, base = "", table
	}
	var found *string
	if err := t.p.conn.QueryRow(ctx, "SELECT (SELECT nspname::text FROM pg_namespace WHERE nspname = coalesce(nullif($1::text, ''), current_schema()))", schema).Scan(&found); err != nil {
		return "", t.p.in(err)
	}
	if found == nil {
		return "", tagged.Errorf(ErrUsage, "%s: found no schema %q, expected one for the table %q; create it, or choose another `Table`", t.p.name, schema, base)
	}
	name = quoted(*found) + "." + quoted(base)
	var there bool
	if err := t.p.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2)", *found, base).Scan(&there); err != nil {
		return "", t.p.in(err)
	}
	var statements []string
	if there && !replace {
		return "", t.p.in(tagged.Errorf(ErrTableExists, "found a table %q, expected none of this name; choose another `Table`, or give `Overwrite` to replace it", table))
	} else if there {
		statements = append(statements, "DROP TABLE "+name)
	}
	var list []string
	for _, c := range columns {
		list = append(list, quoted(c.Name)+" "+c.Type)
	}
	for _, q := range append(statements, "CREATE TABLE "+name+" ("+strings.Join(list, ", ")+")") {
		if _, err := t.p.conn.Exec(ctx, q); err != nil {
			return "", t.p.in(err)
		}
	}
	return name, nil
}

// Write adds rows in COPY's binary format.
func (t *CopiedTable) Write(b []byte) (int, error) { return t.rows.Write(b) }

// Commit makes the table last. After an error there is none, once the caller rolls back.
func (t *CopiedTable) Commit(ctx context.Context) error {
	if _, err := t.Write([]byte(copyTail)); err != nil {
		return err
	}
	err := errors.Join(t.rows.Close(), t.copy.Wait())
	t.copy = nil
	if err != nil {
		return err
	}
	if _, err := t.p.conn.Exec(ctx, "COMMIT"); err != nil {
		return t.p.in(err)
	}
	return t.p.close()
}

// Rollback leaves the database as it was.
func (t *CopiedTable) Rollback() error {
	if t.copy != nil {
		_ = t.rows.CloseWithError(errors.New("the rows ended early")) // it never fails
		_ = t.copy.Wait()                                             // its error is known already, from Write or from the line above
		t.copy = nil
	}
	return t.p.close() // which ends the transaction
}
