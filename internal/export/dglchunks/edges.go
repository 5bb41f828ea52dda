package dglchunks

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/positions"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
)

// sorter sorts the edges of a type into the order of their input. A record is
//
//	position, edge id, source, destination: 4 bytes each, or 8
//	the columns in their widths; of a feature in pieces, the columns of the pieces
type sorter struct {
	x         *exporter
	e         *graph.Edges
	all       []*series // series of the ends, followed by the series of the columns
	positions graph.Index
	number    int               // bytes of a position or id
	stored    [][]*graph.Column // of each series but the ends, the columns that a record has
	record    int               // bytes
	cuts      *extsort.Partition
}

// edges writes the edges of a type, and their columns.
func (x *exporter) edges(ctx context.Context, e *graph.Edges, all []*series) (err error) {
	s := &sorter{x: x, e: e, all: all, number: 4}
	if s.positions, err = positions.Of(e); err != nil {
		return err
	}
	top := uint64(max(e.Count, 1))
	for i := range s.positions.Len() {
		top = max(top, s.positions.At(i)+1)
	}
	g := x.s.Graph
	for _, n := range []uint64{top, uint64(g.Nodes[g.NodeType(e.Type.Src)].Count), uint64(g.Nodes[g.NodeType(e.Type.Dst)].Count)} {
		if n > 1<<32 {
			s.number = 8
		}
	}
	s.record = 4 * s.number
	written := s.record
	for _, f := range all[1:] {
		stored := f.column.Pieces
		if !f.column.Wide() {
			stored = []*graph.Column{f.column.Column}
		}
		for _, c := range stored {
			s.record += c.RowBytes()
		}
		s.stored, written = append(s.stored, stored), written+f.column.RowBytes()
	}
	// Each slot of the pipe holds a bucket, raw and encoded, and each worker holds one more. There are as many
	// buffers of buckets as threads.
	total := int64(e.Count) * int64(max(s.record, written))
	slots := int64(4 * (x.o.Threads + 1))
	buckets, extent := 1, 64<<10
	for buckets < 4096 && total/int64(buckets) > min(max(x.o.Memory/4/slots, 64<<10), bucketBytes) {
		buckets *= 2
	}
	for extent > 4<<10 && int64(x.o.Threads*buckets*extent) > x.o.Memory/4 {
		extent /= 2
	}
	shift := max(0, bits.Len64(top-1)-bits.Len(uint(buckets-1)))
	spill := extsort.NewSpill(x.fsys, x.w.Dir(), x.o.Memory/4)
	s.cuts = extsort.NewPartition(spill, buckets, extent, uint(shift))
	defer func() {
		s.cuts.Close()
		err = errors.Join(err, spill.Close())
	}()
	if err := s.cut(ctx); err != nil {
		return err
	}
	return s.write(ctx)
}

// bucketBytes bounds the bytes that are sorted at a time, so that they fit into a cache.
const bucketBytes = 2 << 20

// cutEdges is the number of edges that a goroutine takes at a time.
const cutEdges = 1 << 15

// releaseEvery is the number of such runs of edges that are read between two calls of Release.
const releaseEvery = 64

