package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/nodelink"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// nodeLink is a JSON file of networkx's node_link_data or of D3. It gives a homogeneous graph.
type nodeLink struct{}

func (nodeLink) name() string { return "node-link" }
func (nodeLink) about() string {
	return ".json with nodes and links or edges, as networkx and D3 write it; plain or as .gz or .zst"
}
func (nodeLink) becomes() string {
	return "a graph of one type; numbers, strings and booleans become columns of nodes and edges"
}
func (nodeLink) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == ".json"
}

// sniff looks for an object whose first bytes have the name of a list of nodes or edges.
func (nodeLink) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	text, err := head(fsys, path)
	if err != nil {
		return false, err
	}
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("{")) && slices.ContainsFunc([]string{`"nodes"`, `"links"`}, func(name string) bool {
		_, rest, ok := bytes.Cut(text, []byte(name))
		rest = bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":")), " \t\r\n")
		return ok && bytes.HasPrefix(rest, []byte("["))
	}), nil
}

// linkNames are the values that nodes or edges have, by name, and their kinds.
type linkNames struct {
	kinds map[string]nodelink.Kind
	keys  nodelink.Kind // kinds of the ids or ends
	rows  int
}

func (n *linkNames) add(x *nodelink.Item, path string, keys ...string) error {
	n.rows++
	for _, k := range keys {
		v := x.Values[k]
		if v.Kind != nodelink.String && v.Kind != nodelink.Integer {
			return sourcef("%s:%d: found no %q that is a string or an integer, expected one; give each node an id, and each edge both ends", path, x.Line, k)
		}
		if n.keys |= v.Kind; v.Kind == nodelink.Integer && v.Text[0] == '-' {
			n.keys |= nodelink.String
		}
	}
	for name, v := range x.Values {
		if slices.Contains(keys, name) {
			continue
		}
		if n.kinds[name] |= v.Kind; len(n.kinds) > limits.Names {
			return sourcef("%s:%d: found more than %d names of values, expected fewer; write rare values as one list or text", path, x.Line, limits.Names)
		}
	}
	return nil
}

// fields returns the fields of a table, after the fields of keys, and the names of values that are lists or objects.
func (n *linkNames) fields(keys ...string) (fields []table.Field, nested []string) {
	for _, k := range keys {
		fields = append(fields, table.Field{Name: k})
	}
	for _, name := range slices.Sorted(maps.Keys(n.kinds)) {
		f := table.Field{Name: name, DType: graph.String}
		switch kinds := n.kinds[name] &^ nodelink.Null; {
		case kinds == 0:
			continue // null alone
		case kinds&nodelink.Nested != 0:
			nested = append(nested, name)
			continue
		case kinds == nodelink.Bool:
			f.DType = graph.Bool
		case kinds == nodelink.Integer:
			f.DType = graph.Int64
		case kinds&^(nodelink.Integer|nodelink.Number) == 0:
			f.DType = graph.Float64
		}
		fields = append(fields, f)
	}
	return fields, nested
}

func (nodeLink) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of that file", path)
	}
	nodes, edges := linkNames{kinds: map[string]nodelink.Kind{}}, linkNames{kinds: map[string]nodelink.Kind{}}
	var h nodelink.Header
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) (err error) {
		h, err = nodelink.Read(in, path, func(x *nodelink.Item) error {
			if nodes.rows%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if x.Edge {
				return edges.add(x, path, "source", "target")
			}
			return nodes.add(x, path, "id")
		})
		return err
	})
	switch {
	case err != nil:
		return nil, nodeLinkError(err)
	case !h.Nodes || !h.Edges:
		return nil, sourcef("%s: found no list of nodes, or none of links or edges, expected both; write the file with networkx.node_link_data", path)
	}
	integer := nodes.keys|edges.keys == nodelink.Integer
	if o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	nodeFields, left := nodes.fields("id")
	edgeFields, more := edges.fields("source", "target")
	if left = append(left, more...); len(left) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: lists and objects are left out: %s", path, strings.Join(left, ", ")))
	}
	n := assemble.Nodes{Type: graph.HomogeneousNode, ID: keyColumn("id", integer)}
	if n.Table, err = nodeLinkTable(fsys, path, nodeFields, false); err != nil {
		return nil, err
	}
	if n.Columns, _, err = featuresOf(ctx, n.Table, declared(nodeFields[1:]), o); err != nil {
		return nil, err
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Src: keyColumn("source", integer), Dst: keyColumn("target", integer), Symmetrise: h.Directed == "false"}
	if e.Table, err = nodeLinkTable(fsys, path, edgeFields, true); err != nil {
		return nil, err
	}
	if e.Columns, _, err = featuresOf(ctx, e.Table, declared(edgeFields[2:]), o); err != nil {
		return nil, err
	}
	s.Input = assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}
	return s, nil
}

// nodeLinkTable opens the nodes or the edges of a file.
func nodeLinkTable(fsys vfs.FS, path string, fields []table.Field, edges bool) (table.Table, error) {
	return textfiles.OpenStream(fsys, path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		cells := make([][]byte, len(fields))
		_, err := nodelink.Read(in, path, func(x *nodelink.Item) error {
			if x.Edge != edges {
				return nil
			}
			for i, f := range fields {
				cells[i] = x.Values[f.Name].Text
			}
			return row(x.Line, cells)
		})
		return nodeLinkError(err)
	})
}

// nodeLinkError makes an error about the content of a document one about a source.
func nodeLinkError(err error) error {
	if errors.Is(err, nodelink.ErrFormat) {
		return sourcef("%w", err)
	}
	return err
}
