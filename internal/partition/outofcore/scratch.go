package outofcore

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// scratch is an array of 32-bit numbers in a temporary file.
type scratch struct {
	*extsort.Scratch
	n int
}

// scratchStep is the number of elements that are read at once.
const scratchStep = 1 << 16

// write writes an array to a temporary file.
func (r *run) write(words []uint32) (*scratch, error) {
	bytes := graph.Bytes(words)
	s, err := extsort.NewScratch(r.FS, r.Temp, int64(len(bytes)), 0)
	if err != nil {
		return nil, err
	}
	r.stats.Written += int64(len(bytes))
	if err := s.WriteAt(bytes, 0); err != nil {
		_ = s.Close()
		return nil, err
	}
	return &scratch{s, len(words)}, nil
}

// each calls fn for every element.
func (s *scratch) each(ctx context.Context, fn func(i int, x uint32)) error {
	words := make([]uint32, min(s.n, scratchStep))
	for from := 0; from < s.n; from += len(words) {
		if err := ctx.Err(); err != nil {
			return err
		}
		words = words[:min(len(words), s.n-from)]
		if err := s.ReadAt(graph.Bytes(words), 4*int64(from)); err != nil {
			return err
		}
		for i, x := range words {
			fn(from+i, x)
		}
	}
	return nil
}
