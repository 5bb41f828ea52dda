package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Store is an open folder: a store, which holds one graph, or a collection, which holds many. It is safe for concurrent
// readers. Its slices are views of memory maps, valid until Close.
type Store struct {
	store  *store.Store
	report *report.Report // of the run that made it; nil: not read yet
}

// Open maps a store or a collection. The caller closes it.
func Open(dir string) (*Store, error) {
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	return &Store{store: s}, nil
}

// Dir is the folder, as Open was given it.
func (s *Store) Dir() string { return s.store.Dir }

// Graph is the graph of a store, nil for a collection.
func (s *Store) Graph() *graph.Graph { return s.store.Graph }

// Collection is the graphs of a collection, nil for a store.
func (s *Store) Collection() *graph.Collection { return s.store.Collection }

// Report is the report of the run that made the folder.
func (s *Store) Report() (*Report, error) {
	if s.report != nil {
		return s.report, nil
	}
	return readReport(s.Dir())
}

// Check reads the whole graph and finds what does not mean one: offsets that descend, neighbours that are no nodes.
func (s *Store) Check(ctx context.Context) error { return s.store.Check(ctx) }

// Close unmaps the files.
func (s *Store) Close() error { return s.store.Close() }

// openGraph opens a store of one graph.
func openGraph(dir string) (*Store, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if s.Graph() == nil {
		if err := s.Close(); err != nil {
			return nil, err
		}
		return nil, usagef("%s: found a collection, expected a store; write its graphs with `To` tfrecord", dir)
	}
	return s, nil
}
