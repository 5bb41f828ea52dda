// Package tally adds up weights by key, for one row of a graph at a time.
package tally

import "math/bits"

const (
	mostKeys = 1 << 16 // distinct keys that a Table holds
	// NoKey is no node, cluster or part.
	NoKey = ^uint32(0)
)

// Table adds up weights by key for one row at a time: a hash table with linear probing, at most half full. It takes at most
// 2 MiB.
type Table struct {
	// Keys and Sums have the keys and the sums of their weights at the slots in Slots, which lists those in use in the order of their first use.
	Keys  []uint32
	Sums  []uint64
	Slots []uint32
	shift uint // a key's slot is the top bits of its hash
}

// New makes a table for rows of at most n entries; of longer rows it takes the first keys.
func New(n int) *Table {
	size := tableSize(n)
	t := &Table{Keys: make([]uint32, size), Sums: make([]uint64, size)}
	for i := range t.Keys {
		t.Keys[i] = NoKey
	}
	return t
}

// Reset empties the table and prepares for a row of n entries. A small row uses a small part of the table.
func (t *Table) Reset(n int) {
	for _, i := range t.Slots {
		t.Keys[i] = NoKey
	}
	t.Slots = t.Slots[:0]
	t.shift = uint(65 - bits.Len(uint(tableSize(n))))
}

// tableSize is the number of slots for a row of n entries, a power of two.
func tableSize(n int) int { return 1 << bits.Len(uint(max(8, 2*min(n, mostKeys)-1))) }

// Add adds a weight to a key. It reports false where the table is full and the key is new.
func (t *Table) Add(key uint32, weight uint32) bool {
	mask := uint32(1)<<(64-t.shift) - 1
	for i := uint32(uint64(key) * 0x9e3779b97f4a7c15 >> t.shift); ; i = (i + 1) & mask {
		switch t.Keys[i] {
		case key:
			t.Sums[i] += uint64(weight)
			return true
		case NoKey:
			if len(t.Slots) == mostKeys {
				return false
			}
			t.Keys[i], t.Sums[i] = key, uint64(weight)
			t.Slots = append(t.Slots, i)
			return true
		}
	}
}

// Sum is the sum of a key, 0 if it has none.
func (t *Table) Sum(key uint32) uint64 {
	mask := uint32(1)<<(64-t.shift) - 1
	for i := uint32(uint64(key) * 0x9e3779b97f4a7c15 >> t.shift); ; i = (i + 1) & mask {
		switch t.Keys[i] {
		case key:
			return t.Sums[i]
		case NoKey:
			return 0
		}
	}
}
