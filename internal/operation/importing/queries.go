package importing

import (
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

// copies are files that were made of databases for an import. nil has none.
type copies struct {
	names  []string // of the databases, without secrets
	places *database.Places
	types  map[string]string // by the file of their query
	notes  []string
	rows   int64
	took   time.Duration
}

// text names the databases in place of the files.
func (c *copies) text(s string) string {
	if c == nil {
		return s
	}
	return c.places.Text(s)
}

func (c *copies) warnings() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.notes)
}

// inputs returns a function that names inputs, those that are copies of queries by their types.
func (c *copies) inputs(names func(string) string) func(string) string {
	return func(file string) string {
		if c != nil && c.types[file] != "" {
			return "query of " + c.types[file]
		}
		return names(file)
	}
}

// time returns how long the databases were read.
func (c *copies) time() time.Duration {
	if c == nil || c.rows == 0 {
		return 0
	}
	return c.took
}

// report adds what was read to a report.
func (c *copies) report(r *report.Report) {
	if c == nil {
		return
	}
	if c.rows > 0 {
		r.Stage("read the database", c.took, c.rows, "rows")
	}
	for _, name := range c.names {
		r.Note("made from " + name)
	}
}

// made adds the databases to the options of a store.
func (c *copies) made(options map[string]string) {
	if c != nil && len(c.names) > 0 {
		options["databases"] = strings.Join(c.names, " ")
	}
}

// queries carries out the queries of a graph.yaml. It copies their results to a folder next to the output.
type queries struct {
	copies
	out       string
	overwrite bool
	done      func() error // removes the folder; nil: there is none
}

// close removes the copies.
func (q *queries) close() error {
	if q.done == nil {
		return nil
	}
	return q.done()
}

// read copies the results of queries. All queries of one source see the same snapshot.
func (q *queries) read(ctx context.Context, asked []ingest.Query) ([]ingest.Queried, error) {
	if operation.Exists(q.out) && !q.overwrite {
		return nil, operation.Usagef("%w", fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", q.out, operation.ErrExists))
	}
	for _, a := range asked {
		if err := keepsDatabase(q.out, a.Source); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	dir := tablesFolder(q.out)
	var err error
	if q.done, err = scratchTables(dir); err != nil {
		return nil, err
	}
	q.places = &database.Places{Dir: dir, Of: map[string]string{}, Order: "its columns"}
	q.types = map[string]string{}
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
func (q *queries) readSource(ctx context.Context, dir string, asked []ingest.Query, first int, got []ingest.Queried) (err error) {
	address := asked[first].Source
	s, err := database.Open(ctx, address)
	if err != nil {
		return databaseUsage(fmt.Errorf("%s: %w", asked[first].Place, err))
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q.names = append(q.names, s.Name)
	for i, a := range asked {
		if a.Source != address {
			continue
		}
		name := fmt.Sprintf("query %d.csv", i+1)
		file := filepath.Join(dir, name)
		where := fmt.Sprintf("%s: query of %s", a.Place, a.Type)
		r, err := s.Query(ctx, vfs.OS, file, a.SQL)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		q.places.Of[name] = where
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
