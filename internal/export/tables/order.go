package tables

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// block is a run of rows on the way to a file.
type block struct {
	rows     []uint64 // numbers of nodes, or edge ids
	src, dst []uint64 // the ends of edges
	shard    int
	bytes    []byte
	pages    []pageOf
}

// rowOrder is the order of the rows of a table.
type rowOrder interface {
	// fill sets the rows of a block to the next n.
	fill(ctx context.Context, b *block, n int) error
}

// counted is the order of the numbers.
type counted struct{ rows, next int }

func (c *counted) fill(ctx context.Context, b *block, n int) error {
	b.rows = b.rows[:0]
	for range n {
		b.rows = append(b.rows, uint64(c.next))
		c.next++
	}
	return ctx.Err()
}

// withEnds adds the ends of edges.
type withEnds struct {
	rowOrder
	edges *graph.Edges
}

// find sets the ends of the edges of a block.
func (x *withEnds) find(b *block) {
	a := x.edges.Adj[x.edges.Primary]
	b.src, b.dst = b.src[:0], b.dst[:0]
	node := 0
	for i, id := range b.rows {
		if i == 0 || id != b.rows[i-1]+1 {
			node = sort.Search(a.Indptr.Len()-1, func(v int) bool { return a.Indptr.At(v+1) > id })
		}
		for a.Indptr.At(node+1) <= id {
			node++
		}
		b.src, b.dst = append(b.src, a.Far.At(int(id))), append(b.dst, uint64(node))
	}
	if x.edges.Primary == graph.Out {
		b.src, b.dst = b.dst, b.src
	}
}

// A record of the sort is the position and the id of an edge.
const (
	recordBytes = 16
	bucketBytes = 2 << 20
	mostBuckets = 4096
	// cutEdges is the number of edges between two looks at the context.
	cutEdges = 1 << 16
)

// sortedEdges is the order of the positions of edges, and of the edge ids among equal positions.
type sortedEdges struct {
	spill  *extsort.Spill
	cuts   *extsort.Partition
	bucket int
	raw    []byte
	keys   [][2]uint64 // positions and ids of a bucket, sorted
	next   int
}

// sortEdges sorts the edges of a type by their positions. The caller closes the result.
func (x *exporter) sortEdges(ctx context.Context, e *graph.Edges, positions graph.Index) (_ *sortedEdges, err error) {
	if positions.Len() != e.Count {
		return nil, fmt.Errorf("found %d positions of %d edges, expected one per edge; graphmill verify finds damage", positions.Len(), e.Count)
	}
	top := uint64(max(e.Count, 1))
	for i := range positions.Len() {
		top = max(top, positions.At(i))
	}
	buckets, extent := 1, 64<<10
	for buckets < mostBuckets && int64(e.Count)*recordBytes/int64(buckets) > bucketBytes {
		buckets *= 2
	}
	for extent > 4<<10 && int64(buckets*extent) > sortBytes/2 {
		extent /= 2
	}
	shift := max(0, bits.Len64(top)-bits.Len(uint(buckets-1)))
	spill := extsort.NewSpill(x.fsys, x.w.Dir(), x.sorting)
	s := &sortedEdges{spill: spill, cuts: extsort.NewPartition(spill, buckets, extent, uint(shift))}
	w, err := s.cuts.Writer()
	for i := 0; i < e.Count && err == nil; i++ {
		if i%cutEdges == 0 {
			err = errors.Join(ctx.Err(), x.pages.touched(8*cutEdges))
		}
		var b []byte
		if err == nil {
			b, err = w.Slot(positions.At(i), recordBytes)
		}
		if err == nil {
			binary.LittleEndian.PutUint64(b, positions.At(i))
			binary.LittleEndian.PutUint64(b[8:], uint64(i))
		}
	}
	if err == nil {
		err = s.cuts.Finish()
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *sortedEdges) fill(ctx context.Context, b *block, n int) error {
	b.rows = b.rows[:0]
	for len(b.rows) < n {
		if s.next == len(s.keys) {
			if err := errors.Join(ctx.Err(), s.load()); err != nil {
				return err
			}
		}
		take := min(n-len(b.rows), len(s.keys)-s.next)
		for _, k := range s.keys[s.next:][:take] {
			b.rows = append(b.rows, k[1])
		}
		s.next += take
	}
	return nil
}

// load sorts the next bucket.
func (s *sortedEdges) load() error {
	n := int(s.cuts.Bytes(s.bucket))
	s.raw = slices.Grow(s.raw[:0], n)[:n]
	if _, err := s.cuts.Load(s.bucket, s.raw); err != nil {
		return err
	}
	s.cuts.Free(s.bucket)
	s.bucket++
	s.keys, s.next = s.keys[:0], 0
	for at := 0; at < n; at += recordBytes {
		s.keys = append(s.keys, [2]uint64{binary.LittleEndian.Uint64(s.raw[at:]), binary.LittleEndian.Uint64(s.raw[at+8:])})
	}
	slices.SortFunc(s.keys, func(x, y [2]uint64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	return nil
}

func (s *sortedEdges) close() error {
	s.cuts.Close()
	return s.spill.Close()
}
