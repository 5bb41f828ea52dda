package sample

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// labor picks k of the edges of a run, by index, in ascending order: those whose far ends have the smallest numbers. key is
// the key of the op. The number of a far end is drawn from its own id, and not from the id of the node that is expanded, so that
// all nodes that the op expands prefer the same far ends, and reach fewer of them (LABOR-0 with a fixed number of edges:
// Balin and Çatalyürek 2023, arXiv 2210.13339, sections 3.2 and A.3). With a column, the number is divided by the weight. It
// returns how many it picked: fewer than k only where fewer can be taken.
//
// One pass keeps the best k so far in a heap with the worst on top.
func (c *Context) labor(key uint64, o *op, r *run, k uint32, dst []uint32) int {
	if r.n <= k && o.labor == nil {
		for i := range dst[:r.n] {
			dst[i] = uint32(i)
		}
		return int(r.n)
	}
	if k == 0 {
		return 0
	}
	h := laborHeap{item: dst[:0], x: c.laborX[:0]}
	i := uint32(0)
	for ; i < r.n && uint32(len(h.item)) < k; i++ {
		if x, ok := o.laborNumber(key, r, i); ok {
			h.item, h.x = append(h.item, i), append(h.x, x)
			h.up(len(h.item) - 1)
		}
	}
	if o.labor == nil && r.at == nil {
		h.scan(key, o.adj.far[r.base+uint64(r.start):][:r.n], i)
	} else {
		for ; i < r.n; i++ {
			if x, ok := o.laborNumber(key, r, i); ok && x < h.x[0] { // of equal numbers the earlier edge is picked
				h.replace(i, x)
			}
		}
	}
	c.laborX = h.x
	slices.Sort(h.item)
	return len(h.item)
}

// laborNumber is the number of an edge of a run, by index; ok is false where it is never drawn.
func (o *op) laborNumber(key uint64, r *run, i uint32) (x float64, ok bool) {
	p := r.position(i)
	x = draw.Unit(draw.At(key, uint64(o.adj.far[p])))
	if o.labor != nil {
		w := o.labor.weight(o.adj.edge(p))
		return x / w, w > 0
	}
	return x, true
}

// scan offers the far ends from index i on to a full heap. Hubs have most of the edges that LABOR looks at, and nearly none of
// them enters the heap, so that the bits of a number are compared before it is made a float64.
func (h *laborHeap) scan(key uint64, far []uint32, i uint32) {
	bound := unitBound(h.x[0])
	for at := int(i); at < len(far); at++ {
		bits := draw.At(key, uint64(far[at]))
		if bits >= bound {
			continue
		}
		if x := draw.Unit(bits); x < h.x[0] { // of equal numbers the earlier edge is picked
			h.replace(uint32(at), x)
			bound = unitBound(h.x[0])
		}
	}
}

// unitBound is bits from which on draw.Unit is at least x.
func unitBound(x float64) uint64 {
	if n := uint64(x*(1<<53)) + 1; n < 1<<53 {
		return n << 11
	}
	return math.MaxUint64
}

// laborHeap is a heap of items and their numbers, with the largest number at the root; of equal ones the later item.
type laborHeap struct {
	item []uint32
	x    []float64
}

func (h *laborHeap) worse(i, j int) bool {
	return h.x[i] > h.x[j] || h.x[i] == h.x[j] && h.item[i] > h.item[j]
}

func (h *laborHeap) swap(i, j int) {
	h.item[i], h.item[j] = h.item[j], h.item[i]
	h.x[i], h.x[j] = h.x[j], h.x[i]
}

func (h *laborHeap) up(i int) {
	for i > 0 && h.worse(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

// replace puts an item in the place of the worst.
func (h *laborHeap) replace(i uint32, x float64) {
	h.item[0], h.x[0] = i, x
	h.down()
}

// down sinks the root.
func (h *laborHeap) down() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.x); child++ {
			if h.worse(child, worst) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h.swap(i, worst)
		i = worst
	}
}
