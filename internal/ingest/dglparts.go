package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dglParts is a partitioned graph in DGL's format: the folder of its configuration, or that file. The source is the
// whole graph, made from the nodes and edges that the parts own. It is in the original order if the parts have the
// original ids, and otherwise in the order of the new ids.
type dglParts struct{}

func (dglParts) name() string { return "dgl-parts" }
func (dglParts) about() string {
	return "the folder of a graph that DGL or graphmill partitioned, or its GRAPH_NAME.json"
}

func (dglParts) becomes() string {
	return "the whole graph again; with orig_nids.dgl and orig_eids.dgl, in its original order"
}

// detect recognises folders. Files are recognised by their content.
func (dglParts) detect(_ string, names []string) bool { return slices.Contains(names, "part0") }

func (dglParts) open(_ context.Context, fsys vfs.FS, path string, o Options) (_ *Source, err error) {
	config, err := parts.Find(fsys, path)
	if err != nil {
		return nil, err
	}
	if config == "" {
		return nil, sourcef("%s: found no configuration, expected the JSON file of a partitioned graph, with num_parts, node_map and so on; give the path of that file, or of its folder", path)
	}
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the counts in that file", config)
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
	s := &Source{Primary: graph.In, Files: f.Files, Held: held(f)}
	p := &partitioned{fsys: fsys, config: config, outside: o.Outside, s: s}
	for t, n := range f.Config.Nodes {
		node := assemble.Nodes{Type: n.Name, ID: table.Column{DType: graph.Uint64}, Count: uint64(n.Count())}
		if columns := p.columns(n.Name, nodes[t]); columns != nil {
			node = assemble.Nodes{Type: n.Name, Columns: columns, Table: &partsTable{partitioned: p, typ: t, types: f.Config.Nodes, nodes: true}}
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
		s.Input.Edges = append(s.Input.Edges, assemble.Edges{Type: of, Table: e, Src: keyColumn(e.src, true), Dst: keyColumn(e.dst, true), Columns: columns})
	}
	if f.NodeIDs == nil || f.EdgeIDs == nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: no %s: the order is that of the parts, not that of the graph that was partitioned", config,
			map[bool]string{true: "orig_nids.dgl", false: "orig_eids.dgl"}[f.NodeIDs == nil]))
	}
	return s, nil
}

// partitioned is a partitioned graph whose tables are read.
type partitioned struct {
	fsys    vfs.FS
	config  string
	outside bool
	s       *Source
}

// columns returns the features of a type, without those that no column can hold.
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

// partsTable holds the rows of a node or edge type: those that the parts own, in the original order if it is known.
// See held for the memory of a scan.
type partsTable struct {
	*partitioned
	typ      int
	types    []dgl.TypeRanges
	nodes    bool
	src, dst string // of edges: names of the fields of the ends
}

// Fields implements table.Table. Only the fields that a source asks for are looked up.
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

// farBytes is the number of bytes that a read at a new position of a mapped file loads into memory.
const farBytes = 64 << 10

// edgeTouches is the number of bytes of a part's arrays that are read for an edge, and rowTouches that for an edge
// that is read from a row.
const edgeTouches, rowTouches = 32, 16

// held returns the memory of a scan of a type's rows: the ends of edges, the order, the original ids of their nodes,
// and mapped pages.
func held(f *parts.Folder) int64 {
	largest := func(types []dgl.TypeRanges) (n int64) {
		for i := range types {
			n = max(n, types[i].Count())
		}
		return n
	}
	most, edge := int64(parts.TouchedBytes), int64(8)
	for _, p := range f.Parts {
		if len(p.EdgeFeats) > 0 {
			edge = 12 // including their order
		}
		here := 8 * p.Nodes
		if p.Graph.Relations[0].COO == nil {
			here += 9 * p.Edges
		}
		most = max(most, parts.TouchedBytes+here)
	}
	return most + edge*largest(f.Config.Edges) + 8*largest(f.Config.Nodes)
}

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
	return table.Fill(ctx, uint64(r.rows), columns, threads, func(_ int, c *table.Chunk) error { return r.fill(c) }, fn)
}

// partsReader reads the rows of one type of an open folder.
type partsReader struct {
	*parts.Folder
	t        *partsTable
	rows     int64
	columns  []*parts.Column // the columns of the scan; nil: an end
	isSrc    []bool
	starts   []int64  // type-wise new id of the first row of each part
	order    []uint32 // type-wise new id of each row, for columns; nil: the row
	src, dst []uint32 // of each row
}

