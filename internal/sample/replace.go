package sample

import "github.com/graphmill/graphmill/draw"

// Replace takes edges with replacement, all with the same chance.
const Replace How = 1

// replace is the strategy and the drawer of Replace.
type replace struct{ edgewise }

func (replace) name() string { return "replace" }

func (replace) traits(*Op) traits { return traits{replaces: true} }

func (replace) most(op *Op, from, edges int64) (drawn, found int64) {
	if op.Take == All {
		return edges, edges
	}
	return from * int64(op.Take), from * int64(op.Take)
}

func (s replace) compile(*op, *opSource) (drawer, error) { return s, nil }

func (s replace) draw(_ *Context, o *op, key uint64, r *run, dst []uint32) int {
	k := int(o.picks(r.n))
	s.choose(nil, key, r.node, r.n, dst[:k])
	return k
}

func (replace) choose(_ *Picker, key uint64, v, d uint32, out []uint32) {
	h := draw.Absorb(key, uint64(v))
	for i := range out {
		h += draw.Gamma
		out[i] = uint32(draw.Below(draw.Mix(h), uint64(d)))
	}
}
