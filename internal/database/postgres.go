package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/graphmill/graphmill/internal/tagged"
)

// postgres is a connection to PostgreSQL; from openPostgres, within a transaction that sees the database as it was at its first read.
type postgres struct {
	name string
	conn *pgx.Conn
	oids map[string]uint32 // of tables, by name
	sql  map[string]string // their names in SQL
}

// settings make the texts of values the same for all servers.
const settings = "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; SET LOCAL intervalstyle = 'iso_8601'"

// connectPostgres connects to the database of an address, which must have no password.
func connectPostgres(ctx context.Context, address string) (*postgres, error) {
	u, err := url.Parse(address)
	if err != nil { // its text may have a password
		return nil, tagged.Errorf(ErrUsage, "found an address of PostgreSQL that is not one, expected postgres://USER@HOST/DATABASE; write special characters as %%XX")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return nil, tagged.Errorf(ErrUsage, "found a password in the address of the database, expected it in PGPASSWORD or in ~/.pgpass: an address is seen by others, in the list of processes")
	}
	if u.Query().Has("sslpassword") {
		return nil, tagged.Errorf(ErrUsage, "found sslpassword in the address of the database, expected it in PGSSLPASSWORD: an address is seen by others, in the list of processes")
	}
	p := &postgres{name: Shown(address), oids: map[string]uint32{}, sql: map[string]string{}}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, tagged.Errorf(ErrUsage, "%s: found an address that cannot be read, expected postgres://USER@HOST/DATABASE", p.name)
	}
	if p.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, p.in(unconnected(err))
	}
	return p, nil
}

func openPostgres(ctx context.Context, address string) (*Snapshot, error) {
	p, err := connectPostgres(ctx, address)
	if err != nil {
		return nil, err
	}
	begin := []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
	for _, q := range append(begin, strings.Split(settings, "; ")...) {
		if _, err := p.conn.Exec(ctx, q); err != nil {
			return nil, errors.Join(p.in(err), p.close())
		}
	}
	return &Snapshot{db: p, Name: p.name}, nil
}

// unconnected shortens the error of a connection to one line: pgx lists every attempt, and the last one says enough.
func unconnected(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}

// close ends the connection, and with it the transaction, which changed nothing.
func (p *postgres) close() error {
	if err := p.conn.Close(context.Background()); err != nil {
		return p.in(err)
	}
	return nil
}

// in adds the address to an error.
func (p *postgres) in(err error) error { return fmt.Errorf("%s: %w", p.name, err) }

func (p *postgres) list(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := p.conn.Query(ctx, query, args...)
	if err != nil {
		return p.in(err)
	}
	for rows.Next() && err == nil {
		err = fn(rows.Scan)
	}
	rows.Close()
	if err := errors.Join(err, rows.Err()); err != nil {
		return p.in(err)
	}
	return nil
}

func (p *postgres) tables(ctx context.Context) (all []relation, err error) {
	byOID := map[uint32]string{}
	err = p.list(ctx, func(scan func(...any) error) error {
		var oid uint32
		var schema, name string
		if err := scan(&oid, &schema, &name); err != nil {
			return err
		}
		full := name
		if schema != "public" {
			full = schema + "." + name
		}
		all = append(all, relation{name: full})
		byOID[oid], p.oids[full], p.sql[full] = full, oid, quoted(schema)+"."+quoted(name)
		return nil
	}, `SELECT c.oid, n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'`)
	slices.SortFunc(all, func(a, b relation) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		if err == nil {
			err = p.describe(ctx, &all[i], byOID)
		}
	}
	return all, err
}

// baseType is the name of the type t or, of a domain, of the type that it is one of in the end.
const baseType = `(WITH RECURSIVE b AS (SELECT t.typname, t.typbasetype UNION ALL SELECT u.typname, u.typbasetype FROM b JOIN pg_type u ON u.oid = b.typbasetype)
		SELECT typname FROM b WHERE typbasetype = 0)::text`

