// Package seeds finds the seed nodes of a run: in a file, by type, or by the
// value of a column.
//
// The package imports store, graph, sample, ingest/table and internal/fsx.
package seeds

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/store"
)

// Seeds are the seed nodes of a run, in the order given.
type Seeds struct {
	// Type is their node type.
	Type string
	// Nodes are type-wise ids; a node may come several times.
	Nodes []uint32
}

// Find reads what --seeds says:
//
//   - "" or "TYPE": every node of the type;
//   - "TYPE:COLUMN=VALUE": the nodes of the type whose column has the value;
//   - a file: .npy holds type-wise ids; a text table (.csv, .tsv, .txt, also
//     compressed) has a column "id" or "#id", or one column without a header, of
//     original ids, which are the type-wise ids where the type has none; rows
//     are seeds of nodeType.
//
// nodeType may be empty where the graph has one node type, or the text names it.
func Find(ctx context.Context, fsys fsx.FS, s *store.Store, text, nodeType string) (*Seeds, error) {
	g := s.Graph
	name, condition, filtered := strings.Cut(text, ":")
	isType := g.NodeType(name) >= 0
	switch {
	case text == "" || isType && !filtered || isType && strings.Contains(condition, "="):
		if isType && nodeType != "" && nodeType != name {
			return nil, tagged.Errorf(sample.ErrSeed, "found seeds of node type %q, expected %q, from which the plan starts", name, nodeType)
		}
		t, err := typeOf(g, cmp.Or(nodeType, name))
		if err != nil {
			return nil, err
		}
		if filtered {
			return where(g.Nodes[t], condition)
		}
		return all(g.Nodes[t]), nil
	}
	if _, err := fsys.Stat(text); err != nil {
		return nil, tagged.Errorf(sample.ErrSeed, "found seeds %q, which is neither a node type (%s) nor a file: %w", text, typeNames(g), err)
	}
	t, err := typeOf(g, nodeType)
	if err != nil {
		return nil, err
	}
	return read(ctx, fsys, s, text, t)
}

func typeNames(g *graph.Graph) string {
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Type)
	}
	return strings.Join(names, ", ")
}

func typeOf(g *graph.Graph, name string) (int, error) {
	if name == "" {
		if len(g.Nodes) == 1 {
			return 0, nil
		}
		return -1, tagged.Errorf(sample.ErrSeed, "found no node type for the seeds, expected one of %s; give --seeds TYPE, or --seed-type TYPE with a file", typeNames(g))
	}
	t := g.NodeType(name)
	if t < 0 {
		return -1, tagged.Errorf(sample.ErrSeed, "found node type %q, expected one of %s", name, typeNames(g))
	}
	return t, nil
}

func all(n *graph.Nodes) *Seeds {
	s := &Seeds{Type: n.Type, Nodes: make([]uint32, n.Count)}
	for i := range s.Nodes {
		s.Nodes[i] = uint32(i)
	}
	return s
}

// where is the nodes whose column has a value.
func where(n *graph.Nodes, condition string) (*Seeds, error) {
	name, value, _ := strings.Cut(condition, "=")
	c := graph.FindColumn(n.Columns, name)
	if c == nil && name == "#id" {
		c = n.IDs
	}
	if c == nil {
		var have []string
		for _, c := range n.Columns {
			have = append(have, c.Name)
		}
		return nil, tagged.Errorf(sample.ErrSeed, "found column %q, expected a column of node type %s: %s", name, n.Type, strings.Join(have, ", "))
	}
	match, err := matcher(c, value)
	if err != nil {
		return nil, tagged.Errorf(sample.ErrSeed, "column %q of node type %s: %w", name, n.Type, err)
	}
	s := &Seeds{Type: n.Type}
	for i := range n.Count {
		if match(i) {
			s.Nodes = append(s.Nodes, uint32(i))
		}
	}
	if len(s.Nodes) == 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "found no node of type %s with %s = %q", n.Type, name, value)
	}
	return s, nil
}

