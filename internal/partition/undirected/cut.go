package undirected

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/graphmill/graphmill/internal/extsort"
)

// cutRows is the number of rows of a type that a goroutine takes at once.
const cutRows = 1 << 12

// eachRows calls fn for ranges of rows of each type, on several goroutines.
func (b *builder) eachRows(ctx context.Context, fn func(worker int, e *edges, from, to int) error) error {
	first := make([]int, len(b.types)+1) // jobs before each type
	for i, e := range b.types {
		first[i+1] = first[i] + (e.rows+cutRows-1)/cutRows
	}
	return scan(ctx, first[len(b.types)], b.Threads, func(_ context.Context, worker, job int) error {
		t := 0
		for job >= first[t+1] {
			t++
		}
		e := &b.types[t]
		from := (job - first[t]) * cutRows
		to := min(e.rows, from+cutRows)
		if err := fn(worker, e, from, to); err != nil {
			return err
		}
		return b.s.Touched(e.adjacency.RowBytes(from, to))
	})
}

// cut puts every edge into the bucket of its far end. A record is the far end and the near end.
func (b *builder) cut(ctx context.Context) error {
	if err := b.divide(ctx); err != nil {
		return err
	}
	writers := make([]*extsort.Writer, max(1, b.Threads))
	for i := range writers {
		var err error
		if writers[i], err = b.cuts.Writer(); err != nil {
			return err
		}
	}
	err := b.eachRows(ctx, func(worker int, e *edges, from, to int) error {
		far := e.adjacency.Far
		if far.U64 != nil {
			return cutFar(b, e, far.U64, from, to, writers[worker])
		}
		return cutFar(b, e, far.U32, from, to, writers[worker])
	})
	if err != nil {
		return err
	}
	return b.cuts.Finish()
}

func cutFar[T uint32 | uint64](b *builder, e *edges, far []T, from, to int, w *extsort.Writer) error {
	ptr := e.adjacency.Indptr
	at := ptr.At(from)
	begin := at
	for row := from; row < to; row++ {
		end := ptr.At(row + 1)
		u := uint32(e.near) + uint32(row)
		for _, x := range far[at:end] {
			v := uint32(e.far) + uint32(x)
			if u == v {
				continue
			}
			key := uint64(b.bucket[v>>b.granule])
			r := w.Fast(key, 8)
			if r == nil {
				var err error
				if r, err = w.Slot(key, 8); err != nil {
					return err
				}
			}
			binary.LittleEndian.PutUint64(r, uint64(u)<<32|uint64(v))
		}
		at = end
	}
	b.tell(int64(at - begin))
	return nil
}

const (
	mostBuckets = 512     // few enough that the buffers before them stay in the cache
	leastBucket = 1 << 15 // neighbours of a bucket; smaller buckets are not worth their cost
	granules    = 1 << 16 // ranges of nodes that buckets are made of
	extentBytes = 16 << 10
)

// divide makes buckets of about equally many neighbours, regardless of the node types, and checks the edges.
func (b *builder) divide(ctx context.Context) error {
	for b.nodes>>b.granule > granules {
		b.granule++
	}
	n := b.nodes>>b.granule + 1
	counts := make([][]uint64, max(1, b.Threads))
	for i := range counts {
		counts[i] = make([]uint64, n)
	}
	err := b.eachRows(ctx, func(worker int, e *edges, from, to int) error {
		far := e.adjacency.Far
		if far.U64 != nil {
			return countFar(b, e, far.U64, from, to, counts[worker])
		}
		return countFar(b, e, far.U32, from, to, counts[worker])
	})
	if err != nil {
		return err
	}
	total := uint64(0)
	sum := counts[0]
	for i := range sum {
		for _, c := range counts[1:] {
			sum[i] += c[i]
		}
		sum[i] += 1 << b.granule // a node has a cost of its own
		total += sum[i]
	}
	buckets := 1
	for buckets < mostBuckets && total/uint64(buckets) > leastBucket {
		buckets *= 2
	}
	b.bucket, b.starts = make([]uint16, n), []int{0}
	share := float64(buckets) / float64(total)
	before := uint64(0)
	for i, c := range sum {
		b.bucket[i] = uint16(min(buckets-1, int(float64(before)*share)))
		for len(b.starts) <= int(b.bucket[i]) {
			b.starts = append(b.starts, i<<b.granule)
		}
		before += c
	}
	b.starts = append(b.starts, b.nodes)

	extent, hold := extentBytes, int64(math.MaxInt64)
	if b.Memory > 0 {
		buffers := int64(len(counts) * buckets * extent)
		for extent > 4<<10 && buffers > b.Memory/4 {
			extent, buffers = extent/2, buffers/2
		}
		hold = max(0, b.Memory-buffers)
	}
	b.spill = extsort.NewSpill(b.FS, b.Temp, hold)
	b.cuts = extsort.NewPartition(b.spill, buckets, extent, 0)
	return nil
}

// countFar counts the neighbours that the rows will have, by the granules of both ends.
func countFar[T uint32 | uint64](b *builder, e *edges, far []T, from, to int, counts []uint64) error {
	ptr := e.adjacency.Indptr
	at := ptr.At(from)
	if at > uint64(e.count) {
		return b.damaged(e, "found offset %d at %d, expected offsets that ascend to %d", at, from, e.count)
	}
	for row := from; row < to; row++ {
		end := ptr.At(row + 1)
		if end < at || end > uint64(e.count) {
			return b.damaged(e, "found offset %d at %d, expected offsets that ascend to %d", end, row+1, e.count)
		}
		for i, x := range far[at:end] {
			if uint64(x) >= e.fars {
				return b.damaged(e, "found id %d at %d, expected one below %d", x, at+uint64(i), e.fars)
			}
			counts[(uint32(e.far)+uint32(x))>>b.granule]++
		}
		counts[(uint32(e.near)+uint32(row))>>b.granule] += end - at
		at = end
	}
	return nil
}
