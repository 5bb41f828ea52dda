package store

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store/segment"
)

// merging is the edges of one type whose parts are merged.
type merging struct {
	*Store
	name  string
	dir   string // of the files of the type
	meta  *EdgesMeta
	lists *segment.Lists
	parts []edgePart // of the base and of each segment; without far where a part has no edges of the type
	old   *placed    // of the version before, with which this one goes on; nil: with none
}

// edgePart is the edges of a type that the base or a segment has.
type edgePart struct {
	far     graph.Index
	columns []*graph.Column
}

// mergeEdges opens the edges of a type that segments change.
func (s *Store) mergeEdges(name string, whole *EdgesMeta) (*graph.Edges, error) {
	e, err := s.newEdges(name, whole)
	if err != nil {
		return nil, err
	}
	t := e.Type
	m := &merging{Store: s, name: name, dir: EdgesDir(t), meta: whole, lists: &segment.Lists{Nodes: s.Meta.Nodes[t.Near(e.Primary)].Count}}
	s.merged.types[name] = m
	m.old = m.placedBefore()
	if err := m.openBase(name, t.Near(e.Primary)); err != nil {
		return nil, err
	}
	for i := range s.Meta.Segments {
		if err := m.openSegment(s.Meta.Segments[i].Edges[name], whole); err != nil {
			return nil, fmt.Errorf("segment %d: %w", i+1, err)
		}
	}
	if s.merged.outline {
		if e.Count, err = m.countEdges(); err != nil {
			return nil, err
		}
		whole.Count = e.Count
		e.Columns, err = m.outlineColumns()
		return e, err
	}
	if err := m.lists.Check(); err != nil {
		return nil, err
	}
	if n := m.lists.Edges(); n > maxCount {
		return nil, fmt.Errorf("%w: found %d edges, expected at most %d", ErrDamaged, n, maxCount)
	}
	e.Count = int(m.lists.Edges())
	whole.Count, whole.Arrays, whole.Columns = e.Count, map[string]string{}, map[string]ColumnMeta{}
	if s.merged.placed != nil {
		if done, err := m.placeEdges(e); done || err != nil {
			return e, err
		}
	}
	a, err := m.mergeLists()
	if err != nil {
		return nil, err
	}
	e.Adj[e.Primary] = a
	if s.hasOther(name) {
		if e.Adj[1-e.Primary], err = m.transpose(a, s.Meta.Nodes[t.Far(e.Primary)].Count); err != nil {
			return nil, err
		}
	}
	if e.Columns, err = m.mergeColumns(); err != nil {
		return nil, err
	}
	e.NoPositions = graph.FindColumn(e.Columns, graph.PositionColumn) == nil
	whole.NoPositions = e.NoPositions
	return e, nil
}

// hasOther says whether the store has the other direction of an edge type: whether the base has it or, of a type that it does not have, has it of another one.
func (s *Store) hasOther(edgeType string) bool {
	if e := s.merged.base.Edges[edgeType]; e != nil {
		return e.Arrays["other_indptr"] != ""
	}
	for _, e := range s.merged.base.Edges {
		if e.Arrays["other_indptr"] != "" {
			return true
		}
	}
	return false
}

