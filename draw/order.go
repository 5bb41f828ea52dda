package draw

import (
	"cmp"
	"math/bits"
	"slices"
)

// sortedOrder is the largest order that is computed by sorting draws. In a larger order, a permutation is computed a
// position at a time.
const sortedOrder = 65536

// smallOrder is the largest order that is sorted by comparisons, because a radix sort costs more than its counters
// save.
const smallOrder = 512

// feistelRounds is the number of rounds of the permutation.
const feistelRounds = 8

// Order is a shuffled order of n items, a pure function of n and a key. The item at any position can be computed on its
// own, without memory in proportion to n. It is immutable and safe for concurrent use.
//
// Up to 65,536 items, it is the items sorted by their draw. Above, it is eight rounds of a Feistel network on ceil(log2
// n) bits, applied until the value is below n.
type Order struct {
	n      uint64
	sorted []uint16 // n <= sortedOrder

	low, high uint // bits of the two halves
	keys      [feistelRounds]uint64
	// The function of each round of its input half, where the halves fit 16 bits.
	tables [feistelRounds][]uint16
}

// NewOrder is the order of n items under a key. An epoch of a loader has the key Key(seed, epoch, OrderWord).
func NewOrder(n, key uint64) *Order {
	o := &Order{n: n}
	if n <= sortedOrder {
		o.sorted = sortByDraw(int(n), key)
		return o
	}
	width := uint(bits.Len64(n - 1))
	o.low, o.high = width/2, width-width/2
	for r := range o.keys {
		o.keys[r] = At(key, uint64(r))
	}
	if o.high > 16 {
		return o
	}
	for r := range o.tables {
		in, out := o.low, o.high
		if r%2 == 1 {
			in, out = out, in
		}
		t := make([]uint16, 1<<in)
		for x := range t {
			t[x] = uint16(feistel(uint64(x), o.keys[r], out))
		}
		o.tables[r] = t
	}
	return o
}

// sortByDraw sorts 0..n-1 by (draw, item): a radix sort by the upper 33 bits of the draws, then a sort of the few equal
// ones by the whole draw.
func sortByDraw(n int, key uint64) []uint16 {
	const shift = 31
	a := make([]uint64, n)
	for i := range a {
		a[i] = At(key, uint64(i))&^0xffff | uint64(i)
	}
	if n <= smallOrder {
		slices.Sort(a)
	} else {
		a = radixSort(a, shift)
	}
	out := make([]uint16, n)
	for i := 0; i < n; {
		j := i + 1
		for j < n && a[j]>>shift == a[i]>>shift {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(a[i:j], func(x, y uint64) int {
				x, y = x&0xffff, y&0xffff
				return cmp.Or(cmp.Compare(At(key, x), At(key, y)), cmp.Compare(x, y))
			})
		}
		for ; i < j; i++ {
			out[i] = uint16(a[i])
		}
	}
	return out
}

// radixSort sorts by the 33 bits from shift on.
func radixSort(a []uint64, shift uint) []uint64 {
	const digit, passes = 11, 3
	var count [passes][1 << digit]uint32
	b := make([]uint64, len(a))
	for _, x := range a {
		for p := range count {
			count[p][x>>(shift+digit*uint(p))&(1<<digit-1)]++
		}
	}
	for p := range count {
		at := uint32(0)
		for d, c := range count[p] {
			count[p][d] = at
			at += c
		}
		for _, x := range a {
			d := x >> (shift + digit*uint(p)) & (1<<digit - 1)
			b[count[p][d]] = x
			count[p][d]++
		}
		a, b = b, a
	}
	return a
}

func feistel(x, key uint64, width uint) uint64 {
	y := (x + key) * Gamma
	y ^= y >> 32
	return (y * mul1) >> (64 - width)
}

// Len is the number of items.
func (o *Order) Len() uint64 { return o.n }

// permute is one pass of the network. The result may be n or more.
func (o *Order) permute(x uint64) uint64 {
	lo, hi := x&(1<<o.low-1), x>>o.low
	if o.tables[0] != nil {
		for r := 0; r < feistelRounds; r += 2 {
			hi ^= uint64(o.tables[r][lo])
			lo ^= uint64(o.tables[r+1][hi])
		}
	} else {
		for r := 0; r < feistelRounds; r += 2 {
			hi ^= feistel(lo, o.keys[r], o.high)
			lo ^= feistel(hi, o.keys[r+1], o.low)
		}
	}
	return hi<<o.low | lo
}

// At is the item at a position, which must be below Len.
func (o *Order) At(pos uint64) uint64 {
	if o.sorted != nil {
		return uint64(o.sorted[pos])
	}
	x := o.permute(pos)
	for x >= o.n {
		x = o.permute(x)
	}
	return x
}

// Fill sets dst[i] to the item at position first+i. All positions must be below
// Len.
func (o *Order) Fill(dst []uint64, first uint64) {
	if o.sorted != nil {
		for i, x := range o.sorted[first : first+uint64(len(dst))] {
			dst[i] = uint64(x)
		}
		return
	}
	for i := range dst {
		dst[i] = first + uint64(i)
	}
	mapOrder(o, dst)
}

// Map32 replaces each position in ids by the item there. The order must have at most 2^32 items.
func (o *Order) Map32(ids []uint32) {
	if o.sorted != nil {
		for i, x := range ids {
			ids[i] = uint32(o.sorted[x])
		}
		return
	}
	mapOrder(o, ids)
}

// mapOrder permutes values in place. Values that become n or more are collected and permuted again together, so that
// the main loop has no branch to mispredict.
func mapOrder[T uint32 | uint64](o *Order, ids []T) {
	const block = 512
	var again [block]int32
	for len(ids) > 0 {
		part := ids[:min(block, len(ids))]
		ids = ids[len(part):]
		rejected := 0
		for i, x := range part {
			y := o.permute(uint64(x))
			part[i] = T(y)
			again[rejected] = int32(i)
			if y >= o.n {
				rejected++
			}
		}
		for rejected > 0 {
			left := 0
			for _, i := range again[:rejected] {
				y := o.permute(uint64(part[i]))
				part[i] = T(y)
				again[left] = i
				if y >= o.n {
					left++
				}
			}
			rejected = left
		}
	}
}
