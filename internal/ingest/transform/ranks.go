package transform

import (
	"math/bits"

	"github.com/graphmill/graphmill/graph"
)

// ranks number the positions that occur in a column of positions, in ascending order. They take a bit per position, and 4
// bytes per 64 positions.
type ranks struct {
	at     func(row int) uint64
	none   uint64 // the position of edges that were added
	bits   []uint64
	before []uint32 // positions that occur before each word of bits
	count  int
}

func newRanks(c *graph.Column) *ranks {
	r := &ranks{none: uint64(1)<<(8*c.DType.Size()) - 1}
	if c.DType == graph.Uint32 {
		values := graph.View[uint32](c.Values)
		r.at = func(row int) uint64 { return uint64(values[row]) }
	} else {
		values := graph.View[uint64](c.Values)
		r.at, r.none = func(row int) uint64 { return values[row] }, ^uint64(0)
	}
	top := uint64(0)
	for i := range c.Rows {
		if p := r.at(i); p != r.none {
			top = max(top, p+1)
		}
	}
	r.bits = make([]uint64, (top+63)/64)
	for i := range c.Rows {
		if p := r.at(i); p != r.none {
			r.bits[p/64] |= 1 << (p % 64)
		}
	}
	for _, w := range r.bits {
		r.before = append(r.before, uint32(r.count))
		r.count += bits.OnesCount64(w)
	}
	return r
}

// of returns the rank of the position of a row. It returns false for edges that were added.
func (r *ranks) of(row int) (int, bool) {
	p := r.at(row)
	if p == r.none {
		return 0, false
	}
	return int(r.before[p/64]) + bits.OnesCount64(r.bits[p/64]&(1<<(p%64)-1)), true
}
