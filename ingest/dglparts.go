package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/dispatch/parts"
	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/ingest/build"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/internal/fsx"
)

// dglParts is a partitioned graph in DGL's format: the folder of its configuration, or
// that file. The whole graph is made again of what the parts own: in the original order
// where they have the original ids, else in that of the new ids.
type dglParts struct{}

func (dglParts) name() string { return "dgl-parts" }
func (dglParts) about() string {
	return "the folder of a graph that DGL or graphmill partitioned, or its GRAPH_NAME.json"
}

// detect knows folders; files are told apart by what is in them.
func (dglParts) detect(_ string, names []string) bool { return slices.Contains(names, "part0") }

func (dglParts) open(_ context.Context, fsys fsx.FS, path string, o Options) (_ *Source, err error) {
	config, err := parts.Find(fsys, path)
	if err != nil {
		return nil, err
	}
	if config == "" {
		return nil, sourcef("%s: found no configuration, expected the JSON file of a partitioned graph, with num_parts, node_map and so on", path)
	}
	if o.NumNodes > 0 {
		return nil, usagef("found --num-nodes with %s, expected the counts in that file", config)
	}
	f, err := parts.Open(fsys, config, o.Outside)
	if err != nil {
		return nil, err
	}
	defer closing(&err, f)
	nodes, edges, err := f.Columns()
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: f.Files}
	p := &partitioned{fsys: fsys, config: config, outside: o.Outside, s: s}
	for t, n := range f.Config.Nodes {
		node := build.Nodes{Type: n.Name, ID: table.Column{DType: graph.Uint64}, Count: uint64(n.Count())}
		if columns := p.columns(n.Name, nodes[t]); columns != nil {
			node = build.Nodes{Type: n.Name, Columns: columns, Table: &partsTable{partitioned: p, typ: t, types: f.Config.Nodes, nodes: true}}
		}
		s.Input.Nodes = append(s.Input.Nodes, node)
	}
	for t, n := range f.Config.Edges {
		of, err := graph.ParseEdgeType(n.Name)
		if err != nil {
			return nil, sourcef("%s: %w", config, err)
		}
		e := &partsTable{partitioned: p, typ: t, types: f.Config.Edges, src: "src", dst: "dst"}
		columns := p.columns(n.Name, edges[t])
		for slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == e.src || c.Name == e.dst }) {
			e.src, e.dst = "#"+e.src, "#"+e.dst
		}
		s.Input.Edges = append(s.Input.Edges, build.Edges{Type: of, Table: e, Src: end(e.src, true), Dst: end(e.dst, true), Columns: columns})
	}
	if f.NodeIDs == nil || f.EdgeIDs == nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: no %s: the order is that of the parts, not that of the graph that was partitioned", config,
			map[bool]string{true: "orig_nids.dgl", false: "orig_eids.dgl"}[f.NodeIDs == nil]))
	}
	return s, nil
}

// partitioned is a partitioned graph whose tables are read.
type partitioned struct {
	fsys    fsx.FS
	config  string
	outside bool
	s       *Source
}

// columns are the features of a type, without those that no column can hold.
func (p *partitioned) columns(of string, list []parts.Column) (columns []table.Column) {
	for _, x := range list {
		c := table.Column{Name: x.Name, DType: dglDTypes[x.DType]}
		for _, n := range x.Shape {
			c.Shape = append(c.Shape, int(n))
		}
		if slices.Contains(c.Shape, 0) {
			p.s.Warnings = append(p.s.Warnings, fmt.Sprintf("%s: the column %q of %s is left out: a row of shape %v has no values", p.config, x.Name, of, x.Shape))
			continue
		}
		columns = append(columns, c)
	}
	return columns
}

// partsTable is the rows of a node or edge type: what the parts own, in the original
// order where it is known. A scan holds 4 bytes a row then; edges of parts without COO
// take 8 bytes each more.
type partsTable struct {
	*partitioned
	typ      int
	types    []dgl.TypeRanges
	nodes    bool
	src, dst string // of edges: the fields of the ends
}

// Fields implements table.Table: of what the source has not asked for nobody asks.
func (t *partsTable) Fields() []table.Field {
	var fields []table.Field
	add := func(columns []table.Column) {
		for _, c := range columns {
			fields = append(fields, table.Field{Name: c.Name, DType: c.DType, Shape: c.Shape})
		}
	}
	if t.nodes {
		add(t.s.Input.Nodes[t.typ].Columns)
		return fields
	}
	e := &t.s.Input.Edges[t.typ]
	add(append([]table.Column{e.Src, e.Dst}, e.Columns...))
	return fields
}