// cut puts the edges into buckets by position.
func (s *sorter) cut(ctx context.Context) error {
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for range s.x.o.Threads {
		w, err := s.cuts.Writer()
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		g.Go(func() error {
			for {
				from := int(next.Add(1)-1) * cutEdges
				if from >= s.e.Count {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := s.records(from, min(from+cutEdges, s.e.Count), w); err != nil {
					return err
				}
				if from/cutEdges%releaseEvery == 0 {
					if err := s.x.s.Release(); err != nil {
						return err
					}
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := s.x.s.Release(); err != nil {
		return err
	}
	return s.cuts.Finish()
}

// records writes the records of the edges [from, to).
func (s *sorter) records(from, to int, w *extsort.Writer) error {
	a := s.e.Adj[s.e.Primary]
	near := sort.Search(a.Indptr.Len(), func(i int) bool { return a.Indptr.At(i) > uint64(from) }) - 1
	for i := from; i < to; i++ {
		for a.Indptr.At(near+1) <= uint64(i) {
			near++
		}
		src, dst := a.Far.At(i), uint64(near)
		if s.e.Primary == graph.Out {
			src, dst = dst, src
		}
		position := uint64(i)
		if s.positions.Len() > 0 {
			position = s.positions.At(i)
		}
		b := w.Fast(position, s.record)
		if b == nil {
			var err error
			if b, err = w.Slot(position, s.record); err != nil {
				return err
			}
		}
		s.put(b, position, uint64(i), src, dst)
		b = b[4*s.number:]
		for _, stored := range s.stored {
			for _, c := range stored {
				b = b[copy(b, c.Row(i)):]
			}
		}
	}
	return nil
}

// put writes the numbers of a record.
func (s *sorter) put(b []byte, position, id, src, dst uint64) {
	le := binary.LittleEndian
	if s.number == 4 {
		le.PutUint64(b, position|id<<32)
		le.PutUint64(b[8:], src|dst<<32)
		return
	}
	le.PutUint64(b, position)
	le.PutUint64(b[8:], id)
	le.PutUint64(b[16:], src)
	le.PutUint64(b[24:], dst)
}

// at returns number k of the record at an offset.
func (s *sorter) at(raw []byte, offset, k int) uint64 {
	if s.number == 4 {
		return uint64(binary.LittleEndian.Uint32(raw[offset+4*k:]))
	}
	return binary.LittleEndian.Uint64(raw[offset+8*k:])
}

// write writes the buckets, one after the other.
func (s *sorter) write(ctx context.Context) error {
	bucket, first := 0, uint64(0)
	return s.x.pipe(ctx, s.all, func(r *run) error {
		for bucket < s.cuts.Buckets() && s.cuts.Bytes(bucket) == 0 {
			bucket++
		}
		if bucket == s.cuts.Buckets() {
			return io.EOF
		}
		n := int(s.cuts.Bytes(bucket))
		r.raw = slices.Grow(r.raw[:0], n)[:n]
		if _, err := s.cuts.Load(bucket, r.raw); err != nil {
			return err
		}
		s.cuts.Free(bucket)
		r.base = uint64(bucket) << s.cuts.Shift()
		bucket++
		r.first, r.rows = first, n/s.record
		first += uint64(r.rows)
		return nil
	}, s.encode)
}

// encode sorts a bucket and makes the segments of all series.
func (s *sorter) encode(e *encoder, r *run) (err error) {
	e.order = s.sort(e, r)
	at := 0
	for k, f := range s.all {
		e.values = e.values[:0]
		if k == 0 {
			for _, from := range e.order {
				e.values = binary.LittleEndian.AppendUint64(e.values, s.at(r.raw, from, 2))
				e.values = binary.LittleEndian.AppendUint64(e.values, s.at(r.raw, from, 3))
			}
			at = 4 * s.number
		} else {
			at = s.gather(e, r, f.column, s.stored[k-1], at)
		}
		if r.segments[k], err = e.encode(f, r.first, r.rows, e.values, r.segments[k]); err != nil {
			return err
		}
	}
	return nil
}

// gather sets the values of a column of the edges of a bucket, of which stored are at an offset of the records. It returns the offset
// after them.
func (s *sorter) gather(e *encoder, r *run, c *widening.Column, stored []*graph.Column, at int) int {
	if !c.Wide() {
		width := c.RowBytes()
		for _, from := range e.order {
			e.values = append(e.values, r.raw[from+at:from+at+width]...)
		}
		return at + width
	}
	pieces := make([]*graph.Column, len(stored))
	for i, p := range stored {
		width := p.RowBytes()
		pieces[i] = &graph.Column{DType: p.DType, Shape: p.Shape, Rows: r.rows, Values: make([]byte, 0, r.rows*width)}
		for _, from := range e.order {
			pieces[i].Values = append(pieces[i].Values, r.raw[from+at:from+at+width]...)
		}
		at += width
	}
	width := c.RowBytes()
	e.values = slices.Grow(e.values, r.rows*width)[:r.rows*width]
	c.Writer(c.DType, pieces).Range(e.values, width, 0, r.rows)
	return at
}

// sort returns the offsets of the records of a bucket sorted by position, and by edge id if an edge and its reverse
// have the same position. If most positions of the bucket's range belong to an edge, it uses a counting sort, and
// otherwise comparisons.
func (s *sorter) sort(e *encoder, r *run) []int {
	order := slices.Grow(e.order[:0], r.rows)[:r.rows]
	compare := func(x, y int) int {
		return cmp.Or(cmp.Compare(s.at(r.raw, x, 0), s.at(r.raw, y, 0)), cmp.Compare(s.at(r.raw, x, 1), s.at(r.raw, y, 1)))
	}
	width := uint64(1) << s.cuts.Shift()
	if width > 8*uint64(r.rows) {
		for i := range order {
			order[i] = i * s.record
		}
		slices.SortFunc(order, compare)
		return order
	}
	e.counts = slices.Grow(e.counts[:0], int(width)+1)[:width+1]
	clear(e.counts)
	for from := 0; from < len(r.raw); from += s.record {
		e.counts[s.at(r.raw, from, 0)-r.base+1]++
	}
	for i := range width {
		e.counts[i+1] += e.counts[i]
	}
	for from := 0; from < len(r.raw); from += s.record {
		at := &e.counts[s.at(r.raw, from, 0)-r.base]
		order[*at] = from
		*at++
	}
	for i := 1; i < len(order); i++ {
		for j := i; j > 0 && compare(order[j-1], order[j]) > 0; j-- {
			order[j-1], order[j] = order[j], order[j-1]
		}
	}
	return order
}
