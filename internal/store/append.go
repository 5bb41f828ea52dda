package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

// Added is what a segment adds to a store: only what is new, in two stores.
type Added struct {
	// Nodes is a store with the new nodes, and no edges.
	Nodes *Store
	// Edges is a scratch with the new edges, by the numbers that their ends have after the append, in the lists of the near nodes that get some (Listed); its nodes have no columns. Its
	// positions are rows of the new tables.
	Edges *Store
	// Rows is, by edge type, the number of rows of the new tables.
	Rows map[string]uint64
	// Dropped are, by edge type, the ids of edges that are dropped, ascending.
	Dropped map[string][]uint64
	Made    Made
}

// None says whether there is nothing to add to the store: no type, row or edge, and no edge to drop.
func (s *Store) None(a *Added) bool {
	for _, n := range a.Nodes.Graph.Nodes {
		if n.Count > 0 || s.Meta.Nodes[n.Type] == nil {
			return false
		}
	}
	for _, e := range a.Edges.Graph.Edges {
		if name := e.Type.String(); e.Count > 0 || a.Rows[name] > 0 || s.Meta.Edges[name] == nil {
			return false
		}
	}
	return len(a.Dropped) == 0
}

// AppendSegment writes a segment to w, which Amend has begun from the version of the store that s has open, as OpenMerged opens all of it. It returns the
// metadata of the new version, for Seal.
func (s *Store) AppendSegment(ctx context.Context, w *Writer, added Added) (*Meta, error) {
	x := s.newSegment(ctx, w, added.Made)
	x.segment.Nodes, x.segment.Edges = map[string]*NodesMeta{}, map[string]*EdgesMeta{}
	for _, name := range slices.Sorted(maps.Keys(added.Nodes.Meta.Nodes)) {
		if err := x.appendNodes(name, added.Nodes); err != nil {
			return nil, fmt.Errorf("node type %s: %w", name, err)
		}
	}
	types := map[string]*graph.Edges{}
	for _, e := range added.Edges.Graph.Edges {
		types[e.Type.String()] = e
	}
	for name := range added.Dropped {
		if types[name] == nil {
			types[name] = &graph.Edges{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if err := x.appendEdges(name, types[name], &added); err != nil {
			return nil, fmt.Errorf("edge type %s: %w", name, err)
		}
	}
	return x.withSegment(), nil
}

// appending is a run of AppendSegment.
type appending struct {
	*Store
	ctx     context.Context
	w       *Writer
	base    *Meta // with the segments before
	dir     string
	segment Segment
}

// newSegment begins a segment after those that the store has.
func (s *Store) newSegment(ctx context.Context, w *Writer, made Made) *appending {
	base := s.Meta
	if s.merged != nil {
		base = s.merged.base
	}
	return &appending{Store: s, ctx: ctx, w: w, base: base, dir: SegmentDir(len(base.Segments) + 1), segment: Segment{Made: made}}
}

// withSegment is the metadata of the store with the segment.
func (x *appending) withSegment() *Meta {
	meta := *x.base
	meta.Format, meta.Segments = SegmentedFormat, append(slices.Clone(meta.Segments), x.segment)
	return &meta
}

// appendNodes writes the new nodes of a type.
func (x *appending) appendNodes(name string, from *Store) error {
	n := *from.Meta.Nodes[name]
	if n.Count == 0 && x.Meta.Nodes[name] != nil {
		return nil
	}
	n.Arrays = maps.Clone(n.Arrays)
	for array, file := range n.Arrays {
		to := x.dir + "/" + file
		if err := x.copyFile(from, file, to); err != nil {
			return err
		}
		n.Arrays[array] = to
	}
	before := x.Meta.Nodes[name]
	columns := map[string]ColumnMeta{}
	for column, c := range n.Columns {
		var of *ColumnMeta
		if before != nil {
			had, ok := before.Columns[column]
			if !ok {
				return fmt.Errorf("found the new column %q, expected those of the store", column)
			}
			of = &had
		}
		more, err := x.appendColumn(of, c, from)
		if err == nil && of != nil {
			more.Categories, err = x.newCategories(name, column, c, from)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", column, err)
		}
		columns[column] = more
	}
	n.Columns = columns
	if n.IDs != nil {
		var of *ColumnMeta
		if before != nil {
			of = before.IDs
		}
		ids, err := x.appendColumn(of, *n.IDs, from)
		if err != nil {
			return fmt.Errorf("ids: %w", err)
		}
		n.IDs = &ids
	}
	x.segment.Nodes[name] = &n
	return nil
}

// appendColumn writes the files of a column of new nodes: those that go on with the column before, or whole ones for nil.
func (x *appending) appendColumn(before *ColumnMeta, c ColumnMeta, from *Store) (ColumnMeta, error) {
	if before == nil {
		return x.copyColumn(c, from)
	}
	rest := func(file string) string { return x.dir + "/" + file + ".rest" }
	more := c
	more.Categories = nil
	for i, file := range c.RowOffsets {
		if i == 0 {
			more.RowOffsets = slices.Clone(c.RowOffsets)
		}
		more.RowOffsets[i] = rest(file)
		if err := x.appendOffsets(before.RowOffsets[i], from, file, more.RowOffsets[i]); err != nil {
			return more, err
		}
	}
	if c.StringOffsets != "" {
		more.StringOffsets = rest(c.StringOffsets)
		if err := x.appendOffsets(before.StringOffsets, from, c.StringOffsets, more.StringOffsets); err != nil {
			return more, err
		}
	}
	more.File = rest(c.File)
	m, err := from.mapFile(c.File, false)
	if err != nil {
		return more, err
	}
	return more, x.writeRest(before.File, more.File, m.data)
}

// newCategories writes the categories of a column of nodes where the new rows have some that those before do not; nil otherwise.
func (x *appending) newCategories(nodeType, column string, c ColumnMeta, from *Store) (*ColumnMeta, error) {
	if c.Categories == nil {
		return nil, nil
	}
	rows := func(s *Store) int {
		return graph.FindColumn(s.Graph.Nodes[s.Graph.NodeType(nodeType)].Columns, column).Categories.Rows
	}
	if rows(from) == rows(x.Store) {
		return nil, nil
	}
	texts, err := x.copyColumn(*c.Categories, from)
	return &texts, err
}

// appendOffsets writes the offsets of new rows, which go on where those before end.
func (x *appending) appendOffsets(before string, from *Store, file, to string) error {
	had, err := x.index(before, -1)
	if err != nil {
		return err
	}
	new, err := from.index(file, -1)
	if err != nil {
		return err
	}
	if had.Len() == 0 || new.Len() == 0 || had.U64 == nil || new.U64 == nil {
		return fmt.Errorf("found no offsets of 64 bits in %s, expected them", before)
	}
	end := had.At(had.Len() - 1)
	b := make([]byte, 0, 8*(new.Len()-1))
	for _, v := range new.U64[1:] {
		b = binary.LittleEndian.AppendUint64(b, v+end)
	}
	return x.writeRest(before, to, b)
}

// copyColumn copies the files of a column.
func (x *appending) copyColumn(c ColumnMeta, from *Store) (ColumnMeta, error) {
	to := c
	for i, file := range c.RowOffsets {
		if i == 0 {
			to.RowOffsets = slices.Clone(c.RowOffsets)
		}
		to.RowOffsets[i] = x.dir + "/" + file
	}
	if c.StringOffsets != "" {
		to.StringOffsets = x.dir + "/" + c.StringOffsets
	}
	to.File = x.dir + "/" + c.File
	if c.Categories != nil {
		texts, err := x.copyColumn(*c.Categories, from)
		if err != nil {
			return to, err
		}
		to.Categories = &texts
	}
	own := c
	own.Categories = nil
	for _, file := range own.Files() {
		if err := x.copyFile(from, file, x.dir+"/"+file); err != nil {
			return to, err
		}
	}
	return to, nil
}

// appendEdges writes the new edges of a type, which the zero value has none of, and the places of dropped ones.
func (x *appending) appendEdges(name string, e *graph.Edges, added *Added) error {
	rows, dropped, from := added.Rows[name], added.Dropped[name], added.Edges
	old := x.Meta.Edges[name]
	if e.Count == 0 && rows == 0 && len(dropped) == 0 && old != nil {
		return nil
	}
	first, err := x.RowsBefore(name)
	if err != nil {
		return err
	}
	m := &EdgesMeta{Count: e.Count, Primary: e.Primary.String(), NoPositions: e.NoPositions, Arrays: map[string]string{}, Columns: map[string]ColumnMeta{}, Rows: first + rows}
	t, err := graph.ParseEdgeType(name)
	if err != nil {
		return err
	}
	dir := x.dir + "/" + EdgesDir(t)
	if len(dropped) > 0 {
		m.Primary, m.NoPositions = old.Primary, old.NoPositions
		if err := x.appendDropped(m, dir, name, dropped); err != nil {
			return err
		}
	}
	if e.Count == 0 && old != nil {
		x.segment.Edges[name] = m
		return nil
	}
	nodes, is := from.Listed(name)
	if !is {
		return fmt.Errorf("found new edges with offsets of all nodes, expected those of the nodes that get some")
	}
	a := e.Adj[e.Primary]
	for _, f := range []struct {
		name string
		of   graph.Index
		wide bool
	}{{"nodes", nodes, false}, {"starts", a.Indptr, isWideCount(e.Count)}, {"far", a.Far, false}} {
		m.Arrays[f.name] = dir + "/" + f.name + ".npy"
		if err := x.writeIndex(m.Arrays[f.name], from, f.of, 0, f.wide); err != nil {
			return err
		}
	}
	for column, c := range from.Meta.Edges[name].Columns {
		if column == graph.PositionColumn {
			if old != nil && !x.hasPositions(name) {
				continue
			}
			at := dir + "/" + FileName(column) + ".npy"
			if c, err = x.appendPositions(from, graph.FindColumn(e.Columns, column), first, at); err != nil {
				return err
			}
			m.Columns[column] = c
			continue
		}
		if m.Columns[column], err = x.copyColumn(c, from); err != nil {
			return err
		}
	}
	x.segment.Edges[name] = m
	return nil
}

// segmentArray is an array of the edges of a segment, of uint32, or of uint64 for wide.
type segmentArray struct {
	name  string
	bytes []byte
	wide  bool
}

// writeSegmentArray writes an array of the edges of a type.
func (x *appending) writeSegmentArray(m *EdgesMeta, dir string, a segmentArray) error {
	m.Arrays[a.name] = dir + "/" + a.name + ".npy"
	return x.writeArray(m.Arrays[a.name], a.bytes, a.wide)
}

// appendDropped writes the places of dropped edges in the lists of their near nodes.
func (x *appending) appendDropped(m *EdgesMeta, dir, edgeType string, ids []uint64) error {
	i := slices.IndexFunc(x.Graph.Edges, func(e *graph.Edges) bool { return e.Type.String() == edgeType })
	e := x.Graph.Edges[i]
	indptr := e.Adj[e.Primary].Indptr
	var nodes, starts, places []byte
	node, last := 0, -1
	for k, id := range ids {
		node += sort.Search(indptr.Len()-1-node, func(i int) bool { return indptr.At(node+i+1) > id })
		if node != last {
			nodes, starts = binary.LittleEndian.AppendUint32(nodes, uint32(node)), appendWide(starts, uint64(k), len(ids))
			last = node
		}
		places = appendWide(places, id-indptr.At(node), e.Count)
	}
	starts = appendWide(starts, uint64(len(ids)), len(ids))
	for _, f := range []segmentArray{{"dropped_nodes", nodes, false}, {"dropped_starts", starts, isWideCount(len(ids))}, {"dropped", places, isWideCount(e.Count)}} {
		if err := x.writeSegmentArray(m, dir, f); err != nil {
			return err
		}
	}
	return nil
}

// isWideCount says whether offsets into n entries take 64 bits.
func isWideCount(n int) bool { return n > maxNarrow }

// maxNarrow is the largest offset that takes 32 bits.
const maxNarrow = 1<<32 - 1

// appendWide appends an offset into n entries.
func appendWide(b []byte, v uint64, n int) []byte {
	if isWideCount(n) {
		return binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

// hasPositions says whether the edges of a type have their positions in the input.
func (x *appending) hasPositions(edgeType string) bool {
	i := slices.IndexFunc(x.Graph.Edges, func(e *graph.Edges) bool { return e.Type.String() == edgeType })
	return graph.FindColumn(x.Graph.Edges[i].Columns, graph.PositionColumn) != nil
}
