package unigraph

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// encoder turns chunks into pieces. It belongs to one worker.
type encoder struct {
	w    *writer
	cols []graph.Column // views of the chunk
	ends [][]uint32     // buffers of their offsets
	zip  *gzip.Writer
	raw  []byte

	example examplecolumns.Encoder
	keys    []recordKey // keys of a TFRecord row, in descending order
	pages   pageEncoder
}

// recordKey is a feature of a TFRecord row: the values of a column, or the row lengths of its variable dimension part
// - 1.
type recordKey struct {
	name         string
	key          example.Key
	column, part int
	write        examplecolumns.Write
}

func newEncoder(w *writer) (*encoder, error) {
	e := &encoder{w: w, cols: make([]graph.Column, len(w.columns)), ends: make([][]uint32, 4*len(w.columns))}
	for i, c := range w.columns {
		e.cols[i] = graph.Column{Name: c.Name, DType: c.From.DType, Shape: c.From.Shape}
		if slices.ContainsFunc(w.columns[:i], func(o tableColumn) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("found two columns %q, expected different names; rename one of them in the import", c.Name)
		}
	}
	if w.opt.Gzip {
		e.zip = gzip.NewWriter(nil)
	}
	if w.opt.Format == TFRecord {
		for i, c := range w.columns {
			e.keys = append(e.keys, recordKey{name: c.Name, column: i})
			part := 0
			for dim, d := range c.From.Shape {
				if d == -1 {
					part++
					e.keys = append(e.keys, recordKey{name: fmt.Sprintf("%s.d%d", c.Name, dim+1), column: i, part: part})
				}
			}
		}
		slices.SortFunc(e.keys, func(a, b recordKey) int { return strings.Compare(b.name, a.name) })
		for i := range e.keys {
			if i > 0 && e.keys[i].name == e.keys[i-1].name {
				return nil, fmt.Errorf("found two features with the key %q, a feature and row lengths, expected different keys; rename the feature, or write csv or parquet", e.keys[i].name)
			}
			e.keys[i].key = example.NewKey(e.keys[i].name)
		}
	}
	return e, nil
}

// member compresses b as one gzip member.
func member(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	if err == nil {
		err = z.Close()
	}
	return out.Bytes(), err
}

// encode makes a piece from a chunk.
func (e *encoder) encode(c *table.Chunk) (*piece, error) {
	if err := e.view(c); err != nil {
		return nil, err
	}
	p := e.w.take()
	p.rows = uint64(c.Rows)
	for from := 0; from < c.Rows; {
		shard := e.w.shardOf(c.First + uint64(from))
		to := int(min(uint64(c.Rows), e.w.shardEnd(shard)-c.First))
		part := part{shard: shard}
		start := len(p.buf)
		var err error
		switch e.w.opt.Format {
		case CSV:
			p.buf, err = e.lines(p.buf, c.First, from, to)
		case TFRecord:
			p.buf, err = e.records(p.buf, c.First, from, to)
		case Parquet:
			p.buf, part.pages, err = e.pagesOf(p.buf, from, to)
		}
		if err == nil && e.zip != nil {
			// Consecutive members form a gzip file, so the workers can compress.
			e.raw = append(e.raw[:0], p.buf[start:]...)
			out := bytes.NewBuffer(p.buf[:start])
			e.zip.Reset(out)
			if _, err = e.zip.Write(e.raw); err == nil {
				err = e.zip.Close()
			}
			p.buf = out.Bytes()
		}
		if err != nil {
			return nil, err
		}
		part.end = len(p.buf)
		p.parts = append(p.parts, part)
		from = to
	}
	return p, nil
}

// view makes columns from the vectors of a chunk.
func (e *encoder) view(c *table.Chunk) error {
	buffer := 0
	offsets := func(n int) []uint32 {
		if buffer == len(e.ends) {
			e.ends = append(e.ends, nil)
		}
		b := append(slices.Grow(e.ends[buffer][:0], n+1), 0)
		e.ends[buffer] = b[:n+1]
		buffer++
		return b[:n+1]
	}
	for i := range e.cols {
		col, v := &e.cols[i], &c.Columns[i]
		col.Rows, col.Values, col.Offsets = c.Rows, v.Data, col.Offsets[:0]
		for _, lengths := range v.Lengths {
			at := offsets(len(lengths))
			sum := uint64(0)
			for j, n := range lengths {
				sum += uint64(n)
				at[j+1] = uint32(sum)
			}
			if sum > math.MaxUint32 {
				return fmt.Errorf("column %q: found rows of more than %d values in a chunk, expected fewer; leave the column out of the import", col.Name, uint32(math.MaxUint32))
			}
			col.Offsets = append(col.Offsets, graph.Index{U32: at})
		}
		if col.DType == graph.String {
			at := offsets(len(v.Ends))
			copy(at[1:], v.Ends)
			col.StringOffsets = graph.Index{U32: at}
		}
	}
	return nil
}

// records appends rows as frames of tf.train.Examples.
func (e *encoder) records(b []byte, first uint64, from, to int) ([]byte, error) {
	for i := range e.cols {
		if e.cols[i].DType == graph.Float64 {
			if err := e.narrows(first, i, from, to); err != nil {
				return b, err
			}
		}
	}
	for i := range e.keys {
		k := &e.keys[i]
		c := &e.cols[k.column]
		if k.part > 0 {
			k.write = examplecolumns.Lengths(c, k.part-1)
			continue
		}
		var err error
		if k.write, err = examplecolumns.Values(c); err != nil {
			return b, fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	var row [1]uint32
	for r := from; r < to; r++ {
		row[0] = uint32(r)
		e.example.W.Reset()
		for i := range e.keys {
			e.keys[i].write(&e.example, e.keys[i].key, graph.Index{U32: row[:]})
		}
		record := e.example.W.Close()
		if len(record) > math.MaxInt32 {
			return b, fmt.Errorf("%s: found a row of %d bytes, expected at most 2 GiB, the maximum size of an Example; write the tables as csv or parquet", e.w.t.Where(first+uint64(r), ""), len(record))
		}
		b = tfrecord.AppendFrame(b, record)
	}
	return b, nil
}

// narrows refuses a float64 that no float32 equals, since Examples hold float32. If doubles are rounded, it refuses
// only those beyond the range of float32.
func (e *encoder) narrows(first uint64, column, from, to int) error {
	c := &e.cols[column]
	small := uint64(0)
	for r := from; r < to; r++ {
		a, z := c.Span(r, r+1)
		for i := a; i < z; i++ {
			v := math.Float64frombits(binary.LittleEndian.Uint64(c.Values[8*i:]))
			switch fit := examplecolumns.FitOf(v); {
			case fit == examplecolumns.Overflow:
				return e.w.inexpressible(first+uint64(r), column, fmt.Sprint(v), "a number in the range of float32, as Examples have no other floats; write csv or parquet")
			case !e.w.opt.RoundDoubles && float64(float32(v)) != v && v == v:
				return e.w.inexpressible(first+uint64(r), column, fmt.Sprint(v),
					"a number that a float32 holds, as Examples have no other floats; write csv or parquet, or give `RoundDoubles` to lose digits")
			case fit == examplecolumns.Underflow:
				small++
			}
		}
	}
	if small > 0 {
		e.w.mu.Lock()
		defer e.w.mu.Unlock()
		e.w.narrowed.Add(map[string]uint64{e.w.stem + ": column " + c.Name: small})
	}
	return nil
}
