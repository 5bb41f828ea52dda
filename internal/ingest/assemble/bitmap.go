package assemble

import "math/bits"

// bitmap is a set of rows. before holds the number of members before each word.
type bitmap struct {
	words []uint64
	ranks []uint64
	count uint64
}

func newBitmap(n uint64) *bitmap { return &bitmap{words: make([]uint64, (n+63)/64)} }

// has says whether row is a member. Rows of added nodes, which follow the table, are not.
func (m *bitmap) has(row uint64) bool {
	return row/64 < uint64(len(m.words)) && m.words[row/64]>>(row&63)&1 != 0
}

func (m *bitmap) add(row uint64) { m.words[row/64] |= 1 << (row & 63) }

// rank makes before usable. Nothing may be added afterwards.
func (m *bitmap) rank() {
	m.ranks = make([]uint64, len(m.words))
	m.count = 0
	for i, w := range m.words {
		m.ranks[i] = m.count
		m.count += uint64(bits.OnesCount64(w))
	}
}

// before returns the number of members below row.
func (m *bitmap) before(row uint64) uint64 {
	return m.ranks[row/64] + uint64(bits.OnesCount64(m.words[row/64]&(1<<(row&63)-1)))
}
