package outofcore

import "math/bits"

const (
	mostSums = 1 << 16    // distinct keys that sums holds
	noKey    = ^uint32(0) // no node and no cluster has this number
)

// sums adds up weights by key for one row at a time: a hash table with linear probing, at most half full. It takes at most
// 2 MiB.
type sums struct {
	keys  []uint32
	sum   []uint64
	slots []uint32 // that are used, in the order of the first use
	shift uint     // a key's slot is the top bits of its hash
}

// newSums makes a table for rows of at most n entries; of longer rows it takes the first keys.
func newSums(n int) *sums {
	size := tableSize(n)
	s := &sums{keys: make([]uint32, size), sum: make([]uint64, size)}
	for i := range s.keys {
		s.keys[i] = noKey
	}
	return s
}

// reset empties the table and prepares for a row of n entries. A small row uses a small part of the table.
func (s *sums) reset(n int) {
	for _, i := range s.slots {
		s.keys[i] = noKey
	}
	s.slots = s.slots[:0]
	s.shift = uint(65 - bits.Len(uint(tableSize(n))))
}

// tableSize is the number of slots for a row of n entries, a power of two.
func tableSize(n int) int { return 1 << bits.Len(uint(max(8, 2*min(n, mostSums)-1))) }

// add adds a weight to a key. It reports false where the table is full and the key is new.
func (s *sums) add(key uint32, weight uint32) bool {
	mask := uint32(1)<<(64-s.shift) - 1
	for i := uint32(uint64(key) * 0x9e3779b97f4a7c15 >> s.shift); ; i = (i + 1) & mask {
		switch s.keys[i] {
		case key:
			s.sum[i] += uint64(weight)
			return true
		case noKey:
			if len(s.slots) == mostSums {
				return false
			}
			s.keys[i], s.sum[i] = key, uint64(weight)
			s.slots = append(s.slots, i)
			return true
		}
	}
}
