package sample

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// recent picks k of the edges of a run, by index, in ascending order: one after the other, in proportion to 2^(-age / half-life) among
// those that are left. The age is counted from the latest edge of the run, which changes no chance. Edges without a finite time are
// never picked. It returns how many it picked: fewer than k only where fewer can be taken.
//
// Each edge has a number, and the k smallest are picked: the logarithm of an exponentially distributed number over the weight. Ages
// only grow on the way back from the latest edge of a node whose times ascend, so the rest of its edges is not looked at once the age
// alone makes their numbers too large.
func (c *Context) recent(h uint64, o *op, r *run, k uint32, dst []uint32) int {
	if k == 0 || r.n == 0 {
		return 0
	}
	v := o.recent
	latest, ok := o.latest(r)
	if !ok {
		return 0
	}
	best := laborHeap{item: dst[:0], x: c.laborX[:0]}
	for i := r.n; i > 0; {
		i--
		e := r.edge(o.adj, int(i))
		if !v.finite(e) {
			continue
		}
		decay := float64(math.Ln2 * (v.age(latest, e) / o.halfLife))
		full := uint32(len(best.item)) == k
		if full && leastRace+decay > best.x[0] {
			if o.late {
				break
			}
			continue
		}
		x := logarithm(max(exponential(draw.At(h, uint64(i))), leastExponential)) + decay
		switch {
		case !full:
			best.item, best.x = append(best.item, i), append(best.x, x)
			best.up(len(best.item) - 1)
		case x < best.x[0] || x == best.x[0] && i < best.item[0]:
			best.replace(i, x)
		}
	}
	c.laborX = best.x
	slices.Sort(best.item)
	return len(best.item)
}

const (
	// leastExponential stands for an exponential of 0. All others are larger.
	leastExponential = 1.0 / (1 << 54)
	// leastRace is below the logarithm of all exponentials.
	leastRace = -38
)

// latest is the edge of a run with the latest finite time; ok is false where there is none.
func (o *op) latest(r *run) (edge uint64, ok bool) {
	for i := r.n; i > 0; {
		i--
		e := r.edge(o.adj, int(i))
		if !o.recent.finite(e) {
			continue
		}
		if !ok || o.recent.less(edge, e) {
			edge, ok = e, true
		}
		if o.late {
			break
		}
	}
	return edge, ok
}

// finite says whether the value of an edge is a time.
func (v *values) finite(e uint64) bool {
	if v.ints != nil {
		return !v.timed || v.ints[e] != graph.NoTime
	}
	x := v.real(e)
	return x-x == 0
}

// age is the time from an edge to a later one.
func (v *values) age(later, e uint64) float64 {
	if v.ints != nil {
		return float64(uint64(v.ints[later]) - uint64(v.ints[e]))
	}
	return v.real(later) - v.real(e)
}
