package unigraph

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/csvtext"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// source is the table of the rows of a node or edge type of a store: its columns under their names, and ids as
// strings.
type source struct {
	name  string // for errors
	rows  int
	cols  []*widening.Column
	wide  []widening.Write // of features that the store holds in pieces; nil for others
	ids   []ids
	bytes int64
}

// ids is a column of the original ids of nodes: of the rows themselves, or of one end of edges.
type ids struct {
	name string
	of   *graph.Nodes
	// For an end of edges, indexed by edge id: the offsets of each node's edges in near if the end is the near one,
	// and otherwise the nodes in far. If both are empty, row r is node r.
	near, far graph.Index
}

// nodeSource is the table of a node type.
func nodeSource(n *graph.Nodes, columns []*widening.Column) *source {
	return newSource(n.Type, n.Count, columns, ids{name: idName, of: n})
}

// edgeSource is the table of an edge type, in the order of edge ids.
func edgeSource(g *graph.Graph, e *graph.Edges, columns []*widening.Column) *source {
	a := e.Adj[e.Primary]
	near, far := ids{near: a.Indptr}, ids{far: a.Far}
	near.of, far.of = g.Nodes[g.NodeType(e.Type.Near(e.Primary))], g.Nodes[g.NodeType(e.Type.Far(e.Primary))]
	if e.Primary == graph.In {
		near.name, far.name = targetName, sourceName
		return newSource(e.Type.String(), e.Count, columns, far, near)
	}
	near.name, far.name = sourceName, targetName
	return newSource(e.Type.String(), e.Count, columns, near, far)
}

func newSource(name string, rows int, cols []*widening.Column, of ...ids) *source {
	s := &source{name: name, rows: rows, ids: of}
	for _, c := range cols {
		if c.Name == graph.PositionColumn {
			continue
		}
		var wide widening.Write
		if c.Wide() {
			wide = c.Writer(c.DType, nil)
		}
		s.cols, s.wide = append(s.cols, c), append(s.wide, wide)
		s.bytes += c.RowsBytes()
	}
	s.bytes += int64(len(of)) * int64(rows) * 8
	return s
}

// columns returns all columns of the source, ids first.
func (s *source) columns() []tableColumn {
	var out []tableColumn
	for _, x := range s.ids {
		out = append(out, tableColumn{x.name, table.Column{Name: x.name, DType: graph.String, ID: true}})
	}
	for _, c := range s.cols {
		out = append(out, tableColumn{c.Name, table.Column{Name: c.Name, DType: c.DType, Shape: c.Shape}})
	}
	return out
}

// Fields implements table.Table.
func (s *source) Fields() []table.Field {
	var out []table.Field
	for _, c := range s.columns() {
		out = append(out, table.Field{Name: c.Name, DType: c.From.DType, Shape: c.From.Shape})
	}
	return out
}

// Files implements table.Table. The table has no files.
func (s *source) Files() []string { return nil }

// Bytes implements table.Table.
func (s *source) Bytes() int64 { return s.bytes }

// Where implements table.Table.
func (s *source) Where(row uint64, _ string) string { return fmt.Sprintf("%s: row %d", s.name, row) }

// The rows of a chunk have about 1 MiB of values. Their number is a multiple of 8, so that the values of any column
// start at an 8-byte boundary.
const (
	chunkBytes = 1 << 20
	chunkRows  = 1 << 14
)

func (s *source) step() int {
	width := max(1, s.bytes/int64(max(s.rows, 1)))
	return max(8, int(min(chunkRows, chunkBytes/width))&^7)
}

