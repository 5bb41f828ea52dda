package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store/segment"
	"github.com/graphmill/graphmill/internal/vfs"
)

// A server opens each new version of a store that grows beside the one that it answers from. Merging all edges again would take a time that grows with the graph, so versions
// share the rows of edges: those of the base are maps of its files, and the whole lists that segments change follow in memory. A version writes only to rows that
// no earlier version reads. Lists are then not one after the other: a node has the rows from Indptr[v] to Ends[v] (graph.Adjacency), and an edge is named by its place, which is the same in
// far ends and columns. A list that moves leaves room for half as many edges again, so that most appends add rows at the end of a list in place.

// placed is the edges of one type in one version.
type placed struct {
	*places
	from, to []uint32 // the list of each near node
	used     int      // places up to which lists were written
	columns  []*graph.Column
}

// places are rows of edges, shared by the versions of a store that are open.
type places struct {
	rows []placeRows // far ends first, then the columns
	most int         // places that there is room for
	// slots are the ends of the room for the lists that moved.
	slots map[uint32]int
	last  *placed // the version that wrote last
	uses  atomic.Int32
}

// placeRows is the rows of one array.
type placeRows struct {
	width int
	file  []byte // the map of the base
	bytes []byte
	free  func() error
}

// readAtRandom tells the system that the maps of the base are read in no order (Store.ReadAtRandom).
func (p *places) readAtRandom() {
	for _, r := range p.rows {
		vfs.ReadAtRandom(r.file)
	}
}

// leave ends the use of a version. The last one frees the memory.
func (p *places) leave() error {
	if p.uses.Add(-1) == 0 {
		return p.free()
	}
	return nil
}

func (p *places) free() (err error) {
	for _, r := range p.rows {
		err = errors.Join(err, r.free())
	}
	return err
}

// placesRoom is the number of places behind n rows of the base: what is not used takes no memory.
func placesRoom(n int) int { return 3*n + 1<<20 }

// basePlaces are the edges of the base; nil where they have a form that is merged as a whole.
func (m *merging) basePlaces() (_ *placed, err error) {
	part := &m.parts[0]
	base := m.merged.base.Edges[m.name]
	if base == nil {
		base = &EdgesMeta{}
		if i := slices.IndexFunc(m.parts, func(p edgePart) bool { return p.columns != nil }); i >= 0 {
			part = &m.parts[i]
		}
	}
	if m.lists.Base.U64 != nil || part.far.U64 != nil || graph.FindColumn(part.columns, graph.PositionColumn) == nil || slices.ContainsFunc(part.columns, func(c *graph.Column) bool { return c.Ragged() || c.DType == graph.String }) {
		return nil, nil
	}
	files, widths := []string{base.Arrays["far"]}, []int{4}
	for _, c := range part.columns {
		files, widths = append(files, base.Columns[c.Name].File), append(widths, c.RowBytes())
	}
	n, page := base.Count, os.Getpagesize()
	p := &placed{places: &places{slots: map[uint32]int{}}, used: n, columns: part.columns}
	for i, file := range files {
		if file != "" { // the places after those of the file begin on a page of their own, because the last page of the map cannot be written
			start := int(m.starts[file])
			p.used = max(p.used, ((start+n*widths[i]+page-1)/page*page-start+widths[i]-1)/widths[i])
		}
	}
	if p.most = min(p.used+placesRoom(n), int(limits.Positions)); p.most < p.used {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.free())
		}
	}()
	for i, file := range files {
		if err := m.mapRows(p.places, file, widths[i]); err != nil {
			return nil, err
		}
	}
	if m.lists.Base.Len() > 0 {
		p.from, p.to = m.lists.Base.U32[:m.lists.Base.Len()-1], m.lists.Base.U32[1:]
	}
	return p, nil
}

