package ingest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// metisGraph is an undirected graph in the text format of METIS, KaHIP and KaMinPar. It gives a homogeneous graph with
// both directions of each edge.
type metisGraph struct{}

func (metisGraph) name() string { return "metis" }
func (metisGraph) about() string {
	return ".graph, .metis or .gr of METIS, KaHIP or KaMinPar, plain or as .gz"
}
func (metisGraph) becomes() string {
	return "a graph of one type with both directions of each edge; weights and sizes become columns"
}
func (metisGraph) detect(path string, names []string) bool {
	return names == nil && filepath.Ext(path) != ".zst" && slices.Contains([]string{".graph", ".metis", ".gr"}, table.Extension(path))
}

// sniff refuses DIMACS's .gr files, whose lines start with letters.
func (metisGraph) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	text, err := head(fsys, path)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		if line[0] != '%' {
			return line[0] <= '9', nil
		}
	}
	return true, nil
}

func (metisGraph) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString || o.NumNodes > 0 {
		return nil, usagef("found string ids or `NumNodes` with %s, expected neither: the file numbers its nodes and states their number; leave `IDs` and `NumNodes` out", path)
	}
	edges, nodes, h, err := textfiles.OpenMETIS(fsys, path)
	if err != nil {
		return nil, err
	}
	n := assemble.Nodes{Type: graph.HomogeneousNode, Table: nodes, ID: table.Column{DType: graph.Uint64}}
	if nodes == nil {
		if n, err = plainNodes(fsys, path, graph.HomogeneousNode, h.Nodes); err != nil {
			return nil, err
		}
	} else {
		fields, err := describe(nodes)
		if err != nil {
			return nil, err
		}
		if n.Columns, _, err = featuresOf(ctx, nodes, fields, o); err != nil {
			return nil, err
		}
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: edges, Src: keyColumn("src", true), Dst: keyColumn("dst", true)}
	fields, err := describe(edges)
	if err != nil {
		return nil, err
	}
	if e.Columns, _, err = featuresOf(ctx, edges, fields[2:], o); err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}, Input: assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}}
	if o.Symmetrise {
		return nil, usagef("found `Symmetrise` with %s, expected it with directed edges: the file lists both directions", path)
	}
	return s, nil
}