// openBase opens the lists and columns that the base has of the type.
func (m *merging) openBase(name, near string) (err error) {
	m.parts = append(m.parts, edgePart{})
	base := m.merged.base.Edges[name]
	if base == nil {
		return nil
	}
	of := m.merged.base.Nodes[near]
	if of == nil {
		return fmt.Errorf("found no node type %q", near)
	}
	if m.lists.Base, err = m.index(base.Arrays["indptr"], of.Count+1); err != nil {
		return err
	}
	if m.merged.outline {
		if last(m.lists.Base) != base.Count {
			return fmt.Errorf("%w: found offsets up to %d, expected %d", ErrDamaged, last(m.lists.Base), base.Count)
		}
	} else if m.old == nil { // elsewhere they were checked with the version before
		if err := m.lists.Base.CheckOffsets(base.Count); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return m.openPart(&m.parts[0], base)
}

// openSegment opens the lists and columns that a segment has of the type; nil: it has none.
func (m *merging) openSegment(e, whole *EdgesMeta) (err error) {
	m.parts, m.lists.Later = append(m.parts, edgePart{}), append(m.lists.Later, segment.List{})
	if e == nil {
		m.merged.dropped[m.name] = append(m.merged.dropped[m.name], 0)
		return nil
	}
	if e.Primary != whole.Primary {
		return fmt.Errorf("found edges by %q, expected them by %q as those before", e.Primary, whole.Primary)
	}
	list := &m.lists.Later[len(m.lists.Later)-1]
	for _, x := range []struct {
		name string
		to   *graph.Index
	}{{"nodes", &list.Nodes}, {"starts", &list.Starts}, {"dropped_nodes", &list.DroppedNodes}, {"dropped_starts", &list.DroppedStarts}, {"dropped", &list.Dropped}} {
		if *x.to, err = m.index(e.Arrays[x.name], -1); err != nil {
			return err
		}
	}
	m.merged.dropped[m.name] = append(m.merged.dropped[m.name], list.Dropped.Len())
	if last(list.Starts) != e.Count { // 0 without lists
		return fmt.Errorf("%w: found lists of %d edges, expected %d", ErrDamaged, last(list.Starts), e.Count)
	}
	return m.openPart(&m.parts[len(m.parts)-1], e)
}

// openPart opens the far ends and columns of a part.
func (m *merging) openPart(p *edgePart, e *EdgesMeta) (err error) {
	if e.Count == 0 && e.Arrays["far"] == "" {
		return nil
	}
	if p.far, err = m.index(e.Arrays["far"], e.Count); err != nil {
		return err
	}
	if p.columns, err = m.columns(e.Columns, e.Count); err != nil {
		return err
	}
	for _, c := range e.Columns { // of a store in an object store
		if fetch := m.later[c.File]; fetch != nil {
			delete(m.later, c.File)
			if err := fetch(context.Background(), 0, math.MaxInt64); err != nil {
				return err
			}
		}
	}
	if m.merged.outline { // no row is read
		return nil
	}
	for _, c := range p.columns {
		if err := c.CheckOffsets(); err != nil {
			return fmt.Errorf("column %q: %w: %w", c.Name, ErrDamaged, err)
		}
	}
	return nil
}

// slab is memory that holds a merged array until the store is closed, or Spill has put a map in its place by set.
func (s *Store) slab(file string, bytes int, set func(values []byte)) error {
	b, err := extsort.Slab(bytes)
	if err != nil {
		return err
	}
	s.merged.bytes += int64(bytes)
	a := &mergedArray{file, b, set}
	s.merged.arrays, s.unmaps = append(s.merged.arrays, a), append(s.unmaps, a.free)
	set(b)
	return nil
}

// newIndex makes x memory for n values up to the given one, in 32 bits where they fit: the array name of the type.
func (m *merging) newIndex(name string, x *graph.Index, n int, most uint64) error {
	file := m.dir + "/" + name + ".npy"
	m.meta.Arrays[name] = file
	if most > uint64(limits.Positions) {
		return m.slab(file, 8*n, func(b []byte) { x.U64 = graph.View[uint64](b)[:n:n] })
	}
	return m.slab(file, 4*n, func(b []byte) { x.U32 = graph.View[uint32](b)[:n:n] })
}

// blockNodes is the number of near nodes that are merged at a time.
const blockNodes = 1 << 16

// each calls fn with blocks of near nodes, from as many goroutines as there are processors, or with alone one after the other.
func (m *merging) each(fn func(from, to int) error) error {
	if m.merged.alone {
		for from := 0; from < m.lists.Nodes; from += blockNodes {
			if err := fn(from, min(from+blockNodes, m.lists.Nodes)); err != nil {
				return err
			}
		}
		return nil
	}
	var g guard.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < m.lists.Nodes; from += blockNodes {
		g.Go(func() error { return fn(from, min(from+blockNodes, m.lists.Nodes)) })
	}
	return g.Wait()
}

// part is the values [from, to) of an index.
func indexPart(x graph.Index, from, to int) graph.Index {
	if x.U32 != nil {
		return graph.Index{U32: x.U32[from:to]}
	}
	return graph.Index{U64: x.U64[from:to]}
}

// mergeLists merges the offsets and far ends.
func (m *merging) mergeLists() (*graph.Adjacency, error) {
	edges, nodes := int(m.lists.Edges()), m.lists.Nodes
	a := &graph.Adjacency{}
	if err := m.newIndex("indptr", &a.Indptr, nodes+1, uint64(edges)); err != nil {
		return nil, err
	}
	if err := m.newIndex("far", &a.Far, edges, 0); err != nil {
		return nil, err
	}
	for i := range m.parts {
		if m.parts[i].far.U64 != nil {
			return nil, fmt.Errorf("found far ends of 64 bits, expected 32")
		}
	}
	return a, m.each(func(from, to int) error {
		own := indexPart(a.Indptr, from, to)
		if to == nodes {
			own = indexPart(a.Indptr, from, to+1)
		}
		m.lists.Offsets(from, from+own.Len()-1, own)
		at := m.lists.Start(from)
		return m.lists.Runs(from, to, func(part int, first, last uint64) {
			at += uint64(copy(a.Far.U32[at:], m.parts[part].far.U32[first:last]))
		})
	})
}

// transpose makes the lists of the other direction: of each of the far nodes, its edges by ascending id.
func (m *merging) transpose(a *graph.Adjacency, far int) (*graph.Adjacency, error) {
	edges := a.Far.Len()
	t := &graph.Adjacency{}
	for _, x := range []struct {
		name string
		to   *graph.Index
		n    int
		most int
	}{{"other_indptr", &t.Indptr, far + 1, edges}, {"other_far", &t.Far, edges, 0}, {"other_edge_id", &t.EdgeID, edges, edges}} {
		if err := m.newIndex(x.name, x.to, x.n, uint64(x.most)); err != nil {
			return nil, err
		}
	}
	if t.Indptr.U32 != nil {
		return t, transposed(a, t.Indptr.U32, t.Far.U32, t.EdgeID.U32)
	}
	return t, transposed(a, t.Indptr.U64, t.Far.U32, t.EdgeID.U64)
}

// transposed fills the lists of the other direction.
func transposed[T uint32 | uint64](a *graph.Adjacency, indptr []T, far []uint32, ids []T) error {
	next := make([]T, len(indptr)) // the place of the next edge of each node
	for _, v := range a.Far.U32 {
		if int(v) >= len(indptr)-1 {
			return fmt.Errorf("%w: found far end %d, expected one below %d", ErrDamaged, v, len(indptr)-1)
		}
		next[v+1]++
	}
	for v := 1; v < len(next); v++ {
		next[v] += next[v-1]
	}
	copy(indptr, next)
	for v := range a.Indptr.Len() - 1 {
		for id := a.Indptr.At(v); id < a.Indptr.At(v+1); id++ {
			at := &next[a.Far.U32[id]]
			far[*at], ids[*at] = uint32(v), T(id)
			*at++
		}
	}
	return nil
}

// mergeColumns merges the columns.
func (m *merging) mergeColumns() (all []*graph.Column, err error) {
	var first *edgePart
	for i := range m.parts {
		p := &m.parts[i]
		switch {
		case p.far.Len() == 0 && p.columns == nil:
		case first == nil:
			first = p
		case len(p.columns) != len(first.columns):
			return nil, fmt.Errorf("found %d columns in segment %d, expected %d as before", len(p.columns), i, len(first.columns))
		}
	}
	if first == nil {
		return nil, nil
	}
	for k, c := range first.columns {
		parts := make([]*graph.Column, len(m.parts))
		for i := range m.parts {
			p := &m.parts[i]
			if len(p.columns) == 0 {
				continue
			}
			parts[i] = p.columns[k]
			if x := p.columns[k]; x.Name != c.Name || x.DType != c.DType && c.Name != graph.PositionColumn || !slices.Equal(x.Shape, c.Shape) {
				return nil, fmt.Errorf("found the column %q of %s %v in segment %d, expected %q of %s %v", x.Name, x.DType, x.Shape, i, c.Name, c.DType, c.Shape)
			}
		}
		merge := m.mergeFixed
		if c.Ragged() || c.DType == graph.String {
			merge = m.mergeVariable
		}
		if c.Name == graph.PositionColumn {
			widen(parts)
			c = parts[slices.IndexFunc(parts, func(p *graph.Column) bool { return p != nil })]
		}
		if c.Categories != nil {
			if c, err = withLastCategories(c, parts); err != nil {
				return nil, err
			}
		}
		x, err := merge(c, parts)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// countEdges is the number of edges by what the base and the segments say of theirs, whose lists are not read.
func (m *merging) countEdges() (int, error) {
	n := last(m.lists.Base)
	for i := range m.lists.Later {
		l := &m.lists.Later[i]
		if n += last(l.Starts) - l.Dropped.Len(); n < 0 || n > maxCount {
			return 0, fmt.Errorf("%w: found %d edges after segment %d, expected 0 to %d", ErrDamaged, n, i+1, maxCount)
		}
	}
	return n, nil
}

// outlineColumns is the columns of the first part that has some, with the categories of the last one.
func (m *merging) outlineColumns() ([]*graph.Column, error) {
	i := slices.IndexFunc(m.parts, func(p edgePart) bool { return p.columns != nil })
	if i < 0 {
		return nil, nil
	}
	columns := slices.Clone(m.parts[i].columns)
	for k, c := range columns {
		if c.Categories == nil {
			continue
		}
		var parts []*graph.Column
		for _, p := range m.parts[i:] {
			if k < len(p.columns) {
				parts = append(parts, p.columns[k])
			}
		}
		var err error
		if columns[k], err = withLastCategories(c, parts); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// withLastCategories is a column with the categories of its last part, which begin with those of the parts before.
func withLastCategories(c *graph.Column, parts []*graph.Column) (*graph.Column, error) {
	whole := *c
	for i, p := range parts {
		switch {
		case p == nil:
			continue
		case p.Categories == nil || p.Categories.Rows < whole.Categories.Rows:
			return nil, fmt.Errorf("column %q: found fewer categories in segment %d, expected at least the %d before", c.Name, i, whole.Categories.Rows)
		}
		whole.Categories = p.Categories
	}
	return &whole, nil
}

// widen makes all positions 64 bits wide where some are.
func widen(parts []*graph.Column) {
	if !slices.ContainsFunc(parts, func(c *graph.Column) bool { return c != nil && c.DType == graph.Uint64 }) {
		return
	}
	for i, c := range parts {
		if c == nil || c.DType == graph.Uint64 {
			continue
		}
		wide := *c
		values := make([]uint64, c.Rows)
		for k, v := range graph.View[uint32](c.Values) {
			values[k] = uint64(v)
		}
		wide.DType, wide.Values = graph.Uint64, graph.Bytes(values)
		parts[i] = &wide
	}
}

// columnMeta is the entry of a merged column, which has no file yet.
func (m *merging) columnMeta(c *graph.Column) ColumnMeta {
	meta := ColumnMeta{File: ColumnDir(m.dir, c.Name) + "/" + FileName(c.Name) + ".npy", DType: c.DType.String(), Shape: append([]int{}, c.Shape...), Unit: string(c.Unit)}
	m.meta.Columns[c.Name] = meta
	return meta
}

// mergeFixed merges a column with rows of one size.
func (m *merging) mergeFixed(like *graph.Column, parts []*graph.Column) (*graph.Column, error) {
	c := *like
	c.Rows = int(m.lists.Edges())
	width := uint64(c.RowBytes())
	if err := m.slab(m.columnMeta(&c).File, c.Rows*int(width), func(b []byte) { c.Values = b }); err != nil {
		return nil, err
	}
	return &c, m.each(func(from, to int) error {
		at := m.lists.Start(from) * width
		return m.lists.Runs(from, to, func(part int, first, last uint64) {
			at += uint64(copy(c.Values[at:], parts[part].Values[first*width:last*width]))
		})
	})
}

// mergeVariable merges a column with rows of several sizes.
func (m *merging) mergeVariable(like *graph.Column, parts []*graph.Column) (*graph.Column, error) {
	c := *like
	c.Rows, c.Values, c.Offsets = int(m.lists.Edges()), nil, make([]graph.Index, len(like.Offsets))
	for k := range c.Offsets {
		c.Offsets[k].U64 = []uint64{0}
	}
	c.StringOffsets = graph.Index{}
	if c.DType == graph.String {
		c.StringOffsets.U64 = []uint64{0}
	}
	err := m.lists.Runs(0, m.lists.Nodes, func(part int, first, last uint64) {
		p, from, to, k := parts[part], int(first), int(last), 0
		for _, d := range p.Shape {
			if d != -1 {
				from, to = from*d, to*d
				continue
			}
			c.Offsets[k].U64 = appendOffsets(c.Offsets[k].U64, p.Offsets[k], from, to)
			from, to = int(p.Offsets[k].At(from)), int(p.Offsets[k].At(to))
			k++
		}
		size := c.DType.Size()
		if c.DType == graph.String {
			c.StringOffsets.U64 = appendOffsets(c.StringOffsets.U64, p.StringOffsets, from, to)
			from, to, size = int(p.StringOffsets.At(from)), int(p.StringOffsets.At(to)), 1
		}
		c.Values = append(c.Values, p.Values[from*size:to*size]...)
	})
	m.merged.bytes += c.Bytes()
	m.columnMeta(&c)
	return &c, err
}

// appendOffsets goes on with a list of offsets by the elements [from, to) of another.
func appendOffsets(to []uint64, x graph.Index, first, last int) []uint64 {
	shift := to[len(to)-1] - x.At(first)
	for i := first + 1; i <= last; i++ {
		to = append(to, x.At(i)+shift)
	}
	return to
}
