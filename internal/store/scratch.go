package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// CreateScratch is Create of a folder that this process alone reads, by Opened, and that never gets its name. Nothing of it is synced or summed, so that what is read and removed soon
// need not come to a disk.
func CreateScratch(fsys vfs.FS, out string) (*Writer, error) {
	w, err := Create(fsys, out, false)
	if err == nil {
		w.scratch = true
	}
	return w, err
}

// Within begins a folder of its own within the output, such as for files that TakeAll moves here: a scratch where the output is one.
func (w *Writer) Within(name string) (*Writer, error) {
	within, err := Create(w.fs, filepath.Join(w.dir, name), false)
	if err == nil {
		within.scratch = w.scratch
	}
	return within, err
}

// Opened seals the output and opens the store that it is. A scratch is opened as it is.
func (w *Writer) Opened(ctx context.Context, meta *Meta, threads int) (*Store, error) {
	if !w.scratch {
		if err := w.Seal(ctx, meta, threads); err != nil {
			return nil, err
		}
		return Open(w.fs, w.dir)
	}
	for name, open := range w.files {
		if open {
			return nil, fmt.Errorf("%s: still open", name)
		}
	}
	s := newStore(w.fs, w.dir)
	s.Meta, s.listed = meta, map[string]graph.Index{}
	if err := errors.Join(s.counts(), s.openGraph()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.dir, err), s.Close())
	}
	return s, nil
}

// TakeAll moves the files of an output that was opened, and lies within the folder of this one, here, but for its metadata.
func (w *Writer) TakeAll(from *Writer) error {
	if from.scratch {
		for _, name := range slices.Sorted(maps.Keys(from.files)) {
			if err := w.Take(name, from.dir); err != nil {
				return err
			}
		}
		return nil
	}
	m, err := ReadManifest(from.fs, from.dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if name == MetaFile {
			continue
		}
		if err := w.Take(name, from.dir); err != nil {
			return err
		}
		w.Summed(name, m.Files[name])
	}
	return nil
}

// Listed is the near nodes of the edges of a type, ascending, where a scratch has lists of these alone: the offsets of the primary direction are theirs. It is nil for other edges.
func (s *Store) Listed(edgeType string) (nodes graph.Index, is bool) {
	nodes, is = s.listed[edgeType]
	return nodes, is
}

// openListed opens the edges of a type whose lists are those of the near nodes that have some.
func (s *Store) openListed(e *graph.Edges, m *EdgesMeta) (err error) {
	nodes, err := s.need(m.Arrays, "nodes", -1)
	if err != nil {
		return err
	}
	a := &graph.Adjacency{}
	if a.Indptr, err = s.need(m.Arrays, "starts", nodes.Len()+1); err != nil {
		return err
	}
	if a.Far, err = s.need(m.Arrays, "far", m.Count); err != nil {
		return err
	}
	s.listed[e.Type.String()], e.Adj[e.Primary] = nodes, a
	e.Columns, err = s.columns(m.Columns, m.Count)
	return err
}
