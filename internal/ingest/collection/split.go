package collection

import (
	"context"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// unknown stands for a number of graphs that is not known yet.
const unknown = -1

// offsets reads a Split as graphs + 1 offsets, from 0 on. graphs is the number of graphs, or unknown, in which case
// IDs must not skip a graph. limit bounds the bytes of the offsets, and likely the number of graphs.
func (s *Split) offsets(ctx context.Context, graphs int, limit, likely int64) ([]uint64, error) {
	check := func(n int64) error {
		switch {
		case n*8 > limit:
			return s.tooMany(limit)
		case n > likely:
			return badf("%s: found more than %d graphs, expected fewer, %d for each byte of the files; is the file right?", s.file(), likely, limits.PerByte)
		}
		return nil
	}
	if err := check(int64(graphs)); err != nil {
		return nil, err
	}
	r := &splitReader{s: s, graphs: graphs, ptr: []uint64{0}}
	if s.Kind == Offsets {
		r.ptr = nil
	}
	rows, err := s.Table.Scan(ctx, []table.Column{{Name: s.Column, DType: graph.Uint64}}, 1, func(_ int, c *table.Chunk) error {
		if err := check(int64(len(r.ptr))); err != nil {
			return err
		}
		for i, v := range graph.View[uint64](c.Columns[0].Data) {
			if err := r.add(c.First+uint64(i), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.Kind == IDs && graphs == unknown && rows > 0 {
		r.ptr = append(r.ptr, rows)
	}
	if s.Kind == Offsets && r.ptr == nil {
		return nil, badf("%s: found no offsets, expected one more than there are graphs; write the array again", s.file())
	}
	if s.Kind == IDs && graphs != unknown {
		for len(r.ptr) <= graphs {
			r.ptr = append(r.ptr, rows)
		}
	}
	if n := len(r.ptr) - 1; graphs != unknown && n != graphs {
		return nil, badf("%s: found %d graphs, expected %d, as in the other tables; give all types offsets of the same graphs", s.file(), n, graphs)
	}
	return r.ptr, nil
}

func (s *Split) file() string { return s.Table.Files()[len(s.Table.Files())-1] }

// splitReader makes offsets from one value after the other.
type splitReader struct {
	s      *Split
	graphs int
	ptr    []uint64
}

func (r *splitReader) add(row, v uint64) error {
	s := r.s
	bad := func(expected string, a ...any) error {
		return badf("%s: found %d, expected "+expected, append([]any{s.Table.Where(row, s.Column), v}, a...)...)
	}
	last := uint64(0)
	if len(r.ptr) > 0 {
		last = r.ptr[len(r.ptr)-1]
	}
	switch s.Kind {
	case Offsets:
		if row == 0 && v != 0 || v < last {
			return bad("offsets that ascend from 0; the one before is %d", last)
		}
		if v > math.MaxInt64 {
			return bad("an offset below 2^63")
		}
		r.ptr = append(r.ptr, v)
	case Counts:
		if v > math.MaxInt64-last {
			return bad("counts whose sum is below 2^63")
		}
		r.ptr = append(r.ptr, last+v)
	case IDs:
		at := uint64(len(r.ptr) - 1) // the graph of the row before
		switch {
		case v < s.Base:
			return bad("graphs from %d", s.Base)
		case r.graphs != unknown && v-s.Base >= uint64(r.graphs):
			return bad("one of the %d graphs, from %d", r.graphs, s.Base)
		case v-s.Base < at:
			return bad("at least %d, as the rows of a graph must be together and graphs must ascend; sort the rows by graph", at+s.Base)
		case r.graphs == unknown && v-s.Base > at+1, r.graphs == unknown && row == 0 && v != s.Base:
			return bad("%d or the next graph, as no table of the graphs says that some have no rows", at+s.Base)
		}
		for ; at < v-s.Base; at++ {
			r.ptr = append(r.ptr, row)
		}
	}
	return nil
}

func (s *Split) tooMany(limit int64) error {
	return tagged.Errorf(errMemory, "%s: found more than %d graphs, expected at most as many as `Memory` has room for the offsets of; give more `Memory`", s.file(), limit/8)
}