// describe finds the columns and keys of a table.
func (p *postgres) describe(ctx context.Context, r *relation, byOID map[uint32]string) error {
	err := p.list(ctx, func(scan func(...any) error) error {
		var c column
		var base, category string
		var notNull bool
		if err := scan(&c.name, &c.typ, &base, &category, &notNull); err != nil {
			return err
		}
		c.kind, c.nullable = postgresKind(base, category), !notNull
		r.columns = append(r.columns, c)
		return nil
	}, `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), `+baseType+`, t.typcategory::text, a.attnotnull
		FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, p.oids[r.name])
	if err != nil {
		return err
	}
	return p.list(ctx, func(scan func(...any) error) error {
		var kind string
		var other uint32
		var from, to []string
		if err := scan(&kind, &other, &from, &to); err != nil {
			return err
		}
		if kind == "p" {
			r.key = from
			return nil
		}
		r.foreign = append(r.foreign, foreignKey{columns: from, table: byOID[other], targets: to})
		return nil
	}, `SELECT contype::text, confrelid,
		(SELECT array_agg(a.attname::text ORDER BY k.i) FROM unnest(conkey) WITH ORDINALITY k (n, i) JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.n),
		(SELECT array_agg(a.attname::text ORDER BY k.i) FROM unnest(confkey) WITH ORDINALITY k (n, i) JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.n)
		FROM pg_constraint WHERE conrelid = $1 AND contype IN ('p', 'f') AND conparentid = 0 ORDER BY conname`, p.oids[r.name])
}

// postgresKind is the kind of a type, given by its name and category in pg_type.
func postgresKind(name, category string) kind {
	switch name {
	case "int2", "int4", "int8":
		return integer
	case "float4", "float8", "numeric":
		return float
	case "bool":
		return boolean
	case "date", "timestamp", "timestamptz":
		return timestamp
	case "uuid", "json", "jsonb":
		return text
	}
	if category == "S" || category == "E" || category == "I" { // texts, enumerations, addresses of networks
		return text
	}
	return other
}

func (p *postgres) size(ctx context.Context) (n int64, err error) {
	if err := p.conn.QueryRow(ctx, "SELECT coalesce(sum(pg_table_size(t)), 0)::int8 FROM unnest($1::oid[]) t", slices.Collect(maps.Values(p.oids))).Scan(&n); err != nil {
		return 0, p.in(err)
	}
	return n, nil
}

func (p *postgres) has(ctx context.Context, r *relation, condition string) (found bool, err error) {
	if err := p.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+p.sql[r.name]+" WHERE "+condition+")").Scan(&found); err != nil {
		return false, p.in(err)
	}
	return found, nil
}

func (p *postgres) compared(c *column) string {
	if c.kind == text {
		return quoted(c.name) + `::text COLLATE "C"`
	}
	return quoted(c.name)
}

func (p *postgres) value(ctx context.Context, query string) (string, error) {
	var found *string
	if err := p.conn.QueryRow(ctx, query).Scan(&found); err != nil {
		return "", p.in(err)
	}
	if found == nil {
		return "", nil
	}
	return *found, nil
}

func (p *postgres) copy(ctx context.Context, to io.Writer, r *relation, columns []column, order []string) (int64, error) {
	var names, by []string
	for _, c := range columns {
		name := quoted(c.name)
		if c == rowColumn {
			name = "1 AS " + name
		}
		switch {
		case c.kind == boolean || c.kind == text:
			name += "::text AS " + name
		case strings.HasPrefix(c.typ, "numeric"): // 1.5 and 1.50 are one key
			name = "trim_scale(" + name + ") AS " + name
		}
		names = append(names, name)
	}
	for _, c := range order {
		name := "t." + quoted(c)
		switch r.column(c).kind {
		case text: // in the same order on all servers
			by = append(by, name+`::text COLLATE "C"`)
		case float: // equal numbers can have different texts, such as 0 and -0
			by = append(by, name, name+`::text COLLATE "C"`)
		default:
			by = append(by, name)
		}
	}
	from := p.sql[r.name]
	if r.query != "" {
		from = r.from()
	}
	query := "COPY (SELECT " + strings.Join(names, ", ") + " FROM " + from + " t ORDER BY " + strings.Join(by, ", ") + ") TO STDOUT (FORMAT csv, HEADER true)"
	tag, err := p.conn.PgConn().CopyTo(ctx, to, query)
	if err != nil {
		if r.query == "" {
			err = fmt.Errorf("table %s: %w", r.name, err)
		}
		return 0, p.in(err)
	}
	return tag.RowsAffected(), nil
}
