package draw

import "fmt"

// RMATMaxScale is the largest scale of an R-MAT graph, because ids have 32 bits.
const RMATMaxScale = 32

// RMAT is the R-MAT graph of Graph500 (A .57, B .19, C .19) with 2^scale nodes. It is a pure function of seed and
// scale, so it is the same on every machine. It is immutable and safe for concurrent use.
type RMAT struct {
	prefix uint64
	scale  int
	labels *Order
}

// NewRMAT prepares the graph of a seed and a scale from 1 to RMATMaxScale.
func NewRMAT(seed uint64, scale int) (*RMAT, error) {
	if scale < 1 || scale > RMATMaxScale {
		return nil, fmt.Errorf("found R-MAT scale %d, expected 1 to %d", scale, RMATMaxScale)
	}
	return &RMAT{
		prefix: Key(seed, 0, rmatEdge),
		scale:  scale,
		labels: NewOrder(1<<scale, Key(seed, 0, rmatLabels)),
	}, nil
}

// Nodes is the number of nodes.
func (m *RMAT) Nodes() uint64 { return 1 << m.scale }

// Fill sets the ends of the edges first, first+1, ... src and dst must have the same length.
func (m *RMAT) Fill(src, dst []uint32, first uint64) {
	for i := range src {
		src[i], dst[i] = m.edge(first + uint64(i))
	}
	m.labels.Map32(src)
	m.labels.Map32(dst)
}

// edge is the ends of an edge before nodes are renumbered.
func (m *RMAT) edge(i uint64) (src, dst uint32) {
	// floor(2^64 * .57, .76, .95): the bounds of the quadrants B, C and D.
	const a, b, c = 57 << 64 / 100, 76 << 64 / 100, 95 << 64 / 100
	h := Absorb(m.prefix, i)
	for range m.scale {
		h += Gamma
		r := Mix(h)
		var inB, inC, inD uint32
		if r >= a {
			inB = 1
		}
		if r >= b {
			inC = 1
		}
		if r >= c {
			inD = 1
		}
		src = src<<1 | inC
		dst = dst<<1 | inB ^ inC ^ inD
	}
	return src, dst
}
