package graphmill

import (
	"context"
	"errors"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Store is an open store, which holds one graph, or an open collection, which holds many graphs. It is safe for concurrent
// readers. Its slices are read-only views of memory maps, valid until Close. Where the disk fails or another program cuts a file, functions of this
// module return an error; a program that reads the slices itself ends, unless the goroutine has called debug.SetPanicOnFault.
type Store struct {
	store  *store.Store
	report *report.Report // report of the run that made the folder; nil if it has not been read
}

// Open maps the store or collection in a folder. The caller closes it. For any other folder the error is ErrNotStore. The edges that segments of Append change are
// merged in memory.
func Open(dir string) (_ *Store, err error) {
	defer guard.Catch(&err)()
	s, err := store.OpenMerged(vfs.OS, dir, -1)
	if err != nil {
		return nil, err
	}
	return &Store{store: s}, nil
}

// OpenStreamed is Open for a Sample or NewLoader with ExecutorStream. Of a store in an object store it fetches only what that
// executor holds in memory; neighbours and wide rows are then read in parts as they are needed. Another use of the Store
// before Sample or NewLoader has returned, or with another executor, may read arrays that are not there, which is an error.
func OpenStreamed(dir string) (_ *Store, err error) {
	defer guard.Catch(&err)()
	s, err := store.OpenLater(vfs.OS, dir)
	if errors.Is(err, store.ErrSegments) {
		s, err = store.OpenMerged(vfs.OS, dir, -1)
	}
	if err != nil {
		return nil, err
	}
	return &Store{store: s}, nil
}

// Dir returns the folder, as Open was given it.
func (s *Store) Dir() string { return s.store.Dir }

// Graph returns the graph of a store, nil for a collection.
func (s *Store) Graph() *graph.Graph { return s.store.Graph }

// Collection returns the graphs of a collection, nil for a store.
func (s *Store) Collection() *graph.Collection { return s.store.Collection }

// Report returns the report of the run that made the folder.
func (s *Store) Report() (_ *Report, err error) {
	defer guard.Catch(&err)()
	if s.report != nil {
		return s.report, nil
	}
	return operation.ReadReport(s.Dir())
}

// Check reads the whole graph, and returns an error if its arrays are inconsistent, such as offsets that descend or
// neighbours that do not exist. It does not compare checksums: Verify does.
func (s *Store) Check(ctx context.Context) (err error) {
	defer guard.Catch(&err)()
	return s.store.Check(ctx)
}

// Close unmaps the files. No slice of the store may be in use.
func (s *Store) Close() error { return s.store.Close() }

// Report describes a finished operation: its inputs, counts, warnings, stages and plots. Its method JSON returns what the
// command prints with --json and every output folder keeps as report.json; Text writes it in words, and HTML as a page.
type Report = report.Report

// Lineage is how an output folder came about. Its JSON is what the command report prints with --lineage --json, and Text
// writes it in words.
type Lineage = report.Lineage

// opened is a store that an operation wrote, with its report.
func opened(s *store.Store, r *report.Report, err error) (*Store, error) {
	if s == nil {
		return nil, err
	}
	return &Store{store: s, report: r}, err
}
