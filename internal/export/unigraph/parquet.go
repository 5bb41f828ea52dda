package unigraph

import (
	"slices"
	"unsafe"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
)

// page is an encoded page of a column. Its bytes in the piece begin at the end of the page before, and end at end.
type page struct {
	parquet.Page
	end int
}

var parquetTypes = map[graph.DType]parquet.Type{
	graph.Bool: parquet.Bool,
	graph.Int8: parquet.Int8, graph.Int16: parquet.Int16, graph.Int32: parquet.Int32, graph.Int64: parquet.Int64,
	graph.Uint8: parquet.Uint8, graph.Uint16: parquet.Uint16, graph.Uint32: parquet.Uint32, graph.Uint64: parquet.Uint64,
	graph.Float16: parquet.Float16, graph.Float32: parquet.Float32, graph.Float64: parquet.Float64, graph.String: parquet.Bytes,
	graph.BFloat16: parquet.Float32, // Parquet has no bfloat16
}

// parquetField returns a column of a Parquet file. Each dimension of its shape is a level of lists.
func (w *writer) parquetField(name string, d graph.DType, shape []int) parquet.Field {
	if w.opt.dgf {
		return parquet.Field{Name: name, Type: dgfStored[dgfFormats[d]], Lists: len(shape), Binary: true}
	}
	return parquet.Field{Name: name, Type: parquetTypes[d], Lists: len(shape)}
}

// pageEncoder makes pages of rows, one page per column.
type pageEncoder struct {
	*parquet.PageEncoder
	rows   parquet.Rows
	values []byte
}

// pagesOf appends the pages of rows [from, to) of all columns.
func (e *encoder) pagesOf(b []byte, from, to int) ([]byte, []page, error) {
	if e.pages.PageEncoder == nil {
		var err error
		if e.pages.PageEncoder, err = parquet.NewPageEncoder(); err != nil {
			return b, nil, err
		}
	}
	pages := make([]page, len(e.cols))
	for i := range e.cols {
		c := &e.cols[i]
		f := e.w.parquetField(c.Name, c.DType, c.Shape)
		e.pages.view(c, f.Type, from, to)
		if err := e.w.checkRange(c, f.Type, e.pages.rows.Data); err != nil {
			return b, nil, err
		}
		var err error
		if b, pages[i].Page, err = e.pages.Append(b, &f, &e.pages.rows); err != nil {
			return b, nil, err
		}
		pages[i].end = len(b)
	}
	return b, pages, nil
}

// view makes parquet.Rows from rows of a column: lists with their lengths, and numbers in the widths that Parquet
// uses, or in which DGF has them.
func (p *pageEncoder) view(c *graph.Column, as parquet.Type, from, to int) {
	r := &p.rows
	r.N, r.Null = to-from, nil
	r.Lengths = slices.Grow(r.Lengths[:0], len(c.Shape))[:len(c.Shape)]
	k := 0
	for level, d := range c.Shape {
		lengths := slices.Grow(r.Lengths[level][:0], to-from)[:to-from]
		if r.Lengths[level] = lengths; d != -1 {
			for i := range lengths {
				lengths[i] = uint32(d)
			}
			from, to = from*d, to*d
			continue
		}
		x := c.Offsets[k]
		k++
		for i := range lengths {
			lengths[i] = uint32(x.At(from+i+1) - x.At(from+i))
		}
		from, to = int(x.At(from)), int(x.At(to))
	}
	if c.DType == graph.String {
		base := c.StringOffsets.At(from)
		r.Ends = r.Ends[:0]
		for i := from; i < to; i++ {
			r.Ends = append(r.Ends, uint32(c.StringOffsets.At(i+1)-base))
		}
		r.Data = c.Values[base:c.StringOffsets.At(to)]
		return
	}
	values := c.Values[from*c.DType.Size() : to*c.DType.Size()]
	switch c.DType {
	case graph.Uint32:
		if r.Data = values; as == parquet.Int64 {
			r.Data = widen(p, graph.View[uint32](values), func(v uint32) int64 { return int64(v) })
		}
	case graph.Float16:
		if r.Data = values; as == parquet.Float32 {
			r.Data = widen(p, graph.View[uint16](values), example.Float16)
		}
	case graph.Int8:
		r.Data = widen(p, graph.View[int8](values), func(v int8) int32 { return int32(v) })
	case graph.Int16:
		r.Data = widen(p, graph.View[int16](values), func(v int16) int32 { return int32(v) })
	case graph.Uint8:
		r.Data = widen(p, values, func(v uint8) int32 { return int32(v) })
	case graph.Uint16:
		r.Data = widen(p, graph.View[uint16](values), func(v uint16) int32 { return int32(v) })
	case graph.BFloat16:
		r.Data = widen(p, graph.View[uint16](values), example.BFloat16)
	default:
		r.Data = values
	}
}

// widen converts numbers to wider ones.
func widen[T, U graph.Numbers](p *pageEncoder, values []T, convert func(T) U) []byte {
	n := int(unsafe.Sizeof(U(0))) * len(values)
	p.values = slices.Grow(p.values[:0], n)[:n]
	out := graph.View[U](p.values)
	for i, v := range values {
		out[i] = convert(v)
	}
	return p.values
}

// parquetFile is a file that is being written.
type parquetFile struct {
	w     *writer
	out   *parquet.Writer
	pages []parquet.Page
}

// Write appends to the file, and counts the bytes as the writer does.
func (f *parquetFile) Write(b []byte) (int, error) { return len(b), f.w.append(b) }

func newParquetFile(w *writer) (*parquetFile, error) {
	f := &parquetFile{w: w, pages: make([]parquet.Page, len(w.columns))}
	fields := make([]parquet.Field, len(w.columns))
	for i, c := range w.columns {
		fields[i] = w.parquetField(c.Name, c.From.DType, c.From.Shape)
	}
	var err error
	if f.out, err = parquet.NewWriter(f, fields); err == nil && w.opt.dgf {
		f.out.Meta = []parquet.Pair{{Key: arrow.SchemaKey, Value: w.declared()}}
	}
	return f, err
}

// add adds pages. Their bytes are in b, which begins at offset start of its piece.
func (f *parquetFile) add(b []byte, start int, pages []page) error {
	at := 0
	for i, p := range pages {
		f.pages[i] = p.Page
		f.pages[i].Bytes = b[at : p.end-start]
		at = p.end - start
	}
	return f.out.Add(f.pages)
}

func (f *parquetFile) close() error { return f.out.Close() }
