package importing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// importDatabase imports the tables of a database. They are first copied to a folder next to the output, which is gone when it
// returns: an import reads tables more than once, and no database keeps its rows in an order.
func (o *importJob) importDatabase(ctx context.Context, address, out string) (st *store.Store, err error) {
	name := options.First(&o.Import, "More", "Format", "Columns", "Src", "Dst", "IDs", "Delimiter", "NumNodes", "Relations", "Vectors")
	if o.cluster != nil {
		name = "Cluster"
	}
	if name != "" {
		return nil, operation.Usagef("found `%s` with a database, expected tables and keys that say it themselves", name)
	}
	if err := keepsDatabase(out, address); err != nil {
		return nil, err
	}
	if operation.Exists(out) && !o.Overwrite {
		return nil, operation.Usagef("%w", fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", out, operation.ErrExists))
	}
	dir := tablesFolder(out)
	done, err := scratchTables(dir)
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
	next.TimeColumn, next.started, next.copies = nil, start, &copies{places: tables.Places(name, dir), names: []string{name}}
	next.begun = func(r *report.Report) {
		r.Stage("read the database", took, tables.Rows, "rows")
		for _, n := range tables.Notes {
			operation.Warn(&next.Import.Build.Run, "%s", n)
			r.Note(n)
		}
	}
	st, err = next.run(ctx, filepath.Join(dir, database.GraphFile), out)
	o.report = next.report
	return st, next.copies.places.In(err)
}

// keepsDatabase refuses an output that is or contains the file of a database.
func keepsDatabase(out, address string) error {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return operation.Keeps(out, file)
	}
	return operation.Keeps(out)
}

// extract copies the tables of a database to a folder, and returns the name of the database for reports.
func extract(ctx context.Context, address, dir string, times []string) (_ *database.Extracted, name string, err error) {
	s, err := database.Open(ctx, address)
	if err != nil {
		return nil, "", databaseUsage(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tables, err := s.Extract(ctx, vfs.OS, dir, database.Options{Times: times})
	return tables, s.Name, databaseUsage(err)
}

// databaseUsage turns an error about an address or options into a usage error.
func databaseUsage(err error) error {
	if errors.Is(err, database.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	return err
}

// tablesFolder is the folder of the copies of tables for an output.
func tablesFolder(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	return filepath.Join(parent, "."+base+".tables")
}

// scratchTables makes an empty folder for tables, and returns what removes it.
func scratchTables(dir string) (done func() error, err error) {
	if err := vfs.OS.MkdirAll(dir); err != nil {
		return nil, err
	}
	unlock, err := vfs.OS.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: another run is writing it: %w", dir, err)
	}
	done = func() error { return errors.Join(vfs.OS.RemoveAll(dir), unlock()) }
	old, err := vfs.OS.ReadDir(dir)
	for _, e := range slices.DeleteFunc(old, func(e fs.DirEntry) bool {
		return !strings.HasSuffix(e.Name(), ".csv") && e.Name() != database.GraphFile
	}) {
		err = errors.Join(err, vfs.OS.Remove(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}
