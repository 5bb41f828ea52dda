package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
)

// Changes is the rows of a store whose values a segment changes.
type Changes struct {
	// NodeRows and EdgeRows are stores with the new values: their types have a row for each that changes, and those columns that do. These have the dtypes, shapes and units of
	// the columns of the store, and categories that begin with its.
	NodeRows, EdgeRows *Store
	// Nodes are, by node type, the node of the store that each row of NodeRows changes; each node once.
	Nodes map[string][]uint64
	// Edges are, by edge type, the edges of the store that change.
	Edges map[string]ChangedEdges
	Made  Made
}

// ChangedEdges are edges of one type. IDs, ascending, are those in the store, and Rows those of their values in Changes.EdgeRows.
type ChangedEdges struct{ IDs, Rows []uint64 }

// ChangeSegment writes a segment that changes values of columns to w, which Amend has begun from the version of the store that s has open, as OpenMerged opens all of it. It
// returns the metadata of the new version, for Seal.
//
// The bytes of columns change in the files that have them (ReplacedFile): of columns with rows of one size the blocks with changed rows alone, unless these are half of all or lie in too many
// places, and other columns as a whole.
func (s *Store) ChangeSegment(ctx context.Context, w *Writer, c Changes) (*Meta, error) {
	x := &changing{appending: s.newSegment(ctx, w, c.Made), from: c.NodeRows}
	x.segment.ChangedNodes, x.segment.ChangedEdges, x.segment.Replaced = map[string]int{}, map[string]int{}, map[string]ReplacedFile{}
	for _, pieces := range s.shards {
		x.pieces += len(pieces)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Nodes)) {
		if err := x.changeNodes(name, c.Nodes[name]); err != nil {
			return nil, fmt.Errorf("node type %s: %w", name, err)
		}
	}
	x.from = c.EdgeRows
	for _, name := range slices.Sorted(maps.Keys(c.Edges)) {
		if err := x.changeEdges(name, c.Edges[name]); err != nil {
			return nil, fmt.Errorf("edge type %s: %w", name, err)
		}
	}
	return x.withSegment(), nil
}

// changing is a run of ChangeSegment.
type changing struct {
	*appending
	from   *Store
	pieces int // in which files lie, with those of the segment
}

// changedRow is a row of a column, and the row of the new values that it gets.
type changedRow struct{ at, from int }

// sortRows sorts rows by their places.
func sortRows(rows []changedRow) {
	slices.SortFunc(rows, func(a, b changedRow) int { return cmp.Compare(a.at, b.at) })
}

// changeNodes changes rows of the nodes of a type.
func (x *changing) changeNodes(name string, nodes []uint64) error {
	if len(nodes) == 0 {
		return nil
	}
	rows := make([]changedRow, len(nodes))
	for i, v := range nodes {
		rows[i] = changedRow{int(v), i}
	}
	sortRows(rows)
	old, new := x.Graph.Nodes[x.Graph.NodeType(name)], x.from.Graph.Nodes[x.from.Graph.NodeType(name)]
	x.segment.ChangedNodes[name] = len(nodes)
	return x.changeColumns(x.Meta.Nodes[name].Columns, old.Columns, new.Columns, x.from.Meta.Nodes[name].Columns, rows)
}

