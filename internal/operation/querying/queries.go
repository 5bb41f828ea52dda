// Package querying copies what databases give for an import or an append to files next to the output, which are gone when it ends.
package querying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Copies are files that were made of databases for an import or an append. nil has none.
type Copies struct {
	Names  []string // of the databases, without secrets
	Places *database.Places
	Marks  map[string]string // by type: the last mark of its query, of types with one
	types  map[string]string // by the file of their query
	notes  []string
	rows   int64
	took   time.Duration
}

// Text names the databases in place of the files.
func (c *Copies) Text(s string) string {
	if c == nil {
		return s
	}
	return c.Places.Text(s)
}

// Warnings are the notes about what was read.
func (c *Copies) Warnings() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.notes)
}

// InputPrefix begins the names of inputs that are results of queries.
const InputPrefix = "query of "

// Inputs returns a function that names inputs, those that are copies of queries by their types.
func (c *Copies) Inputs(names func(string) string) func(string) string {
	return func(file string) string {
		if c != nil && c.types[file] != "" {
			return InputPrefix + c.types[file]
		}
		return names(file)
	}
}

// Time returns how long the databases were read.
func (c *Copies) Time() time.Duration {
	if c == nil || c.rows == 0 {
		return 0
	}
	return c.took
}

// Report adds what was read to a report.
func (c *Copies) Report(r *report.Report) {
	if c == nil {
		return
	}
	if c.rows > 0 {
		r.Stage("read the database", c.took, c.rows, "rows")
	}
	for _, name := range c.Names {
		r.Note("made from " + name)
	}
}

// Made adds the databases and the marks to how a store was made.
func (c *Copies) Made(made *report.Made) {
	if c != nil && len(c.Names) > 0 {
		made.Options["databases"] = strings.Join(c.Names, " ")
		for t, mark := range c.Marks {
			made.Mark(t, mark)
		}
	}
}

// Queries carries out the queries of a graph.yaml. It copies their results to a folder next to the output.
type Queries struct {
	Copies
	Out       string
	Overwrite bool // Out may exist
	// Append says that Out is a store to which the results are appended: each query has a mark, and gives the rows after those of After, by type.
	Append bool
	After  map[string]string

	done func() error // removes the folder; nil: there is none
}

// Close removes the copies.
func (q *Queries) Close() error {
	if q.done == nil {
		return nil
	}
	return q.done()
}

// Read copies the results of queries. All queries of one source see the same snapshot.
func (q *Queries) Read(ctx context.Context, asked []ingest.Query) ([]ingest.Queried, error) {
	if operation.Exists(q.Out) && !q.Overwrite {
		return nil, operation.Usagef("%w", fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", q.Out, operation.ErrExists))
	}
	for _, a := range asked {
		if err := KeepsDatabase(q.Out, a.Source); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	dir := TablesFolder(q.Out)
	var err error
	if q.done, err = ScratchTables(dir); err != nil {
		return nil, err
	}
	q.Places = &database.Places{Dir: dir, Of: map[string]string{}, Order: "its columns"}
	q.types, q.Marks = map[string]string{}, map[string]string{}
	got := make([]ingest.Queried, len(asked))
	for i := range asked {
		first := slices.IndexFunc(asked, func(a ingest.Query) bool { return a.Source == asked[i].Source }) == i
		if !first {
			continue
		}
		if err := q.readSource(ctx, dir, asked, i, got); err != nil {
			return nil, err
		}
	}
	q.took = time.Since(start)
	return got, nil
}

// readSource copies the results of all queries of one source. asked[first] is the first of these queries.
func (q *Queries) readSource(ctx context.Context, dir string, asked []ingest.Query, first int, got []ingest.Queried) (err error) {
	address := asked[first].Source
	s, err := database.Open(ctx, address)
	if err != nil {
		return UsageOf(fmt.Errorf("%s: %w", asked[first].Place, err))
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q.Names = append(q.Names, s.Name)
	for i, a := range asked {
		if a.Source != address {
			continue
		}
		name := fmt.Sprintf("query %d.csv", i+1)
		file := filepath.Join(dir, name)
		where := fmt.Sprintf("%s: query of %s", a.Place, a.Type)
		var mark *database.Mark
		switch {
		case a.Mark != "":
			mark = &database.Mark{Column: a.Mark, After: q.After[a.Type]}
			for _, t := range a.Types {
				if q.After[t] != mark.After {
					return fmt.Errorf("%s: found the marks %q and %q of %s and %s, which share a query, expected one; give each a query of its own", where, mark.After, q.After[t], a.Type, t)
				}
			}
		case q.Append:
			return fmt.Errorf("%s: found a query without a mark, expected mark: COLUMN in an append, so that it gives new rows alone; name a column that grows with each row", where)
		}
		r, err := s.Query(ctx, vfs.OS, file, a.SQL, mark)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if mark != nil {
			for _, t := range a.Types {
				if last := cmp.Or(r.Last, mark.After); last != "" {
					q.Marks[t] = last
				}
			}
		}
		q.Places.Of[name] = where
		got[i].File, q.types[file] = file, a.Type
		for _, c := range r.Columns {
			got[i].Columns = append(got[i].Columns, table.Field{Name: c.Name, DType: c.DType})
		}
		for _, n := range r.Notes {
			q.notes = append(q.notes, where+": "+n)
		}
		q.rows += r.Rows
	}
	return nil
}
