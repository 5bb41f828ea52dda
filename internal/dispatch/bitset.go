package dispatch

import (
	"math/bits"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// bitset is a set of new ids. After index, rank counts the members below an id.
//
// Ids are asked for in random order, and sets of large graphs exceed the caches of the processor. So the bits of an id and the number of
// members before them are in one cache line: each line has that number in its lowest 32 bits, and then a bit for each of lineIDs ids.
type bitset struct {
	slab  []byte
	words []uint64 // lineWords for each line
}

const (
	lineWords = 4
	countBits = 32
	lineIDs   = 64*lineWords - countBits
)

// bitsetBytes is the memory of a set of ids below n.
func bitsetBytes(n int) int64 {
	lines := (int64(n) + lineIDs - 1) / lineIDs
	return 8 * lineWords * lines
}

func newBitset(n int) (*bitset, error) {
	slab, err := extsort.Slab(int(bitsetBytes(n)))
	if err != nil {
		return nil, err
	}
	return &bitset{slab: slab, words: graph.View[uint64](slab)}, nil
}

func (s *bitset) close() {
	extsort.Free(s.slab)
	*s = bitset{}
}

// bitPlace is the line of an id, and the id's bit in the line.
func bitPlace(id uint32) (line, bit uint32) {
	line = id / lineIDs
	return line, id - line*lineIDs + countBits
}

// word is the word that has the bit of id, and the bit.
func (s *bitset) word(id uint32) (*uint64, uint64) {
	line, bit := bitPlace(id)
	return &s.words[lineWords*int(line)+int(bit/64)], 1 << (bit % 64)
}

// set adds id. It may be called concurrently, but not after index.
func (s *bitset) set(id uint32) {
	w, bit := s.word(id)
	if atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// setAll is set for each of ids. It first loads the words of all, so that the processor fetches many lines at a time.
func (s *bitset) setAll(ids []uint32) {
	const some = 64
	for len(ids) > 0 {
		now := ids[:min(some, len(ids))]
		ids = ids[len(now):]
		var words [some]*uint64
		var bit [some]uint64
		for i, id := range now {
			w, b := s.word(id)
			words[i], bit[i] = w, ^atomic.LoadUint64(w)&b
		}
		for i := range now {
			if bit[i] != 0 && atomic.LoadUint64(words[i])&bit[i] == 0 {
				atomic.OrUint64(words[i], bit[i])
			}
		}
	}
}

// has reports whether id is a member. No set may run concurrently.
func (s *bitset) has(id uint32) bool {
	w, bit := s.word(id)
	return *w&bit != 0
}

// index prepares rank and returns the number of members.
func (s *bitset) index() int {
	n := uint32(0)
	for at := 0; at < len(s.words); at += lineWords {
		line := s.words[at : at+lineWords]
		line[0] |= uint64(n)
		n += uint32(bits.OnesCount64(line[0]>>countBits) + bits.OnesCount64(line[1]) + bits.OnesCount64(line[2]) + bits.OnesCount64(line[3]))
	}
	return int(n)
}

// fetch loads the line of id and returns some of it, for a loop over many ids before that over their ranks. The processor then waits for many
// lines at a time; rank alone has too many instructions for that.
func (s *bitset) fetch(id uint32) uint64 { return s.words[lineWords*int(id/lineIDs)] }

// rank is the number of members below id.
func (s *bitset) rank(id uint32) uint32 {
	i, bit := bitPlace(id)
	line := (*[lineWords]uint64)(s.words[lineWords*int(i):])
	n := uint32(line[0]) + uint32(bits.OnesCount64(line[0]>>countBits<<countBits&below(bit, 0)))
	n += uint32(bits.OnesCount64(line[1] & below(bit, 64)))
	n += uint32(bits.OnesCount64(line[2] & below(bit, 128)))
	return n + uint32(bits.OnesCount64(line[3]&below(bit, 192)))
}

// below has the bits of a line below bit, in the word whose first bit is number first. It has no branch, because bit is random.
func below(bit, first uint32) uint64 {
	n := min(max(bit, first)-first, 64)
	return 1<<n - 1
}

// members calls fn for each member, in ascending order.
func (s *bitset) members(fn func(id uint32) error) error {
	for i, w := range s.words {
		first := i/lineWords*lineIDs + i%lineWords*64 - countBits
		if i%lineWords == 0 {
			w = w >> countBits << countBits
		}
		for ; w != 0; w &= w - 1 {
			if err := fn(uint32(first + bits.TrailingZeros64(w))); err != nil {
				return err
			}
		}
	}
	return nil
}