// Scan implements table.Table. It accepts all columns of the source, or none. The chunks are the same in both cases.
func (s *source) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	step := s.step()
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for w := range max(threads, 1) {
		g.Go(func() error {
			r := sourceReader{chunk: table.Chunk{Columns: make([]table.Vector, len(columns))}, ends: map[*graph.Column][]uint32{}}
			r.ids, r.rows = make([]idBuffer, len(s.ids)), make([][]byte, len(s.cols))
			for ctx.Err() == nil {
				from := int(next.Add(1)-1) * step
				if from >= s.rows {
					return nil
				}
				to := min(s.rows, from+step)
				r.chunk.First, r.chunk.Rows = uint64(from), to-from
				if len(columns) > 0 {
					r.read(s, from, to)
				}
				if err := fn(w, &r.chunk); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	return uint64(s.rows), nil
}

// sourceReader holds the buffers of a worker.
type sourceReader struct {
	chunk table.Chunk
	ids   []idBuffer
	ends  map[*graph.Column][]uint32
	rows  [][]byte // of features that the store holds in pieces
}

// idBuffer holds the ids of a chunk.
type idBuffer struct {
	data []byte
	ends []uint32
}

func (r *sourceReader) read(s *source, from, to int) {
	for i := range s.ids {
		r.ids[i].read(&s.ids[i], from, to)
		r.chunk.Columns[i] = table.Vector{Data: r.ids[i].data, Ends: r.ids[i].ends}
	}
	for i, c := range s.cols {
		if wide := s.wide[i]; wide != nil {
			n := (to - from) * c.RowBytes()
			r.rows[i] = slices.Grow(r.rows[i][:0], n)[:n]
			wide.Range(r.rows[i], c.RowBytes(), from, to)
			r.chunk.Columns[len(s.ids)+i] = table.Vector{Data: r.rows[i]}
			continue
		}
		r.chunk.Columns[len(s.ids)+i] = r.vector(c.Column, from, to)
	}
}

// vector returns the rows [from, to) of a column, as a view if the store has them in the same form.
func (r *sourceReader) vector(c *graph.Column, from, to int) table.Vector {
	v := table.Vector{}
	k := 0
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		x := c.Offsets[k]
		k++
		lengths := make([]uint32, to-from)
		for i := range lengths {
			lengths[i] = uint32(x.At(from+i+1) - x.At(from+i))
		}
		v.Lengths = append(v.Lengths, lengths)
		from, to = int(x.At(from)), int(x.At(to))
	}
	if c.DType != graph.String {
		v.Data = aligned(c.Values[from*c.DType.Size():to*c.DType.Size()], from*c.DType.Size())
		return v
	}
	base := c.StringOffsets.At(from)
	ends := r.ends[c][:0]
	for i := from; i < to; i++ {
		ends = append(ends, uint32(c.StringOffsets.At(i+1)-base))
	}
	r.ends[c] = ends
	v.Data, v.Ends = c.Values[base:c.StringOffsets.At(to)], ends
	return v
}

// aligned returns b, which starts at an offset after an 8-byte boundary, moved to such a boundary.
func aligned(b []byte, at int) []byte {
	if at%8 == 0 {
		return b
	}
	return append(make([]byte, 0, len(b)+8), b...)
}

// read reads the ids of the rows [from, to).
func (b *idBuffer) read(x *ids, from, to int) {
	b.data, b.ends = b.data[:0], b.ends[:0]
	if x.far.Len() > 0 {
		for i := from; i < to; i++ {
			b.add(x.of, int(x.far.At(i)))
		}
		return
	}
	if x.near.Len() == 0 {
		for i := from; i < to; i++ {
			b.add(x.of, i)
		}
		return
	}
	// Find the node that has edge from.
	lo, hi := 0, x.near.Len()-1
	for lo+1 < hi {
		if mid := (lo + hi) / 2; x.near.At(mid) <= uint64(from) {
			lo = mid
		} else {
			hi = mid
		}
	}
	end := x.near.At(lo + 1)
	for i := from; i < to; i++ {
		if uint64(i) < end {
			if i > from { // the same node as the edge before has
				last, start := len(b.ends)-1, 0
				if last > 0 {
					start = int(b.ends[last-1])
				}
				b.data = append(b.data, b.data[start:b.ends[last]]...)
				b.ends = append(b.ends, uint32(len(b.data)))
				continue
			}
		} else {
			for uint64(i) >= end {
				lo++
				end = x.near.At(lo + 1)
			}
		}
		b.add(x.of, lo)
	}
}

// add appends the id of a node: its original id, or its number as decimal text.
func (b *idBuffer) add(n *graph.Nodes, node int) {
	switch {
	case n.IDs == nil:
		b.data = strconv.AppendUint(b.data, uint64(node), 10)
	case n.IDs.DType == graph.String:
		b.data = append(b.data, n.IDs.Text(node)...)
	default:
		b.data = csvtext.AppendNumber(b.data, n.IDs.DType, n.IDs.Values, node)
	}
	b.ends = append(b.ends, uint32(len(b.data)))
}
