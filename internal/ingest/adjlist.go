package ingest

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// adjacencyList is a file of networkx's write_adjlist: a node and its neighbours per line. It gives a homogeneous graph.
type adjacencyList struct{}

func (adjacencyList) name() string { return "adjlist" }
func (adjacencyList) about() string {
	return ".adjlist of networkx: a node and its neighbours per line; plain or as .gz or .zst"
}
func (adjacencyList) becomes() string {
	return "a graph of one type, with edges from the first node of a line to the others, and the names as ids"
}
func (adjacencyList) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == ".adjlist"
}

func (adjacencyList) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 || o.IDs == idsInteger {
		return nil, usagef("found `NumNodes` or integer ids with %s, expected neither: the file lists its nodes by name", path)
	}
	nodes, edges, err := textfiles.OpenAdjacency(fsys, path)
	if err != nil {
		return nil, err
	}
	return &Source{Primary: graph.In, Files: []string{path}, Input: assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Table: nodes, ID: keyColumn("node", false)}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: edges, Src: keyColumn("src", false), Dst: keyColumn("dst", false)}},
	}}, nil
}
