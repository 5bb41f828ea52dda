package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// sharedLabor is the drawer of Labor with importance (LABOR-i).
type sharedLabor struct {
	rounds int    // Op.Importance
	each   uint32 // Op.Take
}

// prepare finds the weights by which the far ends of an op with LABOR-i are drawn. In each round the weight of a far end is
// multiplied by the largest factor that one of the nodes needs. So the far ends that many nodes share are taken more often.
func (s *sharedLabor) prepare(c *Context, o *op, _ uint64) error {
	if s.each == 0 {
		return nil
	}
	x := c.noCandidates(o)
	for round := range s.rounds {
		err := c.blocks(o, func(m uint32) error {
			return c.lists(o, x, c.block(0, m), false, func(far []uint32, d uint32) {
				if round == 0 {
					for _, u := range far {
						x.weight[u] = 1
					}
				}
				f := x.factor(far, s.each)
				for _, u := range far {
					x.next[u] = max(x.next[u], f)
				}
			})
		})
		if err != nil {
			return err
		}
		for u := range x.weight {
			x.weight[u] *= x.next[u]
		}
		clear(x.next)
	}
	return nil
}

// draw picks the edges of a run whose far ends have numbers below their chances.
func (s *sharedLabor) draw(c *Context, o *op, key uint64, r *run, dst []uint32) int {
	if r.n <= s.each {
		for i := range r.n {
			dst[i] = i
			c.share = append(c.share, 1)
		}
		return int(r.n)
	}
	if s.each == 0 {
		return 0
	}
	x := &c.candidates[o.number-1]
	far := slices.Grow(x.far[:0], int(r.n))
	for i := range r.n {
		at, _ := x.nodes.find(o.adj.far[r.position(i)])
		far = append(far, at)
	}
	x.far = far
	f, n := x.factor(far, s.each), 0
	for i, at := range far {
		if draw.Unit(draw.At(key, uint64(x.nodes.nodes[at]))) <= f*x.weight[at] {
			dst[n] = uint32(i)
			n++
			c.share = append(c.share, 1/min(1, f*x.weight[at]))
		}
	}
	c.shareOut(n)
	return n
}

// factor is the c by which the chances min(1, c * weight) of d far ends fill a take of k: the sum of their inverses is d²/k, so that a
// sum over the far ends, divided by d, has the variance of k uniform draws, and k far ends or more are taken on average. Where d is at most k, all
// chances are 1.
func (x *candidates) factor(far []uint32, k uint32) float64 {
	d := len(far)
	if uint32(d) <= k {
		most := 0.0
		for _, u := range far {
			most = max(most, 1/x.weight[u])
		}
		return most
	}
	target, c := float64(d)*float64(d)/float64(k), 0.0
	for saturated := -1; ; {
		full, rest := 0, 0.0
		for _, u := range far {
			if w := x.weight[u]; c*w >= 1 {
				full++
			} else {
				rest += 1 / w
			}
		}
		if full <= saturated {
			return c
		}
		saturated, c = full, rest/(target-float64(full))
	}
}
