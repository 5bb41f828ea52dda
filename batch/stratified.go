package batch

import (
	"container/heap"
	"fmt"
	"math"
	"math/bits"

	"github.com/graphmill/graphmill/draw"
)

// stratified spreads the items of each class evenly over the epoch.
type stratified struct {
	// slot has the place in members of the item of each position, before the shuffle within its class.
	slot    []uint32
	class   []uint32 // of a position
	members []uint32 // items by class, ascending
	start   []uint32 // the first place of each class in members, and the end
}

// Stratified is an order that mixes the classes evenly. Every item comes once per epoch, and each run of positions has
// every class in proportion to its size, up to one or two items. classes has the class of each item, from 0. Classes
// without items are allowed.
func Stratified(classes []uint32) (Order, error) {
	n := len(classes)
	if n >= math.MaxInt32 {
		return nil, errOrder("found %d classes of items, expected fewer than 2^31", n)
	}
	most := uint32(0)
	for i, c := range classes {
		if int64(c) > int64(n)+1<<20 {
			return nil, errOrder("found class %d of item %d, expected numbers from 0 without large gaps", c, i)
		}
		most = max(most, c)
	}
	s := &stratified{slot: make([]uint32, n), class: make([]uint32, n), members: make([]uint32, n), start: make([]uint32, int(most)+2)}
	for _, c := range classes {
		s.start[c+1]++
	}
	for c := range most + 1 {
		s.start[c+1] += s.start[c]
	}
	at := append([]uint32(nil), s.start...)
	for i, c := range classes {
		s.members[at[c]] = uint32(i)
		at[c]++
	}
	h := make(turns, 0, most+1)
	for c := range most + 1 {
		if m := s.start[c+1] - s.start[c]; m > 0 {
			h = append(h, turn{c, 0, m})
		}
	}
	heap.Init(&h)
	for p := range s.slot {
		t := &h[0]
		s.class[p], s.slot[p] = t.class, s.start[t.class]+t.rank
		if t.rank++; t.rank == t.members {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return s, nil
}

// turn is the next member of a class. Its time is (2*rank+1) / (2*members).
type turn struct{ class, rank, members uint32 }

type turns []turn

func (h turns) Len() int { return len(h) }
func (h turns) Less(i, j int) bool {
	ahi, alo := bits.Mul64(2*uint64(h[i].rank)+1, uint64(h[j].members))
	bhi, blo := bits.Mul64(2*uint64(h[j].rank)+1, uint64(h[i].members))
	if ahi != bhi {
		return ahi < bhi
	}
	if alo != blo {
		return alo < blo
	}
	return h[i].class < h[j].class
}
func (h turns) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *turns) Push(x any)   { *h = append(*h, x.(turn)) }
func (h *turns) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (s *stratified) Len() uint64   { return uint64(len(s.slot)) }
func (s *stratified) Items() uint64 { return uint64(len(s.slot)) }

func (s *stratified) String() string {
	h := uint64(len(s.slot))
	for _, m := range s.members {
		h = draw.Absorb(h, uint64(m))
	}
	return fmt.Sprintf("stratified(%d classes, %016x)", len(s.start)-1, h)
}

func (s *stratified) Epoch(seed, epoch uint64) Items {
	e := &stratifiedItems{s, make([]*draw.Order, len(s.start)-1)}
	for c := range e.orders {
		if m := s.start[c+1] - s.start[c]; m > 0 {
			e.orders[c] = draw.NewOrder(uint64(m), draw.Key(seed, epoch, strataWord, uint64(c)))
		}
	}
	return e
}

type stratifiedItems struct {
	*stratified
	orders []*draw.Order
}

func (s *stratifiedItems) Fill(dst []uint64, first uint64) {
	for i := range dst {
		p := first + uint64(i)
		c := s.class[p]
		rank := uint64(s.slot[p] - s.start[c])
		dst[i] = uint64(s.members[uint64(s.start[c])+s.orders[c].At(rank)])
	}
}
