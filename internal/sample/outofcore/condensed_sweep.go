package outofcore

import (
	"context"
	"slices"

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
				if err := r.eachMarked(l, from, to, first, end, put); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// nodesAt is the nodes, from from to to, that have edges at the positions from first to end.
func nodesAt(indptr []uint32, first, end uint32) (from, to uint32) {
	at, _ := slices.BinarySearch(indptr, first+1)
	after, _ := slices.BinarySearch(indptr, end)
	return uint32(at - 1), uint32(after)
}

// eachMarked calls put with the positions from first to end that a layer takes of the nodes from from to to.
func (r *reader) eachMarked(l *layer, from, to, first, end uint32, put func(to *results, slot uint32, pos []uint32) error) error {
	s := r.sampler
	indptr, whole := s.Offsets(l.op), s.Plan().Ops[l.op-1].How == sample.Uniform
	for rank, v := range l.cells.nodes(from, to) {
		slot := l.offsets[rank]
		n := l.offsets[rank+1] - slot
		if n == 0 {
			continue
		}
		start, stop := indptr[v], indptr[v+1]
		if whole && n == stop-start {
			// All edges in order. Those of a hub may lie in many blocks.
			if len(r.pos) < runPositions {
				r.pos = make([]uint32, runPositions)
			}
			for p := max(start, first); p < min(stop, end); {
				run := r.pos[:min(len(r.pos), int(min(stop, end)-p))]
				for i := range run {
					run[i] = p + uint32(i)
				}
				if err := put(&l.results, slot+p-start, run); err != nil {
					return err
				}
				p += uint32(len(run))
			}
			continue
		}
		if most := int(s.Picks(l.op, stop-start)); len(r.pos) < most {
			r.pos = make([]uint32, 2*most)
		}
		pos := r.c.Draw(l.op, l.key, v, r.pos)
		if start >= first && stop <= end {
			if err := put(&l.results, slot, pos); err != nil {
				return err
			}
			continue
		}
		for i, p := range pos {
			if p >= first && p < end {
				if err := put(&l.results, slot+uint32(i), pos[i:i+1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sweepLayers fills layers in one pass over the files.
func (c *condenser) sweepLayers(ctx context.Context, layers []*layer) error {
	if !slices.ContainsFunc(layers, func(l *layer) bool { return len(l.far) > 0 }) {
		return nil
	}
	return c.pass(ctx, func(r *reader, block uint32) error { return r.serveLayers(block, layers) })
}
