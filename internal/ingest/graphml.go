package ingest

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/graphmill/graphmill/format/graphml"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// graphML is a file of GraphML. It gives a homogeneous graph.
type graphML struct{}

func (graphML) name() string  { return "graphml" }
func (graphML) about() string { return ".graphml, plain or as .gz or .zst" }
func (graphML) becomes() string {
	return "a graph of one type; the keys become columns of nodes and edges; undirected edges become two"
}
func (graphML) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == ".graphml"
}

// The fields of the tables of nodes and edges, before the fields of their values.
const nodeID, edgeSource, edgeTarget = "#id", "#source", "#target"

// graphMLTypes are the dtypes of the types of keys.
var graphMLTypes = map[string]graph.DType{"boolean": graph.Bool, "int": graph.Int32, "long": graph.Int64, "float": graph.Float32, "double": graph.Float64, "string": graph.String}

func (graphML) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of that file", path)
	}
	var h graphml.Header
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		r, err := graphml.NewReader(in, path)
		if err == nil {
			h = r.Header
		}
		return err
	})
	if err != nil {
		return nil, graphMLError(err)
	}
	node, err := graphMLTable(fsys, path, h, false)
	if err != nil {
		return nil, err
	}
	edge, err := graphMLTable(fsys, path, h, true)
	if err != nil {
		return nil, err
	}
	integer := o.IDs == idsInteger
	n := assemble.Nodes{Type: graph.HomogeneousNode, Table: node, ID: keyColumn(nodeID, integer)}
	m := &maker{gaps: newGaps(o)}
	if n.Columns, err = m.featuresOf(ctx, node, declared(node.Fields()[1:])); err != nil {
		return nil, err
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: edge, Src: keyColumn(edgeSource, integer), Dst: keyColumn(edgeTarget, integer), Symmetrise: !h.Directed}
	if e.Columns, err = m.featuresOf(ctx, edge, declared(edge.Fields()[2:])); err != nil {
		return nil, err
	}
	return &Source{Primary: graph.In, Files: []string{path}, Input: assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}}, m.check()
}

// graphMLTable opens the nodes or the edges of a file. Keys of one name become one column: of doubles if they are
// numbers of different types, as networkx writes them for a mixture, and otherwise of strings.
func graphMLTable(fsys vfs.FS, path string, h graphml.Header, edges bool) (table.Table, error) {
	fields := []table.Field{{Name: nodeID}}
	if edges {
		fields = []table.Field{{Name: edgeSource}, {Name: edgeTarget}}
	}
	own := len(fields)
	to := make([]int, len(h.Keys)) // field of each key; 0: none
	for i, k := range h.Keys {
		if edges && !k.Edge || !edges && !k.Node {
			continue
		}
		d := graphMLTypes[k.Type]
		f := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == k.Name })
		switch {
		case f >= 0 && f < own:
			return nil, sourcef("%s: found a key with the name %q, expected another name; rename the key", path, k.Name)
		case f < 0:
			f = len(fields)
			fields = append(fields, table.Field{Name: k.Name, DType: d})
		case fields[f].DType != d:
			number := func(d graph.DType) bool { return d.IsInt() || d.IsFloat() }
			if fields[f].DType = graph.String; number(d) && number(graphMLTypes[h.Keys[slices.Index(to, f)].Type]) {
				fields[f].DType = graph.Float64
			}
		}
		to[i] = f
	}
	cells := make([][]byte, len(fields))
	return textfiles.OpenStream(fsys, path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		cells := slices.Clone(cells)
		r, err := graphml.NewReader(in, path)
		if err != nil {
			return graphMLError(err)
		}
		for {
			x, err := r.Next()
			switch {
			case err != nil:
				return graphMLError(err)
			case x == nil:
				return nil
			case x.Edge && x.Directed != h.Directed:
				return sourcef("%s:%d: found an edge that is directed or not, unlike the others, expected edges of one kind; write it as two directed edges", path, x.Line)
			case x.Edge != edges:
				continue
			}
			clear(cells)
			if edges {
				cells[0], cells[1] = []byte(x.Source), []byte(x.Target)
			} else {
				cells[0] = []byte(x.ID)
			}
			for i, v := range x.Values {
				if f := to[i]; f > 0 && v != nil && cells[f] == nil {
					cells[f] = v
				}
			}
			if err := row(x.Line, cells); err != nil {
				return err
			}
		}
	})
}

// graphMLError makes an error about the content of a document one about a source.
func graphMLError(err error) error {
	if errors.Is(err, graphml.ErrFormat) {
		return sourcef("%w", err)
	}
	return err
}
