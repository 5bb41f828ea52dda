package tables

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
	"github.com/graphmill/graphmill/internal/store"
)

// A block has about blockBytes of values, and at most blockRows rows.
const (
	blockBytes = 1 << 20
	blockRows  = 1 << 16
	// farBytes is what a row at random brings into memory of a mapped file: the system reads around each page.
	farBytes = 64 << 10
	// mostText bounds the texts of a column in a block, whose ends are numbers of 32 bits.
	mostText = 1 << 30
)

type pageOf = parquet.Page

// step is the number of rows of a block.
func (t *Table) step() int {
	width := int64(0)
	for i := range t.columns {
		width += t.columns[i].bytes
	}
	return int(max(1, min(blockRows, blockBytes/max(width, 1))))
}

// worker has the buffers of a thread.
type worker struct {
	pages  *parquet.PageEncoder
	rows   parquet.Rows
	spans  [2][]span
	data   []byte
	values []byte
	nulls  []bool
}

// span is a run of elements [from, to) of a dimension of a column.
type span struct{ from, to int }

// encode makes the pages of a block.
func (w *worker) encode(b *block, columns []column, fields []parquet.Field, pages *mapped) error {
	if w.pages == nil {
		var err error
		if w.pages, err = parquet.NewPageEncoder(); err != nil {
			return err
		}
	}
	b.bytes, b.pages = b.bytes[:0], slices.Grow(b.pages[:0], len(columns))[:len(columns)]
	starts := make([]int, len(columns)+1)
	for i := range columns {
		touched, err := w.gather(b, &columns[i])
		if err == nil {
			b.bytes, b.pages[i], err = w.pages.Append(b.bytes, &fields[i], &w.rows)
		}
		if err == nil {
			err = pages.touched(touched)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		starts[i+1] = len(b.bytes)
	}
	for i := range b.pages { // bytes may have moved while it grew
		b.pages[i].Bytes = b.bytes[starts[i]:starts[i+1]]
	}
	return nil
}

// gather sets the rows of the worker to those of a column in a block. It returns the bytes of the store that it brought into memory, about.
func (w *worker) gather(b *block, c *column) (touched int64, err error) {
	rows := c.of(b)
	r := &w.rows
	r.N, r.Null, r.Ends, r.Data, r.Lengths = len(rows), nil, r.Ends[:0], nil, r.Lengths[:0]
	switch {
	case c.from == nil:
		r.Data = graph.Bytes(rows)
		return 0, nil
	case c.wide != nil:
		return w.gatherWide(rows, c), nil
	}
	spans := w.spans[0][:0]
	for i, row := range rows {
		if i > 0 && row == rows[i-1]+1 {
			spans[len(spans)-1].to++
			touched += c.bytes
			continue
		}
		touched += max(c.bytes, farBytes)
		spans = append(spans, span{int(row), int(row) + 1})
	}
	w.spans[0] = spans
	spans = w.descend(c.from, spans)
	switch {
	case c.from.Categories != nil:
		err = w.gatherCategories(c, spans)
	case c.from.DType == graph.String:
		err = w.gatherTexts(c.from, spans)
	default:
		w.gatherNumbers(c.from, spans)
	}
	if err == nil {
		w.markEmpty(c, rows)
	}
	return touched, err
}

// descend sets the lengths of lists, and returns the spans of the values.
func (w *worker) descend(c *graph.Column, spans []span) []span {
	k := 0
	for level, d := range c.Shape {
		var lengths []uint32
		if cap(w.rows.Lengths) > level {
			lengths = w.rows.Lengths[: level+1 : cap(w.rows.Lengths)][level][:0]
		}
		next := w.spans[1][:0]
		for _, s := range spans {
			if d != -1 {
				for range s.to - s.from {
					lengths = append(lengths, uint32(d))
				}
				next = append(next, span{s.from * d, s.to * d})
				continue
			}
			x := c.Offsets[k]
			for i := s.from; i < s.to; i++ {
				lengths = append(lengths, uint32(x.At(i+1)-x.At(i)))
			}
			next = append(next, span{int(x.At(s.from)), int(x.At(s.to))})
		}
		if d == -1 {
			k++
		}
		w.rows.Lengths = append(w.rows.Lengths, lengths)
		w.spans[0], w.spans[1] = next, spans
		spans = next
	}
	return spans
}

// gatherNumbers sets the numbers of spans.
func (w *worker) gatherNumbers(c *graph.Column, spans []span) {
	size := c.DType.Size()
	if len(spans) == 1 && spans[0].from*size%8 == 0 {
		w.rows.Data = w.widened(c.DType, c.Values[spans[0].from*size:spans[0].to*size])
		return
	}
	w.data = w.data[:0]
	for _, s := range spans {
		w.data = append(w.data, c.Values[s.from*size:s.to*size]...)
	}
	w.rows.Data = w.widened(c.DType, w.data)
}

// gatherTexts sets the texts of spans.
func (w *worker) gatherTexts(c *graph.Column, spans []span) error {
	w.data = w.data[:0]
	for _, s := range spans {
		if s.from == s.to {
			continue
		}
		base := c.StringOffsets.At(s.from)
		at := uint64(len(w.data))
		if end := c.StringOffsets.At(s.to); at+end-base > mostText {
			return fmt.Errorf("found more than %d bytes of text in %d rows, expected less; leave the column out of the store", mostText, w.rows.N)
		}
		for i := s.from; i < s.to; i++ {
			w.rows.Ends = append(w.rows.Ends, uint32(at+c.StringOffsets.At(i+1)-base))
		}
		w.data = append(w.data, c.Values[base:c.StringOffsets.At(s.to)]...)
	}
	w.rows.Data = w.data
	return nil
}

// gatherCategories sets the texts of codes.
func (w *worker) gatherCategories(c *column, spans []span) error {
	w.data = w.data[:0]
	codes, texts := graph.View[int32](c.from.Values), c.from.Categories
	i := 0
	for _, s := range spans {
		for _, code := range codes[s.from:s.to] {
			switch {
			case code == -1:
				if c.field.Nullable {
					w.null(i)
				}
			case code < 0 || int(code) >= texts.Rows:
				return fmt.Errorf("found category %d, expected -1 to %d; graphmill verify finds damage", code, texts.Rows-1)
			default:
				w.data = append(w.data, texts.Text(int(code))...)
			}
			if len(w.data) > mostText {
				return fmt.Errorf("found more than %d bytes of text in %d rows, expected less; leave the column out of the store", mostText, w.rows.N)
			}
			w.rows.Ends = append(w.rows.Ends, uint32(len(w.data)))
			i++
		}
	}
	w.rows.Data = w.data
	return nil
}

// gatherWide sets the numbers of a feature in pieces.
func (w *worker) gatherWide(rows []uint64, c *column) (touched int64) {
	width := c.wide.RowBytes()
	w.data = grown(w.data, len(rows)*width)
	clear(w.data)
	c.wide.Writer(c.wide.DType, nil)(w.data, graph.Index{U64: rows})
	for _, d := range c.wide.Shape {
		lengths := make([]uint32, len(rows))
		for i := range lengths {
			lengths[i] = uint32(d)
		}
		w.rows.Lengths = append(w.rows.Lengths, lengths)
	}
	w.rows.Data = w.widened(c.wide.DType, w.data)
	return c.wide.StoredBytes() / int64(max(c.wide.Rows, 1)) * int64(len(rows))
}

// markEmpty makes empty cells null: missing times, and marked rows that have the value of an empty cell.
func (w *worker) markEmpty(c *column, rows []uint64) {
	if c.from.Unit != "" && c.field.Nullable {
		times := graph.View[int64](w.rows.Data)
		w.values = grown(w.values, len(w.rows.Data))
		to := graph.View[int64](w.values)
		factor := int64(1)
		if c.field.Unit != string(c.from.Unit) && c.field.Unit != "" {
			factor = 1000
		}
		for i, v := range times {
			if v == graph.NoTime {
				w.null(i)
				v = 0
			}
			to[i] = v * factor
		}
		w.rows.Data = w.values
		return
	}
	if c.marks == nil {
		return
	}
	size := c.from.DType.Size()
	for i, row := range rows {
		if c.marks.Values[row] == 0 {
			continue
		}
		if size == 0 && c.from.StringOffsets.At(int(row)) == c.from.StringOffsets.At(int(row)+1) ||
			size > 0 && blank.Empty(c.from.DType, c.from.Values[int(row)*size:][:size]) {
			w.null(i)
		}
	}
	if size > 0 && w.rows.Null != nil { // NaN is no value of a null
		w.zeroNulls(len(w.rows.Data) / w.rows.N)
	}
}

// zeroNulls sets the numbers of null rows to 0, as package parquet wants them.
func (w *worker) zeroNulls(width int) {
	w.data = append(w.data[:0], w.rows.Data...)
	w.rows.Data = w.data
	for i, null := range w.rows.Null {
		if null {
			clear(w.rows.Data[i*width : (i+1)*width])
		}
	}
}

// null marks a row as null.
func (w *worker) null(i int) {
	if w.rows.Null == nil {
		w.nulls = slices.Grow(w.nulls[:0], w.rows.N)[:w.rows.N]
		clear(w.nulls)
		w.rows.Null = w.nulls
	}
	w.rows.Null[i] = true
}

// grown is a buffer of n bytes.
func grown(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// mapped gives the memory of the maps of a store back after many bytes were read.
type mapped struct {
	store *store.Store
	most  int64 // bytes between two releases
	read  atomic.Int64
}

// newMapped is for a store of size bytes and a bound of most; 0 is no bound. A store that fits stays in memory.
func newMapped(s *store.Store, size, most int64) *mapped {
	if most == 0 || size <= most {
		most = math.MaxInt64
	}
	return &mapped{store: s, most: most}
}

// touched counts bytes that were read. Several goroutines may call it.
func (m *mapped) touched(bytes int64) error {
	if m.read.Add(bytes) < m.most {
		return nil
	}
	m.read.Store(0)
	return m.store.Release()
}
