package transform

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// edgeTable is the table of the edges of a type, in the order of their ids. It implements table.Table, but leaves out row
// numbers: the numbers of edges that are left out, and of self-loops that are not added. The number of rows that Scan returns
// counts them.
type edgeTable struct {
	rows
	t        *Transform
	e        *graph.Edges
	src, dst int // node types
	loops    bool
	added    atomic.Uint64
	merged   atomic.Uint64
}

// ask returns the columns that a build asks for.
func (x *edgeTable) ask() []table.Column {
	out := x.rows.ask()
	if x.t.o.Merge == MergeCount {
		out = append(out, table.Column{Name: CountColumn, DType: graph.Uint32})
	}
	return out
}

// Fields implements table.Table.
func (x *edgeTable) Fields() []table.Field {
	var out []table.Field
	for _, c := range x.ask() {
		out = append(out, table.Field{Name: c.Name, DType: c.DType, Shape: c.Shape})
	}
	return out
}

// Files implements table.Table.
func (x *edgeTable) Files() []string { return []string{"the graph"} }

// Bytes implements table.Table.
func (x *edgeTable) Bytes() int64 { return bytesOf(x.columns, x.count) }

// Where implements table.Table.
func (x *edgeTable) Where(row uint64, _ string) string { return rowPlace(x.e.Type.String(), row) }

// unit is a run of near nodes whose edges are a chunk.
type unit struct{ from, to int }

// units cuts the near nodes into runs of about chunkRows edges and nodes.
func (x *edgeTable) units() ([]unit, error) {
	a, nodes := x.e.Adj[x.e.Primary], x.t.nodes[x.near()].count
	var out []unit
	for from := 0; from < nodes; {
		to, limit := from, a.Indptr.At(from)+chunkRows
		for to < nodes && to-from < chunkRows && (to == from || a.Indptr.At(to+1) <= limit) {
			to++
		}
		out = append(out, unit{from, to})
		if err := x.t.touched(offsetBytes * int64(to-from)); err != nil {
			return nil, err
		}
		from = to
	}
	return out, nil
}

// offsetBytes is the most that the offset of a node takes.
const offsetBytes = 8

// Scan implements table.Table. The number of the first edge of near node v is the number of edges and nodes before it, so
// that each node has a number for the self-loop it may get.
func (x *edgeTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	x.added.Store(0)
	x.merged.Store(0)
	units, err := x.units()
	if err != nil {
		return 0, err
	}
	err = eachUnit(ctx, len(units), threads, func() func(worker, unit int) error {
		s := &edgeScan{edgeTable: x, columns: columns, vectors: x.vectors(columns)}
		s.chunk.Columns = make([]table.Vector, len(columns))
		return func(worker, unit int) error {
			if err := s.read(units[unit]); err != nil {
				return err
			}
			var err error
			if s.chunk.Rows > 0 {
				err = fn(worker, &s.chunk)
			}
			u := units[unit]
			return errors.Join(err, x.t.touched(offsetBytes*int64(u.to-u.from)+chunkBytes(&s.chunk)))
		}
	})
	if err != nil {
		return 0, err
	}
	return uint64(x.count + x.t.nodes[x.near()].count), nil
}

// edgeScan is the state of one worker.
type edgeScan struct {
	*edgeTable
	columns []table.Column
	vectors []vector
	chunk   table.Chunk
	list    []edge
	order   []int // indices in list, by far end
}

// edge is an edge of a node.
type edge struct {
	far  uint64
	id   int
	gone bool   // merged into an earlier one
	next int    // index in the list of the next edge with the same ends, or -1
	n    uint32 // number of edges merged into it, and itself
}

// read makes the chunk of a unit.
func (s *edgeScan) read(u unit) error {
	for i := range s.vectors {
		s.vectors[i].reset()
	}
	a := s.e.Adj[s.e.Primary]
	near, far := s.t.nodes[s.near()], s.t.nodes[s.far()]
	s.chunk.First, s.chunk.Rows = a.Indptr.At(u.from)+uint64(u.from), 0
	for v := u.from; v < u.to; v++ {
		if near.to != nil && near.to[v] == gone {
			continue
		}
		s.list = s.list[:0]
		loop := false
		for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
			f := a.Far.At(int(i))
			loop = loop || f == uint64(v)
			s.list = append(s.list, edge{far: f, id: int(i), next: -1, n: 1})
		}
		if s.t.o.Merge != MergeNone {
			s.merge()
		}
		for i := range s.list {
			if s.list[i].gone {
				continue
			}
			if err := s.row(near.newID(v), far.newID(int(s.list[i].far)), i); err != nil {
				return err
			}
		}
		if s.loops && !loop {
			s.added.Add(1)
			if err := s.row(near.newID(v), near.newID(v), -1); err != nil {
				return err
			}
		}
	}
	for i := range s.vectors {
		s.chunk.Columns[i] = s.vectors[i].vector()
		s.chunk.Columns[i].Data = aligned(s.chunk.Columns[i].Data)
	}
	return nil
}