// mapRows maps an array of the base with room behind it; "": there is none.
func (m *merging) mapRows(p *places, file string, width int) error {
	start := int(m.starts[file])
	bytes, free, err := direct.Array[byte](start + p.most*width)
	if err != nil {
		return err
	}
	rows := placeRows{width: width, bytes: bytes[start:], free: func() error { free(); return nil }}
	if file != "" {
		f, err := m.fs.Open(filepath.Join(m.Dir, filepath.FromSlash(file)))
		if err != nil {
			return errors.Join(err, rows.free())
		}
		info, err := f.Stat()
		if err == nil && info.Size() > int64(len(bytes)) {
			err = fmt.Errorf("%w: %s: found %d bytes, expected those of its rows", ErrDamaged, file, info.Size())
		}
		unmap := func() error { return nil }
		if err == nil && info.Size() > 0 {
			rows.file = bytes[:info.Size():info.Size()]
			unmap, err = f.MapAt(context.Background(), rows.file, 0)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return errors.Join(err, rows.free())
		}
		rows.free = func() error { err := unmap(); free(); return err }
	}
	p.rows = append(p.rows, rows)
	return nil
}

// placedBefore is the edges of the type in the version before, if this one goes on with them.
func (m *merging) placedBefore() *placed {
	old := m.merged.before
	if old == nil || old.merged == nil {
		return nil
	}
	p := old.merged.placed[m.name]
	if p == nil || p.last != p || !m.merged.goesOnWith(old.merged) {
		return nil
	}
	for i := old.merged.after; i < m.merged.after; i++ {
		if m.Meta.Segments[i].ChangedEdges[m.name] > 0 {
			return nil
		}
	}
	return p
}

// goesOnWith says whether a version has all files and segments of another.
func (m *merged) goesOnWith(old *merged) bool {
	if old.after > m.after || !reflect.DeepEqual(old.base.Segments[:old.after], m.base.Segments[:old.after]) {
		return false
	}
	for name, f := range old.manifest.Files {
		if name != MetaFile && m.manifest.Files[name] != f {
			return false
		}
	}
	return true
}

// placeEdges gives e the edges of the version before, or of the base, with the changes of the segments since. It says no where these have another form, or no room is left: then all is merged.
func (m *merging) placeEdges(e *graph.Edges) (bool, error) {
	old, first := m.old, 0
	if old != nil {
		first = m.merged.before.merged.after
	} else {
		var err error
		if old, err = m.basePlaces(); old == nil || err != nil {
			return false, err
		}
	}
	p := &placed{places: old.places, used: old.used}
	p.last = p // versions after old begin here, also if this one is not opened
	p.uses.Add(1)
	m.unmaps = append(m.unmaps, p.leave)
	far := m.Meta.Nodes[e.Type.Far(e.Primary)].Count
	if m.old == nil {
		if err := checkFar(m.parts[0].far, far); err != nil {
			return false, err
		}
	}
	var err error
	if p.columns, err = m.placedColumns(old, first); err != nil || p.columns == nil {
		return false, err
	}
	nodes := m.lists.Nodes
	lists, free, err := direct.Array[uint32](2*nodes + 1)
	if err != nil {
		return false, err
	}
	m.unmaps = append(m.unmaps, func() error { free(); return nil })
	indptr := lists[:nodes+1]
	p.from, p.to = indptr[:nodes], lists[nodes+1:]
	copyInBlocks(p.from, old.from)
	copyInBlocks(p.to, old.to)
	for i := first; i < m.merged.after; i++ {
		room, err := p.change(&m.lists.Later[i], &m.parts[i+1], far)
		if err != nil {
			return false, fmt.Errorf("segment %d: %w", i+1, err)
		}
		if !room {
			return false, nil
		}
	}
	indptr[nodes] = uint32(p.used)
	e.Count = p.used
	e.Adj[e.Primary] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Ends: graph.Index{U32: p.to}, Far: graph.Index{U32: graph.View[uint32](p.rows[0].bytes)[:p.used:p.used]}}
	for k, c := range p.columns {
		c.Rows = p.used
		c.Values = p.rows[k+1].bytes[: p.used*c.RowBytes() : p.used*c.RowBytes()]
	}
	e.Columns = p.columns
	e.NoPositions = false
	m.merged.placed[m.name] = p
	for _, r := range p.rows {
		m.merged.bytes += int64((p.used - m.parts[0].far.Len()) * r.width)
	}
	m.merged.bytes += 8 * int64(nodes)
	return true, nil
}

// copyInBlocks is copy, between whose blocks the goroutine can be stopped: a thread of low priority that cannot holds up all others when they collect garbage.
func copyInBlocks(to, from []uint32) {
	const block = 1 << 14
	for len(from) > 0 {
		n := copy(to, from[:min(block, len(from))])
		to, from = to[n:], from[n:]
	}
}

