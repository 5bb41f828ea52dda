package database

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Copied is a table that Copies wrote.
type Copied struct {
	Name  string
	Query string // the SELECT whose result the file is
	File  string // CSV with a header, as Query writes it
	*Result
	Key     []string // the columns of the primary key; nil: none
	Foreign []Foreign
}

// Foreign is a foreign key that a database declares.
type Foreign struct {
	Columns []string
	Table   string
	Targets []string // nil: the key of the table
}

// longestSelect is the most bytes of a SELECT that lists columns: lines of a graph.yaml are short.
const longestSelect = 1500

// Copies writes all tables to a folder, each by a query that a graph.yaml can have, in the order of their names. Tables without a column
// that can be read are left out, and notes say so.
func (s *Snapshot) Copies(ctx context.Context, fsys vfs.FS, dir string) (copies []Copied, notes []string, err error) {
	tables, err := s.db.tables(ctx)
	if err != nil {
		return nil, nil, err
	}
	if size, err := s.db.size(ctx); err != nil {
		return nil, nil, err
	} else if err := vfs.Room(fsys, dir, 1, uint64(size), "the copies of the tables of "+s.Name); err != nil {
		return nil, nil, err
	}
	for i := range tables {
		r := &tables[i]
		c := Copied{Name: r.name, Key: r.key, Query: s.selectOf(r), File: filepath.Join(dir, fmt.Sprintf("table %d.csv", i+1))}
		if !slices.ContainsFunc(r.columns, readable) {
			notes = append(notes, fmt.Sprintf("table %s is left out: found no column of numbers, bools, texts or times, expected at least one", r.name))
			continue
		}
		for _, f := range r.foreign {
			c.Foreign = append(c.Foreign, Foreign{f.columns, f.table, f.targets})
		}
		if c.Result, err = s.Query(ctx, fsys, c.File, c.Query, nil); err != nil {
			return nil, nil, fmt.Errorf("table %s: %w", r.name, err)
		}
		for _, n := range c.Notes {
			notes = append(notes, "table "+r.name+": "+n)
		}
		copies = append(copies, c)
	}
	return copies, notes, nil
}

// readable says whether the values of a column are numbers, bools, texts or times.
func readable(c column) bool { return c.kind != other }

// selectOf is a query of the columns of a table that can be read.
func (s *Snapshot) selectOf(r *relation) string {
	list := "*"
	if !slices.ContainsFunc(r.columns, func(c column) bool { return !readable(c) }) {
		return "SELECT * FROM " + s.db.named(r)
	}
	var names []string
	for _, c := range r.columns {
		if readable(c) {
			names = append(names, quoted(c.name))
		}
	}
	if joined := strings.Join(names, ", "); len(joined) < longestSelect {
		list = joined
	}
	return "SELECT " + list + " FROM " + s.db.named(r)
}

// named implements database.
func (s *sqliteFile) named(r *relation) string { return quoted(r.name) }

// named implements database.
func (p *postgres) named(r *relation) string { return p.sql[r.name] }