// Files implements table.Table.
func (t *partsTable) Files() []string { return t.s.Files }

// Bytes implements table.Table.
func (t *partsTable) Bytes() int64 {
	row := 0
	for _, f := range t.Fields() {
		size := f.DType.Size()
		for _, d := range f.Shape {
			size *= d
		}
		row += size
	}
	return t.types[t.typ].Count() * int64(row)
}

// Where implements table.Table: "cora.json, _N 17".
func (t *partsTable) Where(row uint64, _ string) string {
	return fmt.Sprintf("%s, %s %d", t.config, t.types[t.typ].Name, row)
}

// releaseBytes is how much is read of the mapped files before their memory is given
// back.
const releaseBytes = 32 << 20

// Scan implements table.Table for columns as they are, and ends as Uint64.
func (t *partsTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (_ uint64, err error) {
	f, err := parts.Open(t.fsys, t.config, t.outside)
	if err != nil {
		return 0, err
	}
	defer closing(&err, f)
	r := &partsReader{Folder: f, t: t}
	if err := r.begin(ctx, columns); err != nil {
		return 0, err
	}
	var read atomic.Int64
	return table.Fill(ctx, uint64(r.rows), columns, threads, func(_ int, c *table.Chunk) error {
		if err := r.fill(c); err != nil {
			return err
		}
		// Rows come from pages that nobody else needs, 4 KiB each at worst.
		if read.Add(c.Bytes) > releaseBytes {
			read.Store(0)
			return f.Release()
		}
		return nil
	}, fn)
}

// partsReader reads the rows of one type of an open folder.
type partsReader struct {
	*parts.Folder
	t       *partsTable
	rows    int64
	columns []*parts.Column // those asked for; nil for an end
	isSrc   []bool
	starts  []int64  // type-wise new id of the first row of each part
	order   []uint32 // type-wise new id of each row; nil: the row
	ends    [2]int   // node types of an edge type
}

func (r *partsReader) begin(ctx context.Context, columns []table.Column) error {
	t := r.t
	// The folder may not be what it was when the source was opened.
	types, list := r.Config.Nodes, r.Folder.NodeIDs
	nodes, edges, err := r.Columns()
	if err != nil {
		return err
	}
	have := nodes
	if !t.nodes {
		types, list, have = r.Config.Edges, r.Folder.EdgeIDs, edges
	}
	if t.typ >= len(types) || types[t.typ].Name != t.types[t.typ].Name {
		return sourcef("%s: found other types than at first, expected a file that does not change", t.config)
	}
	ends := false
	for _, c := range columns {
		i := slices.IndexFunc(have[t.typ], func(x parts.Column) bool { return x.Name == c.Name })
		end := !t.nodes && (c.Name == t.src || c.Name == t.dst)
		switch {
		case end && c.DType == graph.Uint64 && len(c.Shape) == 0:
			ends = true
			r.columns = append(r.columns, nil)
		case end || i < 0 || dglDTypes[have[t.typ][i].DType] != c.DType || !slices.EqualFunc(c.Shape, have[t.typ][i].Shape, func(a int, b int64) bool { return int64(a) == b }):
			return sourcef("%s: found no column %q of %s with rows of shape %v, expected what the parts have", t.config, c.Name, c.DType, c.Shape)
		default:
			r.columns = append(r.columns, &have[t.typ][i])
		}
		r.isSrc = append(r.isSrc, c.Name == t.src)
	}
	for p := range r.Parts {
		r.starts = append(r.starts, r.rows)
		r.rows += types[t.typ].Ranges[p][1] - types[t.typ].Ranges[p][0]
	}
	if ends {
		for _, p := range r.Parts {
			if err := p.Ends(ctx); err != nil {
				return err
			}
		}
		of, err := graph.ParseEdgeType(types[t.typ].Name)
		if err != nil {
			return sourcef("%s: %w", t.config, err)
		}
		for i, n := range r.Config.Nodes {
			if n.Name == of.Src {
				r.ends[0] = i
			}
			if n.Name == of.Dst {
				r.ends[1] = i
			}
		}
		if r.NodeIDs != nil {
			for _, end := range r.ends {
				if _, err := originalOrder(ctx, r.Config.Nodes[end].Name, &r.NodeIDs[end], true); err != nil {
					return err
				}
			}
		}
	}
	if list != nil {
		r.order, err = originalOrder(ctx, types[t.typ].Name, &list[t.typ], t.nodes)
	}
	return err
}

// originalOrder is the type-wise new id of each row in the order of original ids. Those of
// nodes are rows; those of edges ascend, for not all rows of an input become edges.
func originalOrder(ctx context.Context, name string, ids *parts.Pieces, dense bool) ([]uint32, error) {
	n := ids.Len()
	if n > math.MaxUint32 {
		return nil, sourcef("%s: found %d original ids of %s, expected at most %d", ids.File(0), n, name, uint32(math.MaxUint32))
	}
	const none = math.MaxUint32
	order := make([]uint32, n)
	for i := range order {
		order[i] = none
	}
	for i := range n {
		if i%window == 0 {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
		}
		id := ids.At(i)
		if id >= n && !dense {
			return sparseOrder(name, ids)
		}
		if id < 0 || id >= n || order[id] != none {
			return nil, sourcef("%s: found the original id %d of %s twice or out of range, expected each below %d once", ids.File(i), id, name, n)
		}
		order[id] = uint32(i)
	}
	return order, nil
}

// sparseOrder sorts by original ids that have gaps; it takes 16 bytes an edge.
func sparseOrder(name string, ids *parts.Pieces) ([]uint32, error) {
	type entry struct {
		id  int64
		new uint32
	}
	list := make([]entry, ids.Len())
	for i := range list {
		list[i] = entry{ids.At(int64(i)), uint32(i)}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	order := make([]uint32, len(list))
	for i, e := range list {
		if e.id < 0 || i > 0 && e.id == list[i-1].id {
			return nil, sourcef("%s: found the original id %d of %s twice or below 0, expected each once", ids.File(int64(e.new)), e.id, name)
		}
		order[i] = e.new
	}
	return order, nil
}

// fill puts the values of a chunk's rows into its columns.
func (r *partsReader) fill(c *table.Chunk) error {
	part := 0
	for k := range c.Rows {
		row := int64(c.First) + int64(k)
		if r.order != nil {
			row = int64(r.order[row])
		}
		if row < r.starts[part] || part+1 < len(r.starts) && row >= r.starts[part+1] {
			part = r.partOf(row)
		}
		i := row - r.starts[part]
		for x, column := range r.columns {
			data := c.Columns[x].Data
			if column == nil {
				id, err := r.end(part, i, r.isSrc[x])
				if err != nil {
					return err
				}
				graph.View[uint64](data)[k] = uint64(id)
				continue
			}
			width := len(data) / c.Rows
			copy(data[k*width:][:width], column.Data[part][i*int64(width):])
		}
	}
	return nil
}

// partOf is the part that owns a row.
func (r *partsReader) partOf(row int64) int {
	i, _ := slices.BinarySearchFunc(r.starts, row, func(start, row int64) int {
		if start <= row {
			return -1
		}
		return 1
	})
	return i - 1
}

// end is an end of edge i of a part's own of the type: the original id, or the type-wise
// new one.
func (r *partsReader) end(part int, i int64, src bool) (int64, error) {
	p := r.Parts[part]
	first := r.Config.Edges[r.t.typ].Ranges[part][0]
	local := first + i - p.FirstEdge
	bad := func(what string) error {
		return sourcef("%s: edge %d (global id %d): %s; graphmill verify says what is wrong with the parts", p.GraphFile, local, first+i, what)
	}
	node, want := p.Dst.At(local), r.ends[1]
	if src {
		node, want = p.Src.At(local), r.ends[0]
	}
	if node < 0 || node >= p.Nodes {
		return 0, bad(fmt.Sprintf("found the end %d, expected one below %d", node, p.Nodes))
	}
	id := p.NodeID.At(node)
	if !r.Nodes.Has(id) {
		return 0, bad(fmt.Sprintf("found an end with _ID %d, expected an id below %d", id, r.Nodes.Len()))
	}
	run := r.Nodes.Find(id)
	if run.Type != want || node < p.OwnedNodes && id != p.FirstNode+node || !src && run.Part != part || p.EdgeID.At(local) != first+i {
		return 0, bad(fmt.Sprintf("found the end %d of type %s in part %d, expected one of %s, destinations in part %d", id, r.Config.Nodes[run.Type].Name, run.Part, r.Config.Nodes[want].Name, part))
	}
	wise := run.Wise + id - run.First
	if r.NodeIDs != nil {
		return r.NodeIDs[want].At(wise), nil
	}
	return wise, nil
}