// changeEdges changes rows of the edges of a type, in the parts that have them.
func (x *changing) changeEdges(name string, c ChangedEdges) error {
	if len(c.IDs) == 0 {
		return nil
	}
	of := func(g *graph.Graph) *graph.Edges {
		return g.Edges[slices.IndexFunc(g.Edges, func(e *graph.Edges) bool { return e.Type.String() == name })]
	}
	old, new := of(x.Graph), of(x.from.Graph)
	newMetas := x.from.Meta.Edges[name].Columns
	x.segment.ChangedEdges[name] = len(c.IDs)
	if !x.merged.changes(name) {
		rows := make([]changedRow, len(c.IDs))
		for i, id := range c.IDs {
			rows[i] = changedRow{int(id), int(c.Rows[i])}
		}
		return x.changeColumns(x.Meta.Edges[name].Columns, old.Columns, new.Columns, newMetas, rows)
	}
	m := x.merged.types[name]
	rows, err := m.partRows(old.Adj[old.Primary].Indptr, c)
	if err != nil {
		return err
	}
	for i := range m.parts {
		metas := x.merged.base.Edges
		if i > 0 {
			metas = x.merged.base.Segments[i-1].Edges
		}
		if m.parts[i].columns == nil {
			continue
		}
		sortRows(rows[i])
		if err := x.changeColumns(metas[name].Columns, m.parts[i].columns, new.Columns, newMetas, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// partRows are the rows of changed edges in each part.
func (m *merging) partRows(indptr graph.Index, c ChangedEdges) ([][]changedRow, error) {
	rows := make([][]changedRow, len(m.parts))
	node := 0
	for k := 0; k < len(c.IDs); {
		node += sort.Search(indptr.Len()-1-node, func(i int) bool { return indptr.At(node+i+1) > c.IDs[k] })
		at := indptr.At(node)
		if err := m.lists.Runs(node, node+1, func(part int, first, last uint64) {
			for ; k < len(c.IDs) && c.IDs[k] < at+last-first; k++ {
				rows[part] = append(rows[part], changedRow{int(first + c.IDs[k] - at), int(c.Rows[k])})
			}
			at += last - first
		}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// changeColumns changes rows of columns, whose files metas names, to those of new ones. Where a column has new categories, they become those of the column whatever rows change.
func (x *changing) changeColumns(metas map[string]ColumnMeta, old, new []*graph.Column, newMetas map[string]ColumnMeta, rows []changedRow) error {
	for _, c := range new {
		if c.Name == graph.PositionColumn {
			continue
		}
		had := graph.FindColumn(old, c.Name)
		if had == nil || had.DType != c.DType || !slices.Equal(had.Shape, c.Shape) || had.Unit != c.Unit || (had.Categories == nil) != (c.Categories == nil) {
			return fmt.Errorf("column %q: found another dtype, shape or unit than in the store, expected the same; write the table with these", c.Name)
		}
		if err := x.changeColumn(metas[c.Name], had, c, newMetas[c.Name], rows); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	return nil
}

// changeColumn changes rows of a column.
func (x *changing) changeColumn(meta ColumnMeta, old, new *graph.Column, newMeta ColumnMeta, rows []changedRow) error {
	if c := new.Categories; c != nil && c.Rows > old.Categories.Rows {
		texts := newMeta.Categories
		for i, file := range []string{meta.Categories.File, meta.Categories.StringOffsets} {
			to := x.dir + "/" + file
			if err := x.copyFile(x.from, []string{texts.File, texts.StringOffsets}[i], to); err != nil {
				return err
			}
			x.segment.Replaced[file] = ReplacedFile{File: to}
		}
	}
	switch {
	case len(rows) == 0:
		return nil
	case old.Ragged() || old.DType == graph.String:
		return x.replaceVariable(meta, old, new, rows)
	}
	return x.replaceFixed(meta.File, old, new, rows)
}

// mostPieces is the number of pieces in which the files of a store may lie that are read as others: a process has some 65,000 maps.
const mostPieces = 1 << 14

// replaceFixed replaces the bytes of rows of one size in a file.
func (x *changing) replaceFixed(file string, old, new *graph.Column, rows []changedRow) (err error) {
	f, size, start, err := x.openArray(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	block, width := limits.ShardAlign, int64(old.RowBytes())
	var blocks []int64
	places := 0
	for _, r := range rows {
		first := start + int64(r.at)*width
		for b := first / block; b <= (first+width-1)/block; b++ {
			if n := len(blocks); n > 0 && blocks[n-1] == b {
				continue
			}
			if n := len(blocks); n == 0 || blocks[n-1] != b-1 {
				places++
			}
			blocks = append(blocks, b)
		}
	}
	all := (size + block - 1) / block
	r := ReplacedFile{File: x.dir + "/" + file}
	if 2*int64(len(blocks)) < all && x.pieces+2*places <= mostPieces {
		x.pieces += 2 * places
		r = ReplacedFile{File: x.dir + "/" + file + ".blocks", Blocks: x.dir + "/" + file + ".numbers.npy"}
		var numbers []byte
		for _, b := range blocks {
			numbers = binary.LittleEndian.AppendUint64(numbers, uint64(b))
		}
		if err := x.writeArray(r.Blocks, numbers, true); err != nil {
			return err
		}
	} else {
		blocks = blocks[:0]
		for b := range all {
			blocks = append(blocks, b)
		}
	}
	x.segment.Replaced[file] = r
	out, err := x.w.Create(r.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buf := make([]byte, block)
	for _, b := range blocks {
		if err := context.Cause(x.ctx); err != nil {
			return err
		}
		from := b * block
		part := buf[:min(block, size-from)]
		if _, err := f.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for len(rows) > 0 && start+int64(rows[0].at+1)*width <= from {
			rows = rows[1:]
		}
		for _, r := range rows {
			at := start + int64(r.at)*width - from
			if at >= int64(len(part)) {
				break
			}
			value := new.Values[int64(r.from)*width:][:width]
			copy(part[max(at, 0):], value[max(-at, 0):])
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// replaceVariable replaces the files of a column with rows of several sizes by those with the changed rows.
func (x *changing) replaceVariable(meta ColumnMeta, old, new *graph.Column, rows []changedRow) (err error) {
	c, err := x.w.Column(path.Dir(x.dir+"/"+meta.File), old.Name, old.DType, old.Shape)
	if err != nil {
		return err
	}
	next := 0
	for _, r := range rows {
		if err == nil {
			err = context.Cause(x.ctx)
		}
		if err == nil {
			err = c.appendRows(old, next, r.at)
		}
		if err == nil {
			err = c.appendRows(new, r.from, r.from+1)
		}
		next = r.at + 1
	}
	if err == nil {
		err = c.appendRows(old, next, old.Rows)
	}
	made, closed := c.Close()
	if err := errors.Join(err, closed); err != nil {
		return err
	}
	meta.Categories = nil
	for i, file := range meta.Files() {
		x.segment.Replaced[file] = ReplacedFile{File: made.Files()[i]}
	}
	return nil
}

// appendRows adds rows of another column with the same dtype and shape.
func (c *ColumnWriter) appendRows(of *graph.Column, from, to int) error {
	k := 0
	for _, d := range of.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		if err := c.appendOffsets(c.offsets[k], &c.ends[k], of.Offsets[k], from, to); err != nil {
			return err
		}
		from, to = int(of.Offsets[k].At(from)), int(of.Offsets[k].At(to))
		k++
	}
	size := of.DType.Size()
	if c.strings != nil {
		if err := c.appendOffsets(c.strings, &c.nbytes, of.StringOffsets, from, to); err != nil {
			return err
		}
		from, to, size = int(of.StringOffsets.At(from)), int(of.StringOffsets.At(to)), 1
	}
	_, err := c.values.Write(of.Values[from*size : to*size])
	return err
}

// appendOffsets goes on with offsets, of which end is the last, by the elements [from, to) of a list.
func (c *ColumnWriter) appendOffsets(a *Array, end *uint64, x graph.Index, from, to int) error {
	first := *end
	for at := from; at < to; {
		b := c.scratch[:0]
		for ; at < to && len(b) < 1<<16; at++ {
			*end = first + x.At(at+1) - x.At(from)
			b = binary.LittleEndian.AppendUint64(b, *end)
		}
		c.scratch = b
		if _, err := a.Write(b); err != nil {
			return err
		}
	}
	return nil
}
