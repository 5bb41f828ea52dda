package outofcore

import (
	"context"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// runPositions is the most positions that are put together for a node whose edges are all taken.
const runPositions = 64

// serveLayers reads the part of a block that the layers take. The nodes whose edges are in the block are next to each
// other, so their marks alone show which are wanted.
func (r *reader) serveLayers(number uint32, layers []*layer) error {
	f := r.fileAt(number)
	block := number - f.first
	first, end := f.positions(block)
	total, from, to := 0, uint32(0), uint32(0)
	for _, l := range layers {
		if r.fileOf[l.op] != f {
			continue
		}
		if to == 0 {
			from, to = nodesAt(r.sampler.Offsets(l.op), first, end)
		}
		total += int(l.offsets[l.cells.below(to)] - l.offsets[l.cells.below(from)])
	}
	if total == 0 {
		return nil
	}
	return r.fulfil(f, block, total, func(put func(to *results, slot uint32, pos []uint32) error) error {
		for _, l := range layers {
			if r.fileOf[l.op] == f {
				if err := r.eachMarked(f, l, from, to, first, end, put); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// nodesAt is the nodes, from from to to, that have edges at the positions from first to end.
func nodesAt(indptr graph.Index, first, end uint64) (from, to uint32) {
	at := sort.Search(indptr.Len(), func(i int) bool { return indptr.At(i) > first })
	after := sort.Search(indptr.Len(), func(i int) bool { return indptr.At(i) >= end })
	return uint32(at - 1), uint32(after)
}

// eachMarked calls put with the places in their block of the positions from first to end that a layer takes of the nodes
// from from to to.
func (r *reader) eachMarked(f *file, l *layer, from, to uint32, first, end uint64, put func(to *results, slot uint32, pos []uint32) error) error {
	s := r.sampler
	whole := s.Plan().Ops[l.op-1].How == sample.Uniform
	for rank, v := range l.cells.nodes(from, to) {
		slot := l.offsets[rank]
		n := l.offsets[rank+1] - slot
		if n == 0 {
			continue
		}
		start, stop := s.Span(l.op, v)
		if whole && uint64(n) == stop-start {
			// All edges in order. Those of a hub may lie in many blocks.
			if len(r.pos) < runPositions {
				r.pos = make([]uint32, runPositions)
			}
			for p := max(start, first); p < min(stop, end); {
				run := r.pos[:min(len(r.pos), int(min(stop, end)-p))]
				for i := range run {
					run[i] = f.place(p) + uint32(i)
				}
				if err := put(&l.results, slot+uint32(p-start), run); err != nil {
					return err
				}
				p += uint64(len(run))
			}
			continue
		}
		if most := int(s.Picks(l.op, uint32(stop-start))); len(r.pos) < most {
			r.pos = make([]uint32, 2*most)
		}
		pos := r.c.Draw(l.op, l.key, v, r.pos)
		if start >= first && stop <= end {
			shift(pos, f.place(start))
			if err := put(&l.results, slot, pos); err != nil {
				return err
			}
			continue
		}
		for i := range pos {
			if p := start + uint64(pos[i]); p >= first && p < end {
				pos[i] = f.place(p)
				if err := put(&l.results, slot+uint32(i), pos[i:i+1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// shift adds a place to places that count from it.
func shift(places []uint32, by uint32) {
	for i := range places {
		places[i] += by
	}
}

// sweepLayers fills layers in one pass over the files.
func (c *condenser) sweepLayers(ctx context.Context, layers []*layer) error {
	if !slices.ContainsFunc(layers, func(l *layer) bool { return len(l.far) > 0 }) {
		return nil
	}
	return c.pass(ctx, func(r *reader, block uint32) error { return r.serveLayers(block, layers) })
}
