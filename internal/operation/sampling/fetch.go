package sampling

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
)

// wideRow is the bytes of a row from which a column is not fetched as a whole for the stream executor. Narrower ones can be masks and
// times of seeds, which are read before anything is sampled.
const wideRow = 64

// bring fetches what openSampled has left out and the executor reads through maps. types are the node types of the seeds, and edges is the edge type of seeds
// that are links, or "".
func (o *request) bring(ctx context.Context, s *store.Store, types []string, edges string) error {
	if s.Fetched() {
		return nil
	}
	if len(o.Hosts) > 0 {
		return bringSeeds(ctx, s, types, edges)
	}
	parts := map[string]bool{} // files that the stream executor reads in parts
	wide := func(metas map[string]store.ColumnMeta, columns []*graph.Column) {
		for _, c := range columns {
			if outofcore.Fetches(c) && c.RowBytes() >= wideRow {
				parts[metas[c.Name].File] = true
			}
		}
	}
	if o.Executor == option.ExecutorStream && s.Graph != nil {
		for _, n := range s.Graph.Nodes {
			wide(s.Meta.Nodes[n.Type].Columns, n.Columns)
		}
		for _, e := range s.Graph.Edges {
			if name := e.Type.String(); name != edges {
				m := s.Meta.Edges[name]
				wide(m.Columns, e.Columns)
				for _, array := range []string{"far", "other_far", "other_edge_id"} {
					parts[m.Arrays[array]] = true
				}
			}
		}
	}
	return s.Fetch(ctx, func(file string) bool { return !parts[file] })
}

// bringSeeds fetches what says which seeds there are: the narrow columns of their types and, of links, their ends.
func bringSeeds(ctx context.Context, s *store.Store, types []string, edges string) error {
	want := map[string]bool{}
	narrow := func(metas map[string]store.ColumnMeta, columns []*graph.Column) {
		for _, c := range columns {
			if outofcore.Fetches(c) && c.RowBytes() < wideRow {
				want[metas[c.Name].File] = true
			}
		}
	}
	for _, t := range types {
		if n := s.Graph.NodeType(t); n >= 0 {
			narrow(s.Meta.Nodes[t].Columns, s.Graph.Nodes[n].Columns)
		}
	}
	if m := s.Meta.Edges[edges]; m != nil {
		for _, array := range m.Arrays {
			want[array] = true
		}
		for _, e := range s.Graph.Edges {
			if e.Type.String() == edges {
				narrow(m.Columns, e.Columns)
			}
		}
	}
	return s.Fetch(ctx, func(file string) bool { return want[file] })
}
