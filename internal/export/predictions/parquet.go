package predictions

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
)

// parquetSink writes a Parquet file.
type parquetSink struct {
	columns []column
	fields  []parquet.Field
	out     *parquet.Writer
}

func newParquetSink(w io.Writer, t *table, origin string) (*parquetSink, error) {
	s := &parquetSink{columns: t.columns}
	for i := range t.columns {
		s.fields = append(s.fields, parquetField(&t.columns[i]))
	}
	var err error
	if s.out, err = parquet.NewWriter(w, s.fields); err != nil {
		return nil, err
	}
	s.out.Meta = metadata(t, origin)
	return s, nil
}

var parquetTypes = map[graph.DType]parquet.Type{
	graph.Bool: parquet.Bool,
	graph.Int8: parquet.Int8, graph.Int16: parquet.Int16, graph.Int32: parquet.Int32, graph.Int64: parquet.Int64,
	graph.Uint8: parquet.Uint8, graph.Uint16: parquet.Uint16, graph.Uint32: parquet.Uint32, graph.Uint64: parquet.Uint64,
	graph.Float16: parquet.Float32, graph.BFloat16: parquet.Float32, // few programs read half floats
	graph.Float32: parquet.Float32, graph.Float64: parquet.Float64, graph.String: parquet.Bytes,
}

func parquetField(c *column) parquet.Field {
	f := parquet.Field{Name: c.name, Type: parquetTypes[c.dtype], Nullable: c.nullable, Raw: c.raw, Unit: string(c.unit)}
	if c.width > 0 {
		f.Lists = 1
	}
	if c.unit == graph.Seconds { // Parquet has no seconds
		f.Unit = string(graph.Milliseconds)
	}
	return f
}

// encode makes the pages of a block.
func (s *parquetSink) encode(w *worker, b *block) error {
	if w.pages == nil {
		var err error
		if w.pages, err = parquet.NewPageEncoder(); err != nil {
			return err
		}
	}
	b.bytes = b.bytes[:0]
	b.pages = slices.Grow(b.pages[:0], len(s.columns))[:len(s.columns)]
	starts := make([]int, len(s.columns))
	for i := range s.columns {
		if err := s.view(w, &s.columns[i], &b.cells[i], len(b.rows)); err != nil {
			return err
		}
		starts[i] = len(b.bytes)
		var err error
		if b.bytes, b.pages[i], err = w.pages.Append(b.bytes, &s.fields[i], &w.rows); err != nil {
			return fmt.Errorf("column %q: %w", s.columns[i].name, err)
		}
	}
	end := len(b.bytes)
	for i := len(starts) - 1; i >= 0; i-- { // bytes may have moved while it grew
		b.pages[i].Bytes = b.bytes[starts[i]:end]
		end = starts[i]
	}
	return nil
}

// view makes parquet.Rows of cells: numbers in the widths of Parquet, and vectors as lists.
func (s *parquetSink) view(w *worker, c *column, x *cells, n int) error {
	r := &w.rows
	r.N, r.Data, r.Ends, r.Null, r.Lengths = n, x.data, x.ends, x.null, r.Lengths[:0]
	if c.width > 0 {
		w.lengths = slices.Grow(w.lengths[:0], n)[:n]
		for i := range w.lengths {
			w.lengths[i] = uint32(c.width)
		}
		r.Lengths = append(r.Lengths, w.lengths)
	}
	switch c.dtype {
	case graph.Int8:
		r.Data = widened(w, graph.View[int8](x.data))
	case graph.Int16:
		r.Data = widened(w, graph.View[int16](x.data))
	case graph.Uint8:
		r.Data = widened(w, x.data)
	case graph.Uint16:
		r.Data = widened(w, graph.View[uint16](x.data))
	case graph.Float16, graph.BFloat16:
		w.values = float32s(w.values, x.data, c.dtype)
		r.Data = w.values
	}
	if c.unit != graph.Seconds {
		return nil
	}
	w.values = grown(w.values, len(x.data))
	r.Data = w.values
	to := graph.View[int64](w.values)
	for i, v := range graph.View[int64](x.data) {
		if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
			return fmt.Errorf("column %q: found the time %d s, expected one that int64 holds in milliseconds, as Parquet has no seconds; write CSV", c.name, v)
		}
		to[i] = 1000 * v
	}
	return nil
}

// widened converts integers to 32 bits.
func widened[T int8 | int16 | uint8 | uint16](w *worker, values []T) []byte {
	w.values = grown(w.values, 4*len(values))
	to := graph.View[int32](w.values)
	for i, v := range values {
		to[i] = int32(v)
	}
	return w.values
}

// add takes a block.
func (s *parquetSink) add(b *block) error { return s.out.Add(b.pages) }

// close writes the end of the file.
func (s *parquetSink) close() error { return s.out.Close() }
