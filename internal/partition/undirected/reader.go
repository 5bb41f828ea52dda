package undirected

import (
	"github.com/graphmill/graphmill/internal/store"
)

// Reader makes the rows of ranges of nodes, for workers that each have one. The store lists an edge in the row of its near end alone, so the worker that has
// this end tells that of the far end. One goroutine uses a Reader at a time.
type Reader struct {
	b *builder
	m rowMaker
}

// NewReader makes a Reader of all edges of a store.
func NewReader(s *store.Store) (*Reader, error) {
	b, err := newBuilder(s, BuildOptions{Threads: 1})
	if err != nil {
		return nil, err
	}
	return &Reader{b: b}, nil
}

// Nodes is the number of nodes of all types.
func (r *Reader) Nodes() int { return r.b.nodes }

// Mirror calls fn for each edge whose near end is one of the nodes from..to-1, but loops: with the far end, and the record that is for the range which has
// it. It checks the edges.
func (r *Reader) Mirror(from, to int, fn func(far uint32, record uint64) error) error {
	for i := range r.b.types {
		e := &r.b.types[i]
		lo, hi := e.overlap(from, to)
		if lo == hi {
			continue
		}
		lo, hi = lo-int(e.near), hi-int(e.near)
		var err error
		if far := e.adjacency.Far; far.U64 != nil {
			err = mirrorFar(r.b, e, far.U64, lo, hi, fn)
		} else {
			err = mirrorFar(r.b, e, far.U32, lo, hi, fn)
		}
		if err != nil {
			return err
		}
		if err := r.b.s.Touched(e.adjacency.RowBytes(lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

func mirrorFar[T uint32 | uint64](b *builder, e *edges, far []T, from, to int, fn func(far uint32, record uint64) error) error {
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
		u := uint32(e.near) + uint32(row)
		for i, x := range far[at:end] {
			if uint64(x) >= e.fars {
				return b.damaged(e, "found id %d at %d, expected one below %d", x, at+uint64(i), e.fars)
			}
			v := uint32(e.far) + uint32(x)
			if u == v {
				continue
			}
			if err := fn(v, uint64(u)<<32|uint64(v)); err != nil {
				return err
			}
		}
		at = end
	}
	return nil
}

// Rows returns the rows of the nodes from..to-1, as Build makes them. records are all that Mirror gave for far ends among these nodes, in any order; Mirror has checked the edges
// of the range. The block is valid until the next call.
func (r *Reader) Rows(from, to int, records []uint64) (Block, error) {
	if err := r.m.fill(r.b, records, from, to); err != nil {
		return Block{}, err
	}
	// The ends of the rows were places in the list before duplicates were dropped.
	r.m.ends = sized(r.m.ends, to-from+1)
	r.m.ends[0] = 0
	for i, d := range r.m.degrees {
		r.m.ends[i+1] = r.m.ends[i] + d
	}
	return Block{First: uint32(from), Offsets: r.m.ends, Neighbours: r.m.neighbours}, nil
}
