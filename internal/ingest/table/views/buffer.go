package views

import "github.com/graphmill/graphmill/graph"

// buffer holds the values of a vector for one chunk after the other.
type buffer struct{ words []uint64 }

// take returns n bytes that start at an 8-byte boundary, in place of those that it returned before. Their content is undefined.
func (b *buffer) take(n int) []byte {
	if n > 8*len(b.words) {
		b.words = make([]uint64, max(2*len(b.words), (n+7)/8, 64))
	}
	return graph.Bytes(b.words)[:n:n]
}
