package dispatch

import (
	"math/bits"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// bitset is a set of new ids. After index, rank counts the members below an id.
type bitset struct {
	slab  []byte
	words []uint64
	ranks []uint32 // members before word rankWords*i; index fills them
}

// rankWords is the number of words that share an entry of ranks.
const rankWords = 8

// bitsetBytes is the memory of a set of ids below n.
func bitsetBytes(n int) int64 {
	words := (n + 63) / 64
	return int64(8*words + 4*(words/rankWords+1))
}

func newBitset(n int) (*bitset, error) {
	words := (n + 63) / 64
	slab, err := extsort.Slab(int(bitsetBytes(n)))
	if err != nil {
		return nil, err
	}
	return &bitset{slab: slab, words: graph.View[uint64](slab[:8*words]), ranks: graph.View[uint32](slab[8*words:])}, nil
}

func (s *bitset) close() {
	extsort.Free(s.slab)
	*s = bitset{}
}

// set adds id; it may be called concurrently.
func (s *bitset) set(id uint32) {
	w, bit := &s.words[id/64], uint64(1)<<(id%64)
	if atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// has reports whether id is a member. No set may run concurrently.
func (s *bitset) has(id uint32) bool { return s.words[id/64]>>(id%64)&1 != 0 }

// index prepares rank and returns the number of members.
func (s *bitset) index() int {
	n := 0
	for i, w := range s.words {
		if i%rankWords == 0 {
			s.ranks[i/rankWords] = uint32(n)
		}
		n += bits.OnesCount64(w)
	}
	return n
}

// rank is the number of members below id.
func (s *bitset) rank(id uint32) uint32 {
	at := int(id / 64)
	first := at / rankWords * rankWords
	n := s.ranks[at/rankWords]
	for _, w := range s.words[first:at] {
		n += uint32(bits.OnesCount64(w))
	}
	return n + uint32(bits.OnesCount64(s.words[at]&(1<<(id%64)-1)))
}

// members calls fn for each member, in ascending order.
func (s *bitset) members(fn func(id uint32) error) error {
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if err := fn(uint32(i*64 + bits.TrailingZeros64(w))); err != nil {
				return err
			}
		}
	}
	return nil
}
