package sample

// HGT takes every edge to some nodes that are chosen for all the nodes of an op together, by the edges that lead to them from the
// subgraph, which does not have them.
const HGT How = 7

// hgt is the strategy of HGT, and chooses its nodes.
type hgt struct{ layered }

func (hgt) name() string { return "hgt" }

func (hgt) traits(*Op) traits { return traits{layered: true, frontier: true} }

func (s hgt) compileLayer(*Sampler, *layer) chooser { return s }

func (hgt) choose(c *Context, l *layer, h uint64, x *candidates) error {
	if err := c.weighLayer(l, x, true, func(d uint32) float64 { return 1 / float64(d) }); err != nil {
		return err
	}
	if x.fits(l.take) {
		return nil
	}
	for i, w := range x.weight {
		x.weight[i] = w * w
	}
	for _, i := range x.race(h, int(l.take)) {
		x.inverse[i] = 1
	}
	return nil
}
