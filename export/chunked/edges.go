package chunked

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// sorter puts the edges of a type into the order of their input. A record is
//
//	u64 position, u64 edge id, u64 source, u64 destination, the columns in their widths
type sorter struct {
	x         *exporter
	e         *graph.Edges
	all       []*series // the ends, then the columns
	positions graph.Index
	widths    []int // of the columns
	record    int
	cuts      *extsort.Partition
}

const recordHead = 32

// edges writes the edges of a type, and their columns.
func (x *exporter) edges(ctx context.Context, e *graph.Edges, all []*series) (err error) {
	s := &sorter{x: x, e: e, all: all, record: recordHead}
	if s.positions, err = positions(e); err != nil {
		return err
	}
	for _, f := range all[1:] {
		s.widths = append(s.widths, f.column.RowBytes())
		s.record += f.column.RowBytes()
	}
	top := uint64(max(e.Count, 1))
	for i := range s.positions.Len() {
		top = max(top, s.positions.At(i)+1)
	}
	// A bucket is held by each slot of the pipe, raw and encoded, and by each worker
	// once more; buffers of buckets are as many as threads.
	total := int64(e.Count) * int64(s.record)
	slots := int64(4 * (x.o.Threads + 1))
	buckets, extent := 1, 64<<10
	for buckets < 4096 && total/int64(buckets) > max(x.o.Memory/2/slots, 64<<10) {
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

// positions are the places of the edges in their input, by edge id; none where that is
// their order.
func positions(e *graph.Edges) (graph.Index, error) {
	c := graph.FindColumn(e.Columns, inputPosition)
	switch {
	case c == nil:
		return graph.Index{}, nil
	case c.DType == graph.Uint32 && len(c.Shape) == 0:
		return graph.Index{U32: graph.View[uint32](c.Values)}, nil
	case c.DType == graph.Uint64 && len(c.Shape) == 0:
		return graph.Index{U64: graph.View[uint64](c.Values)}, nil
	}
	return graph.Index{}, fmt.Errorf("edge type %s: found the column %s of %s %v, expected uint32 or uint64", e.Type, inputPosition, c.DType, c.Shape)
}

// cutEdges is how many edges a goroutine takes at once.
const cutEdges = 1 << 15

// cut puts the edges into buckets by position.
func (s *sorter) cut(ctx context.Context) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
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

// records makes the records of the edges [from, to).
func (s *sorter) records(from, to int, w *extsort.Writer) error {
	a := s.e.Adj[s.e.Primary]
	near := sort.Search(a.Indptr.Len(), func(i int) bool { return a.Indptr.At(i) > uint64(from) }) - 1
	le := binary.LittleEndian
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
		b, err := w.Slot(position, s.record)
		if err != nil {
			return err
		}
		le.PutUint64(b, position)
		le.PutUint64(b[8:], uint64(i))
		le.PutUint64(b[16:], src)
		le.PutUint64(b[24:], dst)
		b = b[recordHead:]
		for k, f := range s.all[1:] {
			n := copy(b, f.column.Values[i*s.widths[k]:][:s.widths[k]])
			b = b[n:]
		}
	}
	return nil
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
		bucket++
		r.first, r.rows = first, n/s.record
		first += uint64(r.rows)
		return nil
	}, s.encode)
}

// encode sorts a bucket and makes the segments of all series.
func (s *sorter) encode(e *encoder, r *run) (err error) {
	le := binary.LittleEndian
	order := make([]int32, r.rows)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := r.raw[int(i)*s.record:], r.raw[int(j)*s.record:]
		return cmp.Or(cmp.Compare(le.Uint64(a), le.Uint64(b)), cmp.Compare(le.Uint64(a[8:]), le.Uint64(b[8:])))
	})
	at, width := 16, 16
	for k, f := range s.all {
		if k > 0 {
			width = s.widths[k-1]
		}
		e.values = e.values[:0]
		for _, i := range order {
			from := int(i)*s.record + at
			e.values = append(e.values, r.raw[from:from+width]...)
		}
		if r.segments[k], err = e.encode(f, r.first, r.rows, e.values, r.segments[k]); err != nil {
			return err
		}
		at += width
	}
	return nil
}
