package assemble

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// pieceBytes is about the number of bytes of the rows of a cutTable that are stored and read together.
const pieceBytes = 1 << 20

// cut replaces the tables that edge types filter with Own by tables of the rows that each filter keeps. Rows wait for
// their piece in buffers of an eighth of the extents' share of the memory in all, and go to a temporary file; 40 bytes
// are held for each piece.
func (b *builder) cut(ctx context.Context) error {
	edges := b.in.Edges
	for i := range edges {
		w := edges[i].Where
		if w == nil || !w.Own {
			continue
		}
		var of []*Edges
		for k := i; k < len(edges); k++ {
			if x := edges[k].Where; x != nil && x.Own && x.Column == w.Column && edges[k].Table == edges[i].Table {
				of = append(of, &edges[k])
			}
		}
		if err := b.stage("cut", "", func() (uint64, error) { return b.cutTable(ctx, w.Column, of) }); err != nil {
			return err
		}
	}
	return nil
}

// cutTable cuts the table of edge types that filter the same column of it.
func (b *builder) cutTable(ctx context.Context, column string, of []*Edges) (uint64, error) {
	spill := extsort.NewSpill(b.fs, b.tmp, 0)
	b.later(spill.Close)
	early := extsort.NewSpill(b.fs, b.tmp, 0)
	c := &cutter{spill: spill, from: of[0].Table, limit: max(b.budget.work/16, pieceBytes), index: map[string]*cutTable{}}
	for _, e := range of {
		for _, col := range append([]table.Column{e.Src, e.Dst}, e.Columns...) {
			if col.Name == "" || slices.Contains(col.Shape, -1) || col.DType == graph.String && len(col.Shape) > 0 {
				return 0, fmt.Errorf("edge type %s: found the column %q of shape %v, expected a column of fixed shape to cut the table by %s; choose a column with one value per row", e.Type, col.Name, col.Shape, column)
			}
			if findColumn(c.columns, &col) < 0 {
				c.columns = append(c.columns, col)
			}
		}
	}
	for _, e := range of {
		t := c.index[e.Where.Value]
		if t == nil {
			t = &cutTable{cutter: c, vectors: make([]table.Vector, len(c.columns))}
			c.index[e.Where.Value] = t
			c.tables = append(c.tables, t)
		}
		e.Table, e.Where = t, nil
	}
	order := newInOrder(early, nil)
	order.sink = c.take
	asked := append([]table.Column{{Name: column, DType: graph.String}}, c.columns...)
	var done atomic.Int64
	rows, err := c.from.Scan(ctx, asked, b.budget.threads, func(_ int, x *table.Chunk) error {
		if x.Absent != nil {
			return fmt.Errorf("%s: found an empty cell in a table that is cut, expected none; fill the cell", c.from.Where(x.First, ""))
		}
		b.scanned("cut", c.from, x, 0, &done)
		return order.put(x.First, uint64(x.Rows), x.Columns)
	})
	if err == nil {
		for _, t := range c.tables {
			if err = t.flush(); err != nil {
				break
			}
			t.numbers, t.vectors = nil, nil
		}
	}
	c.buf = nil
	return rows, joinErr(err, early.Close())
}

// cutter cuts the rows of a table by a column.
type cutter struct {
	spill   *extsort.Spill
	from    table.Table
	columns []table.Column // of the tables that are made
	tables  []*cutTable
	index   map[string]*cutTable
	row     uint64 // number of the next row
	held    int64  // bytes that wait
	limit   int64
	buf     []byte
}

// take sorts rows, of which the first vector is the column to cut by, into the tables.
func (c *cutter) take(rows uint64, vs []table.Vector) error {
	start := uint32(0)
	for i := range int(rows) {
		end := vs[0].Ends[i]
		t := c.index[string(vs[0].Data[start:end])]
		start = end
		if t == nil {
			continue
		}
		before := t.bytes
		t.add(c.row+uint64(i), i, vs[1:])
		c.held += int64(t.bytes - before)
		if t.bytes >= pieceBytes {
			if err := t.flush(); err != nil {
				return err
			}
		}
		if c.held >= c.limit {
			for _, t := range c.tables {
				if err := t.flush(); err != nil {
					return err
				}
			}
		}
	}
	c.row += rows
	return nil
}

// cutTable is a table of some rows of another.
type cutTable struct {
	*cutter
	// The rows that wait: their numbers in the other table and their columns.
	numbers []uint64
	vectors []table.Vector
	bytes   int

	pieces []cutPiece
	rows   uint64
}

// cutPiece is a run of rows in the spill.
type cutPiece struct {
	data  extsort.Extent
	first uint64 // number of the first row in the cutTable
	rows  int
}

