package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// labor picks k of the edges of a run, by index, in ascending order: those whose far ends have the smallest numbers. key is
// the key of the op. The number of a far end is drawn from its own id, and not from that of the node that is expanded, so that
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
	h := laborHeap{item: dst[:0], x: c.laborX[:0]}
	for i := range r.n {
		p := r.base + uint64(r.start) + uint64(i)
		if r.at != nil {
			p = r.base + uint64(r.at[i])
		}
		x := draw.Unit(draw.At(draw.Absorb(key, uint64(o.adj.far[p])), 0))
		if o.labor != nil {
			w := o.labor.weight(o.adj.edge(p))
			if w == 0 {
				continue
			}
			x /= w
		}
		switch {
		case uint32(len(h.item)) < k:
			h.item, h.x = append(h.item, i), append(h.x, x)
			h.up(len(h.item) - 1)
		case k > 0 && x < h.x[0]: // of equal numbers the earlier edge is picked
			h.item[0], h.x[0] = i, x
			h.down()
		}
	}
	c.laborX = h.x
	slices.Sort(h.item)
	return len(h.item)
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
