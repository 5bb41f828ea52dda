package ingest

import (
	"context"
	"path/filepath"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// npyEdges is one array of the ends of edges, or the two arrays of a sparse matrix. It gives a homogeneous graph.
type npyEdges struct{}

func (npyEdges) name() string { return "npy" }
func (npyEdges) about() string {
	return ".npy of shape (2, E) or (E, 2), or two .npy, the index pointer and the indices of a sparse matrix"
}
func (npyEdges) becomes() string {
	return "a graph of one type"
}
func (npyEdges) detect(path string, names []string) bool {
	return names == nil && filepath.Ext(path) == ".npy"
}

func (npyEdges) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with arrays, expected integer ids")
	}
	t, nodes, err := openArrays(fsys, path, o.Indptr, o.Indices, o.NumNodes)
	if err != nil {
		return nil, err
	}
	return &Source{
		Primary: graph.In,
		Files:   t.Files(),
		Input: assemble.Input{
			Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, ID: table.Column{DType: graph.Uint64}, Count: nodes}},
			Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: t, Src: keyColumn("src", true), Dst: keyColumn("dst", true)}},
		},
	}, nil
}

// openArrays opens edges from one array or two. nodes is the number of nodes if it is known, and otherwise 0.
func openArrays(fsys vfs.FS, path, indptr, indices string, given uint64) (t table.Table, nodes uint64, err error) {
	if indptr == "" && indices == "" {
		t, err = arrayfiles.OpenPairs(fsys, path)
		return t, given, err
	}
	if path != "" || indptr == "" || indices == "" {
		return nil, 0, usagef("found only one of `Indptr` and `Indices`, or another source with them, expected both and nothing else; give both arrays and no source")
	}
	csc, err := arrayfiles.OpenCSC(fsys, indptr, indices)
	if err != nil {
		return nil, 0, err
	}
	if given > 0 && given < csc.Nodes() {
		return nil, 0, usagef("found %d nodes in %s, expected at most the %d of `NumNodes`", csc.Nodes(), indptr, given)
	}
	return csc, max(given, csc.Nodes()), nil
}
