package collection

import (
	"errors"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// columns writes the columns of a type, chunk by chunk.
type columns struct {
	of      []Column
	writers []*store.ColumnWriter
	w       *store.Writer
	dir     string
	from    []int // per column: index of its first field among the columns of a scan
	nan     []uint64
	scratch rowBuffer
	out     rowBuffer
}

// asked returns the columns that a scan asks for: first front, and then the fields of the columns.
func (c *columns) asked(front []table.Column) []table.Column {
	c.from = c.from[:0]
	for i := range c.of {
		col := &c.of[i]
		c.from = append(c.from, len(front))
		if col.Fields == nil {
			front = append(front, col.Column)
			continue
		}
		for _, f := range col.Fields {
			front = append(front, table.Column{Name: f, DType: col.DType, Empty: col.Empty, Fill: col.Fill, Underflows: col.Underflows})
		}
	}
	return front
}

// open begins the arrays of the columns in a folder.
func (c *columns) open(w *store.Writer, dir string) error {
	c.nan, c.w, c.dir = make([]uint64, len(c.of)), w, dir
	for i := range c.of {
		col := &c.of[i]
		x, err := w.Column(store.ColumnDir(dir, col.Name), col.Name, col.DType, col.Shape)
		if err != nil {
			return err
		}
		c.writers = append(c.writers, x)
	}
	return nil
}

// close completes the columns and describes them. A second call does nothing.
func (c *columns) close(metas map[string]store.ColumnMeta) error {
	var err error
	for i, w := range c.writers {
		col := &c.of[i]
		meta, bad := w.Close()
		meta.Unit = string(col.Unit)
		if col.Categories != nil && bad == nil {
			meta.Categories, bad = c.w.Categories(store.ColumnDir(c.dir, col.Name), col.Name, col.Categories.Texts())
		}
		metas[col.Name] = meta
		err = errors.Join(err, bad)
	}
	c.writers = nil
	return err
}

// write appends the rows of a chunk, each row twice if twice is set.
func (c *columns) write(chunk *table.Chunk, twice bool) error {
	for i := range c.of {
		col := &c.of[i]
		v := chunk.Columns[c.from[i]]
		if col.Fields != nil {
			v = c.scratch.stack(chunk.Columns[c.from[i]:][:len(col.Fields)], col.DType, chunk.Rows)
		}
		if col.CountNaN {
			c.nan[i] += countNaN(v.Data, col.DType)
		}
		if twice {
			v = c.out.twice(v, col.DType, col.Shape, chunk.Rows)
		}
		if err := c.writers[i].Append(v.Data, v.Ends, v.Lengths...); err != nil {
			return err
		}
	}
	return nil
}

func countNaN(data []byte, d graph.DType) (n uint64) {
	switch d {
	case graph.Float32:
		for _, v := range graph.View[float32](data) {
			if v != v {
				n++
			}
		}
	case graph.Float64:
		for _, v := range graph.View[float64](data) {
			if math.IsNaN(v) {
				n++
			}
		}
	}
	return n
}

// rowBuffer holds rows that are computed from others.
type rowBuffer struct {
	data    []byte
	ends    []uint32
	lengths [][]uint32
}

func (b *rowBuffer) reset(dims int) {
	b.data, b.ends = b.data[:0], b.ends[:0]
	for len(b.lengths) < dims {
		b.lengths = append(b.lengths, nil)
	}
	b.lengths = b.lengths[:dims]
	for k := range b.lengths {
		b.lengths[k] = b.lengths[k][:0]
	}
}

// stack joins the scalar values of several fields into one vector per row.
func (b *rowBuffer) stack(fields []table.Vector, d graph.DType, rows int) table.Vector {
	b.reset(0)
	if d != graph.String {
		size := d.Size()
		for r := range rows {
			for k := range fields {
				b.data = append(b.data, fields[k].Data[r*size:(r+1)*size]...)
			}
		}
		return table.Vector{Data: b.data}
	}
	for r := range rows {
		for k := range fields {
			b.text(&fields[k], r)
		}
	}
	return table.Vector{Data: b.data, Ends: b.ends}
}

// text appends string i of v.
func (b *rowBuffer) text(v *table.Vector, i int) {
	from := uint32(0)
	if i > 0 {
		from = v.Ends[i-1]
	}
	b.data = append(b.data, v.Data[from:v.Ends[i]]...)
	b.ends = append(b.ends, uint32(len(b.data)))
}

// twice repeats each row.
func (b *rowBuffer) twice(v table.Vector, d graph.DType, shape []int, rows int) table.Vector {
	b.reset(len(v.Lengths))
	at := make([]int, len(v.Lengths)) // number of lengths of the rows before
	value, size := 0, d.Size()
	for range rows {
		n, k := 1, 0
		for _, dim := range shape {
			if dim >= 0 {
				n *= dim
				continue
			}
			part := v.Lengths[k][at[k]:][:n]
			b.lengths[k] = append(append(b.lengths[k], part...), part...)
			at[k] += n
			n = 0
			for _, m := range part {
				n += int(m)
			}
			k++
		}
		for range 2 {
			if d != graph.String {
				b.data = append(b.data, v.Data[value*size:(value+n)*size]...)
				continue
			}
			for i := range n {
				b.text(&v, value+i)
			}
		}
		value += n
	}
	out := table.Vector{Data: b.data}
	if d == graph.String {
		out.Ends = b.ends
	}
	if len(v.Lengths) > 0 {
		out.Lengths = b.lengths
	}
	return out
}