// matcher compares a row of a scalar column with a value.
func matcher(c *graph.Column, value string) (func(row int) bool, error) {
	if c.Ragged() || c.RowValues() != 1 {
		return nil, fmt.Errorf("found shape %v, expected one value a row", c.Shape)
	}
	if c.DType == graph.String {
		if err := c.StringOffsets.CheckOffsets(len(c.Values)); err != nil {
			return nil, err
		}
		return func(i int) bool { return string(c.Text(i)) == value }, nil
	}
	var want []byte
	switch {
	case c.DType == graph.Bool:
		v, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected true or false", value)
		}
		want = []byte{0}
		if v {
			want[0] = 1
		}
	case c.DType.IsInt():
		bits := 8 * c.DType.Size()
		var v uint64
		var err error
		if c.DType < graph.Uint8 {
			var i int64
			i, err = strconv.ParseInt(value, 10, bits)
			v = uint64(i)
		} else {
			v, err = strconv.ParseUint(value, 10, bits)
		}
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected a number of dtype %s", value, c.DType)
		}
		want = graph.Bytes([]uint64{v})[:c.DType.Size()]
	case c.DType == graph.Float32 || c.DType == graph.Float64: // by value: -0 is 0
		v, err := strconv.ParseFloat(value, 8*c.DType.Size())
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected a number", value)
		}
		if c.DType == graph.Float32 {
			rows := graph.View[float32](c.Values)
			return func(i int) bool { return rows[i] == float32(v) }, nil
		}
		rows := graph.View[float64](c.Values)
		return func(i int) bool { return rows[i] == v }, nil
	default:
		return nil, fmt.Errorf("found dtype %s, expected bool, an integer, float32, float64 or string", c.DType)
	}
	return func(i int) bool { return bytes.Equal(c.Row(i), want) }, nil
}

// read takes the seeds of a file.
func read(ctx context.Context, fsys fsx.FS, s *store.Store, file string, t int) (*Seeds, error) {
	n := s.Graph.Nodes[t]
	out := &Seeds{Type: n.Type}
	tab, col, find, err := open(fsys, s, file, t)
	if err != nil {
		return nil, err
	}
	_, err = tab.Scan(ctx, []table.Column{col}, 1, func(_ int, c *table.Chunk) error {
		v := &c.Columns[0]
		start := uint32(0)
		for i := range c.Rows {
			var id []byte
			if col.DType == graph.String {
				id, start = v.Data[start:v.Ends[i]], v.Ends[i]
			} else {
				id = v.Data[8*i : 8*i+8]
			}
			node, ok := find(id)
			if !ok {
				if col.DType != graph.String {
					id = strconv.AppendUint(nil, graph.View[uint64](id)[0], 10)
				}
				return tagged.Errorf(sample.ErrSeed, "%s: found id %q, expected that of a node of type %s", tab.Where(c.First+uint64(i), col.Name), id, n.Type)
			}
			out.Nodes = append(out.Nodes, uint32(node))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out.Nodes) == 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "%s: found no seeds", file)
	}
	return out, nil
}

// open is the table of a seeds file, its id column, and how an id is found.
func open(fsys fsx.FS, s *store.Store, file string, t int) (table.Table, table.Column, func([]byte) (uint64, bool), error) {
	var none table.Column
	if filepath.Ext(file) == ".npy" {
		tab, err := table.OpenNpy(fsys, []table.NpyColumn{{Name: "id", Path: file}})
		if err != nil {
			return nil, none, nil, err
		}
		count := uint64(s.Graph.Nodes[t].Count)
		return tab, table.Column{Name: "id", DType: graph.Uint64, ID: true}, func(id []byte) (uint64, bool) {
			v := graph.View[uint64](id)[0]
			return v, v < count
		}, nil
	}
	if info, err := fsys.Stat(file); err == nil && info.IsDir() {
		return nil, none, nil, tagged.Errorf(sample.ErrSeed, "%s: found a folder, expected a file of ids", file)
	}
	ids, err := s.IDs(t)
	if err != nil {
		return nil, none, nil, err
	}
	tab, err := openText(fsys, file)
	if err != nil {
		return nil, none, nil, err
	}
	col := table.Column{DType: graph.String, ID: true}
	fields := tab.Fields()
	i := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == "id" || f.Name == "#id" })
	if i < 0 && len(fields) > 1 {
		return nil, none, nil, tagged.Errorf(sample.ErrSeed, "%s:1: found no column id, expected one that holds the seeds", file)
	}
	col.Name = fields[max(i, 0)].Name
	return tab, col, ids.Find, nil
}

// openText opens a table whose first line is a header only if it has "id".
func openText(fsys fsx.FS, file string) (table.Table, error) {
	tab, err := table.OpenCSV(fsys, []string{file}, table.CSVOptions{Header: true})
	if err != nil {
		return nil, err
	}
	if f := tab.Fields(); len(f) == 1 && f[0].Name != "id" && f[0].Name != "#id" {
		return table.OpenCSV(fsys, []string{file}, table.CSVOptions{Names: []string{"id"}})
	}
	return tab, nil
}
