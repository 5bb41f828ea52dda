//go:build unix

package streamer

import (
	"fmt"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/sample"
)

// kernel samples nodes of one chunk. Each goroutine has its own.
type kernel struct {
	s      *Streamer
	chunk  chunk.Chunk
	number int // of the chunk
	fanout int
	key    uint64 // of the epoch and layer
	mark   bool
	picker sample.Picker
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
			k.picker.Distinct(draw.Absorb(k.key, uint64(v)), uint32(len(all)), one)
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
				if atomic.LoadUint64(w)&bit == 0 { // it is mostly set already
					atomic.OrUint64(w, bit)
				}
			}
		}
	}
	return nil
}
