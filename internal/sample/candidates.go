package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// candidates is the nodes that the ops of a layer or an op with LABOR-i may reach, and those that a layer chose.
type candidates struct {
	nodes  localIDs // numbers the candidates
	weight []float64
	next   []float64 // with LABOR-i: the weights of the next round
	// inverse is the inverse of the chance of each candidate that was chosen, or 1 where it is not wanted; 0 for the others.
	inverse []float64
	far     []uint32
	heap    leastHeap
}

// noCandidates is the empty candidates of an op, which a layer has by its first op.
func (c *Context) noCandidates(o *op) *candidates {
	if c.candidates == nil {
		c.candidates = make([]candidates, len(c.s.ops))
	}
	x := &c.candidates[o.number-1]
	x.nodes.count, x.nodes.forced = c.local[o.far].count, relabelWide
	x.nodes.begin()
	x.weight, x.next = x.weight[:0], x.next[:0]
	return x
}

// weighLayer makes the far ends of all edges of a layer its candidates. Each edge adds weight(d) to the weight of its far end, where d is
// the number of edges of its near end. With fresh, far ends that the subgraph has are no candidates.
func (c *Context) weighLayer(l *layer, x *candidates, fresh bool, weight func(d uint32) float64) error {
	for _, i := range l.ops {
		o := &c.s.ops[i]
		err := c.blocks(o, func(m uint32) error {
			return c.lists(o, x, c.block(0, m), fresh, func(far []uint32, d uint32) {
				add := weight(d)
				for _, u := range far {
					x.weight[u] += add
				}
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// squaredShare is 1/d².
func squaredShare(d uint32) float64 {
	share := 1 / float64(d)
	return float64(share * share) // rounded, so that no machine fuses it with a sum
}

// fits makes room for the inverse chances of the candidates, and chooses all of them where they are no more than k.
func (x *candidates) fits(k uint32) bool {
	n := int(x.nodes.n)
	x.inverse = slices.Grow(x.inverse[:0], n)[:n]
	if k < uint32(n) {
		clear(x.inverse)
		return false
	}
	for i := range x.inverse {
		x.inverse[i] = 1
	}
	return true
}

// lists numbers the far ends of the edges that an op may take of the nodes of a block, and calls fn with the ones of each node that has
// any, by number. d is the number of edges. With fresh, far ends that the subgraph has are left out.
func (c *Context) lists(o *op, x *candidates, b block, fresh bool, fn func(far []uint32, d uint32)) error {
	c.locate(o, b)
	c.measure(o, b)
	if o.excluded != [2]bool{} {
		c.meets(o, b)
	}
	bounds := c.bounds(o)
	for i := range b.local {
		r := c.allowed(o, &bounds, i, b)
		if r.n == 0 {
			continue
		}
		far := slices.Grow(x.far[:0], int(r.n))
		for j := range r.n {
			u := o.adj.far[r.position(j)]
			if fresh {
				if _, has := c.local[o.far].find(u); has {
					continue
				}
			}
			far = append(far, u)
		}
		x.far = far
		if int64(x.nodes.n)+int64(len(far)) > maxLocal {
			return c.errSubgraph(o.far)
		}
		x.nodes.visit(far)
		for _, w := range []*[]float64{&x.weight, &x.next} {
			if at, need := len(*w), int(x.nodes.n); need > at {
				*w = slices.Grow(*w, need-at)[:need]
				clear((*w)[at:])
			}
		}
		fn(far, r.n)
	}
	return nil
}

// race is the k candidates with the smallest numbers: exponentially distributed ones, drawn by node, over the weight. So the
// candidates are drawn one after the other, each in proportion to its weight among those that are left.
func (x *candidates) race(h uint64, k int) []uint32 {
	q := &x.heap
	q.item, q.x = q.item[:0], q.x[:0]
	if k == 0 {
		return nil
	}
	for i, w := range x.weight {
		bits := draw.At(h, uint64(x.nodes.nodes[i]))
		if len(q.item) < k {
			q.item, q.x = append(q.item, uint32(i)), append(q.x, exponential(bits)/w)
			q.up(len(q.item) - 1)
			continue
		}
		// 1 - u is below -ln(u), and saves most of the logarithms.
		if 1-draw.Unit(bits) > q.x[0]*w*(1+1e-9) {
			continue
		}
		if y := exponential(bits) / w; y < q.x[0] { // of equal numbers the earlier candidate is chosen
			q.replace(uint32(i), y)
		}
	}
	return q.item
}