// newID is the id of a node that is kept.
func (t *nodeTable) newID(v int) uint64 {
	if t.to == nil {
		return uint64(v)
	}
	return uint64(t.to[v])
}

// merge finds the first of each set of equal edges in the list.
func (s *edgeScan) merge() {
	s.order = s.order[:0]
	ascends := true
	for i := range s.list {
		s.order = append(s.order, i)
		ascends = ascends && (i == 0 || s.list[i].far > s.list[i-1].far)
	}
	if ascends {
		return
	}
	order := s.order
	compare := func(i, j int) int {
		c := cmp.Compare(s.list[i].far, s.list[j].far)
		if c == 0 && s.t.o.Merge == MergeEqual {
			c = compareRows(s.rows.columns, s.list[i].id, s.list[j].id)
		}
		return c
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	first, last := order[0], order[0]
	for _, i := range order[1:] {
		if compare(i, first) != 0 {
			first, last = i, i
			continue
		}
		s.list[last].next, s.list[i].gone, last = i, true, i
		s.list[first].n++
		s.merged.Add(1)
	}
}

// row appends an edge, by its index in the list; -1 is a self-loop that is added.
func (s *edgeScan) row(near, far uint64, at int) error {
	s.chunk.Rows++
	src, dst := far, near
	if s.e.Primary == graph.Out {
		src, dst = near, far
	}
	for i := range s.vectors {
		v := &s.vectors[i]
		switch name := s.columns[i].Name; {
		case name == srcField:
			v.addU64(src)
		case name == dstField:
			v.addU64(dst)
		case name == CountColumn && s.t.o.Merge == MergeCount:
			n := uint32(1)
			if at >= 0 {
				n = s.list[at].n
			}
			v.out.Data = binary.LittleEndian.AppendUint32(v.out.Data, n)
		case at < 0:
			v.blank()
		default:
			v.add(s.list[at].id)
			if s.t.o.Merge == MergeSum && s.list[at].n > 1 && sums(v.c) {
				if err := s.sum(v, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sums says whether MergeSum adds up the values of a column.
func sums(c *graph.Column) bool {
	return c != nil && !c.Ragged() && (c.DType.IsInt() || c.DType == graph.Float32 || c.DType == graph.Float64) &&
		c.Unit == "" && c.Categories == nil && c.Name[0] != '#'
}

// sum replaces the last row of a vector by the sum of the rows of all edges that are merged into the one at an index.
func (s *edgeScan) sum(v *vector, at int) error {
	c, le := v.c, binary.LittleEndian
	size, width := c.DType.Size(), c.RowValues()
	out := v.out.Data[len(v.out.Data)-c.RowBytes():]
	for k := range width {
		var f float64
		var n sum128
		for i := at; i >= 0; i = s.list[i].next {
			b := c.Row(s.list[i].id)[k*size:]
			switch c.DType {
			case graph.Float32:
				f += float64(math.Float32frombits(le.Uint32(b)))
			case graph.Float64:
				f += math.Float64frombits(le.Uint64(b))
			default:
				n.add(integer(b, c.DType))
			}
		}
		switch c.DType {
		case graph.Float32:
			le.PutUint32(out[k*size:], math.Float32bits(float32(f)))
		case graph.Float64:
			le.PutUint64(out[k*size:], math.Float64bits(f))
		default:
			if !n.put(out[k*size:][:size], c.DType) {
				return fmt.Errorf("edge type %s: found a sum of column %q outside the range of %s, expected one in it; import the column with a wider dtype", s.e.Type, c.Name, c.DType)
			}
		}
	}
	return nil
}

// sum128 is a sum of integers that cannot overflow.
type sum128 struct{ hi, lo uint64 }

// integer is a value, with the upper half of its 128 bits.
func integer(b []byte, d graph.DType) sum128 {
	le := binary.LittleEndian
	signed := func(v int64) sum128 { return sum128{uint64(v >> 63), uint64(v)} }
	switch d {
	case graph.Int8:
		return signed(int64(int8(b[0])))
	case graph.Int16:
		return signed(int64(int16(le.Uint16(b))))
	case graph.Int32:
		return signed(int64(int32(le.Uint32(b))))
	case graph.Int64:
		return signed(int64(le.Uint64(b)))
	case graph.Uint8:
		return sum128{0, uint64(b[0])}
	case graph.Uint16:
		return sum128{0, uint64(le.Uint16(b))}
	case graph.Uint32:
		return sum128{0, uint64(le.Uint32(b))}
	}
	return sum128{0, le.Uint64(b)}
}

func (s *sum128) add(x sum128) {
	lo := s.lo + x.lo
	s.hi += x.hi
	if lo < s.lo {
		s.hi++
	}
	s.lo = lo
}

// put writes the sum if the dtype can hold it.
func (s *sum128) put(out []byte, d graph.DType) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], s.lo)
	copy(out, b[:])
	return integer(out, d) == *s
}
