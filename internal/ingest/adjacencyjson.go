package ingest

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/graphmill/graphmill/format/graphjson"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// adjacencyJSON is a JSON object with a list of neighbours for each node. It gives a homogeneous graph. Lists of features look alike, so
// that nothing recognises it.
type adjacencyJSON struct{}

func (adjacencyJSON) name() string { return "adjacency-json" }
func (adjacencyJSON) about() string {
	return ".json with an object of lists of neighbours by node, if the format is named; plain or as .gz or .zst"
}
func (adjacencyJSON) becomes() string                  { return adjacencyList{}.becomes() }
func (adjacencyJSON) detect(_ string, _ []string) bool { return false }

// refuseLists refuses an object of lists by numbers whose meaning nobody has said.
func refuseLists(fsys vfs.FS, path string) error {
	info, err := fsys.Stat(path)
	if vfs.Absent(err) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := head(fsys, path)
	if err != nil || !textfiles.IsLists(text) {
		return err
	}
	return sourcef("%s: found an object of lists by the numbers of nodes, which can be neighbours or features; give `Format` adjacency-json for neighbours, or name the file in a graph.yaml as a table with the columns id and values", path)
}

func (adjacencyJSON) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of that file", path)
	}
	integer := true
	lists := 0
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		return graphjson.ReadLists(in, path, func(line int, node string, values []graphjson.Value) error {
			if lists++; lists%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			number, err := strconv.ParseUint(node, 10, 64)
			integer = integer && err == nil && strconv.FormatUint(number, 10) == node
			for _, v := range values {
				if v.Kind != graphjson.String && v.Kind != graphjson.Integer {
					return sourcef("%s:%d: found a neighbour of %q that is no text and no whole number, expected the name of a node; write names alone", path, line, node)
				}
				integer = integer && v.Kind == graphjson.Integer && v.Text[0] != '-'
			}
			return nil
		})
	})
	if err != nil {
		return nil, graphJSONError(err)
	}
	if o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	nodes, err := openLists(fsys, path, []string{"node"}, func(node string, _ []graphjson.Value, row func(cells ...[]byte) error) error {
		return row([]byte(node))
	})
	if err != nil {
		return nil, err
	}
	edges, err := openLists(fsys, path, []string{"src", "dst"}, func(node string, values []graphjson.Value, row func(cells ...[]byte) error) error {
		for _, v := range values {
			if err := row([]byte(node), v.Text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Source{Primary: graph.In, Files: []string{path}, Input: assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Table: nodes, ID: keyColumn("node", integer)}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: edges, Src: keyColumn("src", integer), Dst: keyColumn("dst", integer)}},
	}}, nil
}

// openLists opens an object of lists as a table, whose rows list makes of each.
func openLists(fsys vfs.FS, path string, names []string, list func(node string, values []graphjson.Value, row func(cells ...[]byte) error) error) (table.Table, error) {
	var fields []table.Field
	for _, name := range names {
		fields = append(fields, table.Field{Name: name})
	}
	return textfiles.OpenStream(fsys, path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		err := graphjson.ReadLists(in, path, func(line int, node string, values []graphjson.Value) error {
			return list(node, values, func(cells ...[]byte) error { return row(line, cells) })
		})
		if errors.Is(err, graphjson.ErrFormat) {
			return sourcef("%w", err)
		}
		return err
	})
}