// add adds row i of vectors, which has the given number in the table.
func (t *cutTable) add(number uint64, i int, vs []table.Vector) {
	t.numbers = append(t.numbers, number)
	t.bytes += 8
	for k := range vs {
		v, to := &vs[k], &t.vectors[k]
		before := len(to.Data)
		if t.columns[k].DType == graph.String {
			start := uint32(0)
			if i > 0 {
				start = v.Ends[i-1]
			}
			to.Data = append(to.Data, v.Data[start:v.Ends[i]]...)
			to.Ends = append(to.Ends, uint32(len(to.Data)))
			t.bytes += 4
		} else {
			width := rowBytes(&t.columns[k])
			to.Data = append(to.Data, v.Data[i*width:(i+1)*width]...)
		}
		t.bytes += len(to.Data) - before
	}
}

// flush writes the rows that wait as a piece: for each list its length and its bytes, at multiples of 8.
func (t *cutTable) flush() error {
	n := len(t.numbers)
	if n == 0 {
		return nil
	}
	b := t.buf[:0]
	list := func(bytes []byte) {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(bytes)))
		b = append(b, bytes...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	list(graph.Bytes(t.numbers))
	for k := range t.vectors {
		v := &t.vectors[k]
		list(graph.Bytes(v.Ends))
		list(v.Data)
		v.Ends, v.Data = v.Ends[:0], v.Data[:0]
	}
	e, err := t.spill.Put(b)
	if err != nil {
		return err
	}
	t.pieces = append(t.pieces, cutPiece{e, t.rows, n})
	t.rows += uint64(n)
	t.held -= int64(t.bytes)
	t.numbers, t.bytes, t.buf = t.numbers[:0], 0, b
	return nil
}

// read reads a piece. The lists are views of buf, which is grown.
func (t *cutTable) read(p cutPiece, buf *[]uint64) (numbers []uint64, vs []table.Vector, err error) {
	if n := (p.data.Len() + 7) / 8; len(*buf) < n {
		*buf = make([]uint64, n)
	}
	b := graph.Bytes(*buf)[:p.data.Len()]
	if err := t.spill.Get(p.data, b); err != nil {
		return nil, nil, err
	}
	list := func() []byte {
		n := int(binary.LittleEndian.Uint64(b))
		x := b[8 : 8+n : 8+n]
		b = b[8+(n+7)&^7:]
		return x
	}
	numbers = graph.View[uint64](list())
	for _, c := range t.columns {
		v := table.Vector{Ends: graph.View[uint32](list())}
		if v.Data = list(); c.DType != graph.String {
			v.Ends = nil
		}
		vs = append(vs, v)
	}
	return numbers, vs, nil
}

// Fields implements table.Table.
func (t *cutTable) Fields() []table.Field { return t.from.Fields() }

// Files implements table.Table.
func (t *cutTable) Files() []string { return t.from.Files() }

// Bytes implements table.Table: the share of the table in its rows.
func (t *cutTable) Bytes() int64 {
	return t.from.Bytes() / int64(max(t.row, 1)) * int64(t.rows)
}

// Where implements table.Table.
func (t *cutTable) Where(row uint64, column string) string {
	i := sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i].first > row }) - 1
	if i < 0 || row >= t.rows {
		return t.from.Where(0, column)
	}
	var buf []uint64
	numbers, _, err := t.read(t.pieces[i], &buf)
	if err != nil {
		return t.from.Where(0, column)
	}
	return t.from.Where(numbers[row-t.pieces[i].first], column)
}

// Scan implements table.Table, for the columns of the edge types. Its memory is a piece per thread.
func (t *cutTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	at := make([]int, len(columns))
	for i := range columns {
		if at[i] = findColumn(t.columns, &columns[i]); at[i] < 0 {
			return 0, fmt.Errorf("%s: found a request for %q, expected a column of the edges", t.from.Files()[0], columns[i].Name)
		}
	}
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	failed := len(t.pieces) // the first piece with an error
	err := parallel(ctx, max(threads, 1), func(ctx context.Context, worker int) error {
		var buf []uint64
		chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			mu.Lock()
			end := i >= failed
			mu.Unlock()
			if end {
				return nil
			}
			_, vs, err := t.read(t.pieces[i], &buf)
			if err == nil {
				chunk.First, chunk.Rows = t.pieces[i].first, t.pieces[i].rows
				for k := range columns {
					chunk.Columns[k] = vs[at[k]]
				}
				err = fn(worker, &chunk)
			}
			if err != nil {
				mu.Lock()
				if i < failed {
					first, failed = err, i
				}
				mu.Unlock()
				return nil
			}
		}
		return context.Cause(ctx)
	})
	if err = joinErr(first, err); err != nil {
		return 0, err
	}
	return t.rows, nil
}