func (r *partsReader) begin(ctx context.Context, columns []table.Column) error {
	t := r.t
	// The folder may have changed since the source was opened.
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
		return sourcef("%s: found other types than in the first read, expected a file that does not change; run again", t.config)
	}
	ends, features := false, false
	for _, c := range columns {
		i := slices.IndexFunc(have[t.typ], func(x parts.Column) bool { return x.Name == c.Name })
		end := !t.nodes && (c.Name == t.src || c.Name == t.dst)
		switch {
		case end && c.DType == graph.Uint64 && len(c.Shape) == 0:
			ends = true
			r.columns = append(r.columns, nil)
		case end || i < 0 || dglDTypes[have[t.typ][i].DType] != c.DType || !slices.EqualFunc(c.Shape, have[t.typ][i].Shape, func(a int, b int64) bool { return int64(a) == b }):
			return sourcef("%s: found no column %q of %s with rows of shape %v, expected a column that the parts have; the parts were written by different runs; partition the graph again", t.config, c.Name, c.DType, c.Shape)
		default:
			features = true
			r.columns = append(r.columns, &have[t.typ][i])
		}
		r.isSrc = append(r.isSrc, c.Name == t.src)
	}
	for p := range r.Parts {
		r.starts = append(r.starts, r.rows)
		r.rows += types[t.typ].Ranges[p][1] - types[t.typ].Ranges[p][0]
	}
	var row func(i int64) int64 // returns the row of a type-wise new id
	switch {
	case list == nil:
		row = func(i int64) int64 { return i }
	default:
		dense, err := checkOriginals(ctx, types[t.typ].Name, &list[t.typ], t.nodes)
		if err != nil {
			return err
		}
		if row = list[t.typ].At; !dense {
			ranks, err := rank(types[t.typ].Name, &list[t.typ])
			if err != nil {
				return err
			}
			row = func(i int64) int64 { return int64(ranks[i]) }
		}
		if features {
			r.order = make([]uint32, r.rows)
			for i := range r.rows {
				r.order[row(i)] = uint32(i)
			}
		}
	}
	if ends {
		return r.loadEnds(ctx, row)
	}
	return r.Release()
}

// checkOriginals checks that original ids give each row a place of its own. dense says that they are 0 to n - 1. The
// ids of edges may have gaps, since not every row of an input becomes an edge.
func checkOriginals(ctx context.Context, name string, ids *parts.Pieces, nodes bool) (dense bool, err error) {
	n := ids.Len()
	if n > math.MaxUint32 {
		return false, sourcef("%s: found %d original ids of %s, expected at most %d", ids.File(0), n, name, uint32(math.MaxUint32))
	}
	seen := make([]uint64, (n+63)/64)
	for i := range n {
		if i%window == 0 {
			if err := context.Cause(ctx); err != nil {
				return false, err
			}
		}
		id := ids.At(i)
		if id >= n && !nodes {
			return false, nil
		}
		if id < 0 || id >= n || seen[id>>6]>>(id&63)&1 != 0 {
			return false, sourcef("%s: found the original id %d of %s twice or out of range, expected each id below %d once; the mapping is damaged; partition the graph again with return_mapping=True", ids.File(i), id, name, n)
		}
		seen[id>>6] |= 1 << (id & 63)
	}
	return true, nil
}

// rank returns the position of each original id in their sorted order. While it runs it takes 16 bytes per edge.
func rank(name string, ids *parts.Pieces) ([]uint32, error) {
	type entry struct {
		id  int64
		new uint32
	}
	list := make([]entry, ids.Len())
	for i := range list {
		list[i] = entry{ids.At(int64(i)), uint32(i)}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	ranks := make([]uint32, len(list))
	for i, e := range list {
		if e.id < 0 || i > 0 && e.id == list[i-1].id {
			return nil, sourcef("%s: found the original id %d of %s twice or below 0, expected each id once; the mapping is damaged; partition the graph again with return_mapping=True", ids.File(int64(e.new)), e.id, name)
		}
		ranks[e.new] = uint32(i)
	}
	return ranks, nil
}

// loadEnds reads the ends of all edges of the type, part by part.
func (r *partsReader) loadEnds(ctx context.Context, row func(i int64) int64) error {
	of, err := graph.ParseEdgeType(r.Config.Edges[r.t.typ].Name)
	if err != nil {
		return sourcef("%s: %w", r.t.config, err)
	}
	var types [2]int
	for i, n := range r.Config.Nodes {
		if n.Name == of.Src {
			types[0] = i
		}
		if n.Name == of.Dst {
			types[1] = i
		}
	}
	ids, err := r.originalEnds(ctx, types)
	if err != nil {
		return err
	}
	r.src, r.dst = make([]uint32, r.rows), make([]uint32, r.rows)
	for _, p := range r.Parts {
		if err := r.loadPartEnds(ctx, p, types, ids, row); err != nil {
			return err
		}
	}
	return r.Release()
}

// originalEnds returns the original ids of the nodes of both ends, whose types are given; nil where the parts have none.
func (r *partsReader) originalEnds(ctx context.Context, types [2]int) (ids [2][]uint32, err error) {
	for k, typ := range types {
		n := &r.Config.Nodes[typ]
		switch {
		case n.Count() > math.MaxUint32:
			return ids, sourcef("%s: found %d nodes of %s, expected at most %d", r.t.config, n.Count(), n.Name, uint32(math.MaxUint32))
		case r.NodeIDs == nil:
		case k == 1 && types[0] == typ:
			ids[1] = ids[0]
		default:
			if _, err := checkOriginals(ctx, n.Name, &r.NodeIDs[typ], true); err != nil {
				return ids, err
			}
			ids[k] = make([]uint32, n.Count())
			for i := range ids[k] {
				ids[k][i] = uint32(r.NodeIDs[typ].At(int64(i)))
			}
		}
	}
	return ids, nil
}

// loadPartEnds reads the ends of the edges of the type that a part owns.
func (r *partsReader) loadPartEnds(ctx context.Context, p *parts.Part, types [2]int, ids [2][]uint32, row func(i int64) int64) error {
	if err := p.Ends(ctx); err != nil {
		return err
	}
	rows := int64(0) // number of edges that Ends read by rows
	if p.Graph.Relations[0].COO == nil {
		rows = p.Edges
	}
	own := r.Config.Edges[r.t.typ].Ranges[p.Index]
	for i := range own[1] - own[0] {
		if i%window == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := r.Touched(edgeTouches * window); err != nil {
				return err
			}
		}
		to := row(r.starts[p.Index] + i)
		for k, out := range [2][]uint32{r.src, r.dst} {
			wise, err := r.end(p, own[0]+i, k, types[k])
			if err != nil {
				return err
			}
			if ids[k] != nil {
				wise = int64(ids[k][wise])
			}
			out[to] = uint32(wise)
		}
	}
	p.Src, p.Dst = parts.Ints{}, parts.Ints{}
	return r.Touched(8*p.Nodes + rowTouches*rows)
}

