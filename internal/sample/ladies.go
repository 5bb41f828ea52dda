package sample

import "math"

// Ladies takes every edge to some nodes that are chosen for all the nodes of an op together, by the edges that lead to them from these nodes.
const Ladies How = 5

// ladies is the strategy of Ladies, and chooses its nodes.
type ladies struct{ layered }

func (ladies) name() string { return "ladies" }

func (ladies) traits(*Op) traits { return traits{layered: true, frontier: true, weighs: true} }

func (s ladies) compileLayer(*Sampler, *layer) chooser { return s }

func (ladies) choose(c *Context, l *layer, h uint64, x *candidates) error {
	if err := c.weighLayer(l, x, false, squaredShare); err != nil {
		return err
	}
	if x.fits(l.take) {
		return nil
	}
	f := math.Inf(1)
	if c.s.opt.Weights && l.take > 0 {
		f = filled(x.weight, l.take)
	}
	for _, i := range x.race(h, int(l.take)) {
		x.inverse[i] = 1 / min(1, f*x.weight[i])
	}
	return nil
}

// filled is the c by which the chances min(1, c * weight) of more than k candidates add up to k.
func filled(weight []float64, k uint32) float64 {
	c := 0.0
	for saturated := -1; ; {
		full, rest := 0, 0.0
		for _, w := range weight {
			if c*w >= 1 {
				full++
			} else {
				rest += w
			}
		}
		if full <= saturated {
			return c
		}
		saturated, c = full, (float64(k)-float64(full))/rest
	}
}
