package multilevel

import "math/bits"

// bitmap is a set of nodes.
type bitmap []uint64

func bitmapOf(m *memory, n int) bitmap { return takeZeros[uint64](m, (n+63)/64) }

func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }
func (b bitmap) set(v uint32)      { b[v>>6] |= 1 << (v & 63) }
func (b bitmap) unset(v uint32)    { b[v>>6] &^= 1 << (v & 63) }

// each calls f with the nodes of the words from..to-1, in ascending order.
func (b bitmap) each(from, to int, f func(v uint32)) {
	for i := from; i < min(to, len(b)); i++ {
		for w := b[i]; w != 0; w &= w - 1 {
			f(uint32(i<<6 | bits.TrailingZeros64(w)))
		}
	}
}

func (b bitmap) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n&63 != 0 {
		b[len(b)-1] = 1<<(n&63) - 1
	}
}
