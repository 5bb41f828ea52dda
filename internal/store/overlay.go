package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Overlay is an open store with other lists for some edge types: arrays gives, by edge type and by the name of the array as
// in Meta, files of the folder dir. The lists of a type may have fewer edges than Count, and then "edge_id" and "other_edge_id" have their ids. A
// direction without lists in arrays is not there. Columns and nodes are s's, which must outlive the overlay.
func (s *Store) Overlay(dir string, arrays map[string]map[string]string) (_ *Store, err error) {
	g, meta := *s.Graph, *s.Meta
	g.Edges, meta.Edges = slices.Clone(g.Edges), maps.Clone(meta.Edges)
	o := &Store{Dir: s.Dir, Meta: &meta, Graph: &g, fs: vfs.Confine(s.fs, dir), shards: s.shards, starts: maps.Clone(s.starts), later: s.later, merged: s.merged, apart: maps.Clone(s.apart)}
	if o.apart == nil {
		o.apart = map[string]string{}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	defer guard.Catch(&err)()
	files := &Store{Dir: dir, fs: o.fs, starts: map[string]int64{}}
	defer func() { o.maps, o.unmaps = append(slices.Clone(s.maps), files.maps...), files.unmaps }()
	for i, e := range g.Edges {
		name := e.Type.String()
		if arrays[name] == nil {
			continue
		}
		of := *meta.Edges[name]
		of.Arrays = map[string]string{}
		part := *e
		for _, d := range []graph.Direction{e.Primary, 1 - e.Primary} {
			prefix := ""
			if d != e.Primary {
				prefix = "other_"
			}
			if part.Adj[d] = nil; arrays[name][prefix+"indptr"] == "" {
				continue
			}
			a := &graph.Adjacency{}
			for _, x := range []struct {
				array string
				to    *graph.Index
				want  int
			}{{"indptr", &a.Indptr, s.Meta.Nodes[e.Type.Near(d)].Count + 1}, {"far", &a.Far, -1}, {"edge_id", &a.EdgeID, -1}} {
				file := arrays[name][prefix+x.array]
				if *x.to, err = files.index(file, x.want); err != nil {
					return nil, fmt.Errorf("%s: %w", dir, err)
				}
				key := filepath.Join(dir, file)
				of.Arrays[prefix+x.array], o.apart[key], o.starts[key] = key, key, files.starts[file]
			}
			if a.Far.Len() != a.EdgeID.Len() || last(a.Indptr) != a.Far.Len() {
				return nil, fmt.Errorf("%s: found %d neighbours, %d edge ids and offsets up to %d of %s, expected as many; run the command again", dir, a.Far.Len(), a.EdgeID.Len(), last(a.Indptr), name)
			}
			part.Adj[d] = a
		}
		if part.Adj[e.Primary] == nil {
			return nil, fmt.Errorf("%s: found no lists of the primary direction of %s, expected them; run the command again", dir, name)
		}
		g.Edges[i], meta.Edges[name] = &part, &of
	}
	return o, nil
}
