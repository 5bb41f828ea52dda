package streamer

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/chunk"
)

// kernel samples nodes of one chunk. Each goroutine has its own.
type kernel struct {
	s      *Streamer
	chunk  chunk.Chunk
	number int // of the chunk
	fanout int
	key    uint64 // of the epoch and layer
	mark   bool
	picker picker
}

// run samples nodes: all neighbours and None, or fanout draws.
func (k *kernel) run(nodes, out []uint32, start uint32) error {
	for _, v := range nodes {
		i := int(v - start)
		from, to, ok := k.chunk.Span(i)
		if !ok {
			return fmt.Errorf("%s: %w: found offsets that do not lead to neighbours of node %d; verify the folder", k.s.set.Place(k.number, chunk.Offset(i)), chunk.ErrFormat, v)
		}
		one := out[:k.fanout]
		out = out[k.fanout:]
		all := k.chunk[from:to]
		n := len(all)
		if n <= len(one) {
			copy(one, all)
			for j := n; j < len(one); j++ {
				one[j] = None
			}
		} else {
			n = len(one)
			k.picker.distinct(draw.Absorb(k.key, uint64(v)), uint32(len(all)), one)
			for j, p := range one {
				one[j] = all[p]
			}
		}
		for _, u := range one[:n] {
			if uint64(u) >= k.s.set.Far {
				return fmt.Errorf("%s: %w: found the neighbour %d of node %d, expected one below %d; verify the folder", k.s.set.Place(k.number, uint64(from)), chunk.ErrFormat, u, v, k.s.set.Far)
			}
			if k.mark {
				w, bit := &k.s.marks[u>>6], uint64(1)<<(u&63)
				if atomic.LoadUint64(w)&bit == 0 { // mostly set already
					atomic.OrUint64(w, bit)
				}
			}
		}
	}
	return nil
}

// pickerSlots is the size of the table in which a picker looks for repeats.
const pickerSlots = 1024

// picker draws without repeats. A number that was drawn leaves its tick in a slot,
// where others may have left it too.
type picker struct {
	slots [pickerSlots]uint32
	tick  uint32
}

// distinct sets out to len(out) numbers below n, which must be more, in the order that
// the law finds them (Floyd's): where a number repeats, the largest that could have come
// takes its place.
func (p *picker) distinct(h uint64, n uint32, out []uint32) {
	if p.tick++; p.tick == 0 {
		clear(p.slots[:])
		p.tick = 1
	}
	top := n - uint32(len(out))
	for i := range out {
		v := uint32(draw.Below(draw.At(h, uint64(i)), uint64(top)+1))
		if p.slots[v%pickerSlots] == p.tick && slices.Contains(out[:i], v) {
			v = top
		}
		p.slots[v%pickerSlots] = p.tick
		out[i] = v
		top++
	}
}