// end returns the type-wise new id of an end (0: source, 1: destination) of an edge that a part owns. The end must
// have the type want.
func (r *partsReader) end(p *parts.Part, id int64, which, want int) (int64, error) {
	i := id - p.FirstEdge
	bad := func(format string, a ...any) error {
		return sourcef("%s: edge %d (global id %d): %s; run graphmill verify to find what is wrong with the parts", p.GraphFile, i, id, fmt.Sprintf(format, a...))
	}
	node := p.Src.At(i)
	if which == 1 {
		node = p.Dst.At(i)
	}
	if node < 0 || node >= p.Nodes {
		return 0, bad("found the end %d, expected one below %d", node, p.Nodes)
	}
	n := p.NodeID.At(node)
	if !r.Nodes.Has(n) {
		return 0, bad("found an end with _ID %d, expected an id below %d", n, r.Nodes.Len())
	}
	run := r.Nodes.Find(n)
	if run.Type != want || node < p.OwnedNodes && n != p.FirstNode+node || which == 1 && run.Part != p.Index || p.EdgeID.At(i) != id {
		return 0, bad("found _ID %d with an end that has _ID %d and type %s in part %d, expected a node of %s, and for a destination one in part %d", p.EdgeID.At(i), n, r.Config.Nodes[run.Type].Name, run.Part, r.Config.Nodes[want].Name, p.Index)
	}
	return run.Wise + n - run.First, nil
}

// fill puts the values of a chunk's rows into its columns.
func (r *partsReader) fill(c *table.Chunk) error {
	for x, column := range r.columns {
		data := c.Columns[x].Data
		if column == nil {
			ends := r.dst
			if r.isSrc[x] {
				ends = r.src
			}
			for k, v := range ends[c.First:][:c.Rows] {
				graph.View[uint64](data)[k] = uint64(v)
			}
			continue
		}
		width := int64(len(data) / c.Rows)
		part, far := 0, int64(0)
		last := make([]int64, len(r.starts)) // per part: the row that was read last
		for k := range c.Rows {
			row := int64(c.First) + int64(k)
			if r.order != nil {
				row = int64(r.order[row])
			}
			if row < r.starts[part] || part+1 < len(r.starts) && row >= r.starts[part+1] {
				part = r.partOf(row)
			}
			at := (row - r.starts[part]) * width
			copy(data[int64(k)*width:][:width], column.Data[part][at:])
			if at < last[part]-farBytes || at > last[part]+farBytes {
				far += farBytes
				last[part] = at
			}
			if far += width; far > parts.TouchedBytes/4 {
				if err := r.Touched(far); err != nil {
					return err
				}
				far = 0
			}
		}
		if err := r.Touched(far); err != nil {
			return err
		}
		if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 && column.DType == dgl.Bool {
			return sourcef("%s: found the value %d in %q of %s, expected 0 or 1, as the column is a bool; the part is damaged; partition the graph again", r.t.config, data[i], column.Name, r.t.types[r.t.typ].Name)
		}
	}
	return nil
}

// partOf returns the part that owns a row.
func (r *partsReader) partOf(row int64) int {
	i, _ := slices.BinarySearchFunc(r.starts, row, func(start, row int64) int {
		if start <= row {
			return -1
		}
		return 1
	})
	return i - 1
}