// placedColumns are the columns of the version before, with the last categories; nil where a segment since has others.
func (m *merging) placedColumns(old *placed, first int) (all []*graph.Column, err error) {
	for k, c := range old.columns {
		parts := []*graph.Column{c}
		for _, part := range m.parts[first+1:] {
			if part.far.Len() == 0 && len(part.columns) == 0 {
				continue
			}
			if len(part.columns) != len(old.columns) {
				return nil, nil
			}
			x := part.columns[k]
			if x.Name != c.Name || x.DType != c.DType || !slices.Equal(x.Shape, c.Shape) {
				return nil, nil
			}
			parts = append(parts, x)
		}
		whole := *c
		if c.Categories != nil {
			last, err := withLastCategories(c, parts)
			if err != nil {
				return nil, err
			}
			whole.Categories = last.Categories
		}
		all = append(all, &whole)
	}
	return all, nil
}

// change makes the changes of a segment to the lists, whose far ends are nodes below far. It says no where no room is left.
func (p *placed) change(list *segment.List, part *edgePart, far int) (bool, error) {
	if err := checkFar(part.far, far); err != nil {
		return false, err
	}
	for lost, got := 0, 0; ; {
		const none = ^uint64(0)
		v := none
		if lost < list.DroppedNodes.Len() {
			v = list.DroppedNodes.At(lost)
		}
		if got < list.Nodes.Len() {
			v = min(v, list.Nodes.At(got))
		}
		if v == none {
			return true, nil
		}
		var drops graph.Index
		if lost < list.DroppedNodes.Len() && list.DroppedNodes.At(lost) == v {
			drops = indexPart(list.Dropped, int(list.DroppedStarts.At(lost)), int(list.DroppedStarts.At(lost+1)))
			lost++
		}
		var first, last int
		if got < list.Nodes.Len() && list.Nodes.At(got) == v {
			first, last = int(list.Starts.At(got)), int(list.Starts.At(got+1))
			got++
		}
		if room, err := p.changeList(uint32(v), drops, part, first, last); err != nil || !room {
			return room, err
		}
	}
}

// checkFar refuses far ends that are no nodes below far.
func checkFar(x graph.Index, far int) error {
	if x.U64 != nil {
		return fmt.Errorf("found far ends of 64 bits, expected 32")
	}
	for i, v := range x.U32 {
		if int(v) >= far {
			return fmt.Errorf("%w: found far end %d at %d, expected one below %d", ErrDamaged, v, i, far)
		}
	}
	return nil
}

// changeList drops the edges at some places of the list of a node, and then adds the rows [first, last) of a part.
func (p *placed) changeList(v uint32, drops graph.Index, part *edgePart, first, last int) (bool, error) {
	from, to := int(p.from[v]), int(p.to[v])
	slot, moved := p.slots[v]
	if !moved {
		slot = to
	}
	kept := to - from - drops.Len()
	if n := drops.Len(); kept < 0 || n > 0 && drops.At(n-1) >= uint64(to-from) {
		return false, fmt.Errorf("%w: found dropped edges up to place %d of node %d, expected places of a list of %d edges", ErrDamaged, drops.At(n-1), v, to-from)
	}
	if drops.Len() > 0 || to+last-first > slot {
		n := kept + last - first
		room := n + n/2 + 4
		if p.used+room > p.most {
			return false, nil
		}
		at := p.used
		run := from
		for i := range drops.Len() + 1 {
			end := to
			if i < drops.Len() {
				end = from + int(drops.At(i))
			}
			for _, r := range p.rows {
				copy(r.bytes[at*r.width:], r.bytes[run*r.width:end*r.width])
			}
			at += end - run
			run = end + 1
		}
		from, to = p.used, at
		p.used += room
		p.slots[v] = p.used
	}
	copy(graph.View[uint32](p.rows[0].bytes)[to:], part.far.U32[first:last])
	for k, c := range part.columns {
		r := &p.rows[k+1]
		copy(r.bytes[to*r.width:], c.Values[first*r.width:last*r.width])
	}
	p.from[v], p.to[v] = uint32(from), uint32(to+last-first)
	return true, nil
}
