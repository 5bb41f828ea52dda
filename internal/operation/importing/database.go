package importing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/querying"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// importDatabase imports the tables of a database. They are first copied to a folder next to the output, which is gone when it
// returns: an import reads tables more than once, and no database keeps its rows in an order.
func (o *importJob) importDatabase(ctx context.Context, address, out string) (st *store.Store, err error) {
	name := options.First(&o.Import, "More", "Format", "Columns", "Src", "Dst", "IDs", "Delimiter", "ArrayDelimiter", "NumNodes", "Relations", "Vectors")
	if o.cluster != nil {
		name = "Cluster"
	}
	if name != "" {
		return nil, operation.Usagef("found `%s` with a database, expected tables and keys that say it themselves", name)
	}
	if err := querying.KeepsDatabase(out, address); err != nil {
		return nil, err
	}
	if operation.Exists(out) && !o.Overwrite {
		return nil, operation.Usagef("%w", fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", out, operation.ErrExists))
	}
	dir := querying.TablesFolder(out)
	done, err := querying.ScratchTables(dir)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, done)
	start := time.Now()
	tables, name, err := extract(ctx, address, dir, o.TimeColumn)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	next := *o
	next.TimeColumn, next.started, next.copies = nil, start, &querying.Copies{Places: tables.Places(name, dir), Names: []string{name}}
	next.begun = func(r *report.Report) {
		r.Stage("read the database", took, tables.Rows, "rows")
		for _, n := range tables.Notes {
			operation.Warn(&next.Import.Build.Run, "%s", n)
			r.Note(n)
		}
	}
	st, err = next.run(ctx, filepath.Join(dir, database.GraphFile), out)
	o.report = next.report
	return st, next.copies.Places.In(err)
}

// extract copies the tables of a database to a folder, and returns the name of the database for reports.
func extract(ctx context.Context, address, dir string, times []string) (_ *database.Extracted, name string, err error) {
	s, err := database.Open(ctx, address)
	if err != nil {
		return nil, "", querying.UsageOf(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tables, err := s.Extract(ctx, vfs.OS, dir, database.Options{Times: times})
	return tables, s.Name, querying.UsageOf(err)
}
