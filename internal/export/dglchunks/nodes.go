package dglchunks

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/ordered"
)

// run is a run of rows on the way to the files.
type run struct {
	first    uint64
	rows     int
	raw      []byte      // records of edges
	base     uint64      // the least position of the records
	segments [][]segment // segments of each series
}

// pipe writes runs into series: fill prepares the next run, and work makes its segments, which are written in order.
func (x *exporter) pipe(ctx context.Context, all []*series, fill func(*run) error, work func(*encoder, *run) error) (err error) {
	err = ordered.Run(ctx, x.o.Threads, func() *encoder { return &encoder{} }, func() *run { return &run{segments: make([][]segment, len(all))} }, ordered.Stages[*encoder, *run]{
		Fill: fill,
		Work: func(_ context.Context, e *encoder, r *run) error { return work(e, r) },
		Sink: func(r *run) error {
			read := 0
			for i, s := range all {
				for k := range r.segments[i] {
					if err := s.write(&r.segments[i][k]); err != nil {
						return err
					}
					read += len(r.segments[i][k].bytes)
				}
			}
			x.r.Rows += uint64(r.rows)
			if x.o.Progress != nil {
				x.o.Progress(r.rows)
			}
			return x.release(read)
		},
	})
	for _, s := range all {
		err = errors.Join(err, s.close(false))
	}
	return err
}

// runBytes is about the number of bytes of values that are encoded at a time.
const runBytes = 1 << 20

// nodes writes a column of nodes.
func (x *exporter) nodes(ctx context.Context, s *series, count int) error {
	width := s.column.RowBytes()
	step := max(1, runBytes/width)
	next := 0
	var wide widening.Write
	if s.column.Wide() {
		wide = s.column.Writer(s.column.DType, nil)
	}
	return x.pipe(ctx, []*series{s}, func(r *run) error {
		if next >= count {
			return io.EOF
		}
		r.first, r.rows = uint64(next), min(step, count-next)
		next += r.rows
		return nil
	}, func(e *encoder, r *run) (err error) {
		from, n := int(r.first), r.rows*width
		var values []byte
		if wide != nil {
			e.values = slices.Grow(e.values[:0], n)[:n]
			wide.Range(e.values, width, from, from+r.rows)
			values = e.values
		} else {
			values = s.column.Values[from*width:][:n]
		}
		r.segments[0], err = e.encode(s, r.first, r.rows, values, r.segments[0])
		return err
	})
}
