package generate

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// NodeColumns is the table of the columns of a node type of a Shape. Nothing is stored.
//
//   - "feat", float32 or float16, as many values as the shape has: random, uniform in [-1, 1), so that no file system or disk makes them smaller.
//   - "label", int64: the node's number modulo the number of classes; -1 if no split has the node.
//   - "split", the categories train, valid and test, in the numbers of the shape, at random nodes.
//
// A type without features or classes lacks these columns.
type NodeColumns struct {
	shape   NodeShape
	dtype   graph.DType
	prefix  uint64
	split   *draw.Order
	columns []table.Column
}

// NewNodeColumns makes the table of a node type of a shape, by its number in it, or nil if it has no columns. dtype is Float32 or Float16, or Invalid to leave the features out.
func NewNodeColumns(seed uint64, s *Shape, number int, dtype graph.DType) *NodeColumns {
	n := s.Nodes[number]
	t := &NodeColumns{shape: n, dtype: dtype, prefix: draw.Key(seed, 0, shapeFeature, uint64(number))}
	if n.Features > 0 && dtype != graph.Invalid {
		t.columns = append(t.columns, table.Column{Name: "feat", DType: dtype, Shape: []int{n.Features}})
	}
	if n.Classes > 0 {
		parts := &table.Categories{}
		parts.Set([]string{"train", "valid", "test"})
		t.split = draw.NewOrder(n.Count, draw.Key(seed, 0, shapeSplit, uint64(number)))
		t.columns = append(t.columns, table.Column{Name: "label", DType: graph.Int64}, table.Column{Name: "split", DType: graph.Int32, Categories: parts})
	}
	if t.columns == nil {
		return nil
	}
	return t
}

// Columns are the columns of the table.
func (t *NodeColumns) Columns() []table.Column { return t.columns }

// Fields implements table.Table.
func (t *NodeColumns) Fields() (fields []table.Field) {
	for _, c := range t.columns {
		fields = append(fields, table.Field{Name: c.Name, DType: c.DType, Shape: c.Shape, Category: c.Categories != nil})
	}
	return fields
}

// Files implements table.Table. The table has no files.
func (t *NodeColumns) Files() []string { return nil }

// Bytes implements table.Table. It returns the size of all values.
func (t *NodeColumns) Bytes() int64 { return int64(t.shape.Count) * t.rowBytes() }

// rowBytes is the size of a row.
func (t *NodeColumns) rowBytes() (n int64) {
	for _, c := range t.columns {
		n += int64(valueBytes(&c))
	}
	return n
}

// valueBytes is the size of a value of a column.
func valueBytes(c *table.Column) int {
	n := c.DType.Size()
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// Where implements table.Table.
func (t *NodeColumns) Where(row uint64, _ string) string { return fmt.Sprintf("made node %d", row) }

// Scan implements table.Table.
func (t *NodeColumns) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	rows := uint64(max(1, min(chunkRows, (1<<20)/t.rowBytes())))
	count := t.shape.Count
	var next atomic.Uint64
	g, ctx := guard.WithContext(ctx)
	for w := range max(threads, 1) {
		g.Go(func() error {
			chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
			all := make([][]uint64, len(columns))
			for i := range columns {
				all[i] = make([]uint64, (int(rows)*valueBytes(&columns[i])+7)/8)
			}
			for {
				first := (next.Add(1) - 1) * rows
				if first >= count || ctx.Err() != nil {
					return ctx.Err()
				}
				n := min(rows, count-first)
				for i := range columns {
					c := &columns[i]
					data := graph.Bytes(all[i])[:int(n)*valueBytes(c)]
					if err := t.fill(c, data, first, int(n)); err != nil {
						return err
					}
					chunk.Columns[i].Data = data
				}
				chunk.First, chunk.Rows, chunk.Bytes = first, int(n), int64(n)*t.rowBytes()
				if err := fn(w, &chunk); err != nil {
					return err
				}
			}
		})
	}
	return count, g.Wait()
}

// fill sets the values of a column for n nodes from first on.
func (t *NodeColumns) fill(c *table.Column, data []byte, first uint64, n int) error {
	switch c.Name {
	case "feat":
		t.features(data, first, n)
	case "label":
		labels := graph.View[int64](data)
		for i := range labels {
			v := first + uint64(i)
			if labels[i] = int64(v % uint64(t.shape.Classes)); t.part(v) < 0 {
				labels[i] = -1
			}
		}
	case "split":
		parts := graph.View[int32](data)
		for i := range parts {
			parts[i] = t.part(first + uint64(i))
		}
	default:
		return fmt.Errorf("found column %q, expected feat, label or split", c.Name)
	}
	return nil
}

// part is the part of the split that a node is in: 0, 1, 2, or -1 for none.
func (t *NodeColumns) part(v uint64) int32 {
	at := t.split.At(v)
	for i, n := range [...]uint64{t.shape.Train, t.shape.Valid, t.shape.Test} {
		if at < n {
			return int32(i)
		}
		at -= n
	}
	return -1
}

// features sets the features of n nodes from first on. A draw is two values of float32, or four of float16.
func (t *NodeColumns) features(data []byte, first uint64, n int) {
	width := t.shape.Features
	for i := range n {
		h := draw.Absorb(t.prefix, first+uint64(i))
		var r uint64
		if t.dtype == graph.Float16 {
			row := graph.View[uint16](data[2*width*i:][:2*width])
			for j := range row {
				if j&3 == 0 {
					h += draw.Gamma
					r = draw.Mix(h)
				}
				row[j] = halves[r&2047]
				r >>= 16
			}
			continue
		}
		row := graph.View[float32](data[4*width*i:][:4*width])
		for j := range row {
			if j&1 == 0 {
				h += draw.Gamma
				r = draw.Mix(h)
			}
			row[j] = float32(int32(uint32(r))>>8) / (1 << 23)
			r >>= 32
		}
	}
}

// halves are the float16 of -1024/1024 to 1023/1024.
var halves = func() (h [2048]uint16) {
	for i := range h {
		x := i - 1024
		if x == 0 {
			continue
		}
		sign, size := uint16(0), uint(x)
		if x < 0 {
			sign, size = 1<<15, uint(-x)
		}
		top := bits.Len(size) - 1
		h[i] = sign | uint16(top+5)<<10 | uint16(size<<(10-top))&(1<<10-1)
	}
	return h
}()
