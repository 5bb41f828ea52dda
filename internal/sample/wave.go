package sample

import "github.com/graphmill/graphmill/draw"

// wave is a run of ops that start only from ops before the run, such as a hop of a fanout list: all their frontiers are
// known when it begins.
//
// Where the frontiers are small together (single seeds, typed graphs), the ops go through the phases side by side, so
// that the latencies of their loads overlap; the few nodes of one op alone would wait for each load. The nodes that are
// reached are still numbered op by op, so the result is the same.
type wave struct {
	first, end int  // places in Sampler.ops
	apart      bool // has an op that does not run side by side with others
}

// waveNodes is the most nodes of a wave that runs side by side. It is several blocks, since the part of one op is
// small.
const waveNodes = 512

// part is the share of an op in a wave.
type part struct {
	at, m  uint32 // of the nodes
	off, n int    // of the picks
}

// wavesOf divides the ops into the longest waves.
func wavesOf(ops []op) []wave {
	var ws []wave
	for i, o := range ops {
		if n := len(ws); n > 0 {
			inside := false
			for _, f := range o.from {
				inside = inside || f > ws[n-1].first
			}
			if !inside {
				ws[n-1].end = i + 1
				ws[n-1].apart = ws[n-1].apart || o.frontier
				continue
			}
		}
		ws = append(ws, wave{i, i + 1, o.frontier})
	}
	return ws
}

// wave runs a wave with small frontiers. ok is false, and nothing is done, where they are not small.
func (c *Context) wave(w wave, prefix uint64) (ok bool, err error) {
	if c.s.noWaves || w.end-w.first == 1 || w.apart {
		return false, nil
	}
	parts, at := c.parts[:0], uint32(0)
	for i := w.first; i < w.end; i++ {
		m, fits := c.gather(&c.s.ops[i], at)
		if !fits {
			return false, nil
		}
		parts = append(parts, part{at: at, m: m})
		at += m
	}
	c.parts = parts
	for i := range parts {
		if p := &parts[i]; p.m > 0 {
			c.locate(&c.s.ops[w.first+i], c.block(p.at, p.m))
		}
	}
	need := 0
	for i := range parts {
		p := &parts[i]
		p.off = need
		if p.m > 0 {
			need += c.measure(&c.s.ops[w.first+i], c.block(p.at, p.m))
		}
		p.n = need - p.off
	}
	if need > maxLocal {
		return false, nil // a block of one op may still be small enough
	}
	if len(c.pos) < need {
		c.pos, c.near = make([]uint32, 2*need), make([]uint32, 2*need)
	}
	for i := range parts {
		if p := &parts[i]; p.n > 0 {
			o := &c.s.ops[w.first+i]
			p.n = c.pick(o, draw.Absorb(prefix, o.number), c.block(p.at, p.m), c.pos[p.off:p.off+p.n], c.near[p.off:p.off+p.n])
		}
	}
	for i := range parts {
		p, o := &parts[i], &c.s.ops[w.first+i]
		before := c.opBegin(o)
		if p.m > 0 {
			e := &c.edges[o.edges]
			e.reserve(p.n)
			near, _ := e.ends(o, p.n)
			copy(e.id[e.n:], c.pos[p.off:p.off+p.n])
			copy(near, c.near[p.off:p.off+p.n])
			if err := c.reach(o, c.block(p.at, p.m), p.n); err != nil {
				return true, err
			}
		}
		c.opEnd(o, before)
	}
	return true, nil
}

// gather puts the frontier of an op into the nodes of the wave from at on, if it fits.
func (c *Context) gather(o *op, at uint32) (m uint32, fits bool) {
	if c.s.plan.Expand == ExpandAll {
		for _, f := range o.from {
			if f > 0 && len(c.ops[f].every) > waveNodes-int(at) || f == 0 && c.sub.NodesByHop[o.near][0] > waveNodes-at {
				return 0, false
			}
		}
		list := c.inputs(o)
		if len(list) > waveNodes-int(at) {
			return 0, false
		}
		return uint32(copy(c.nearLocal[at:], list)), true
	}
	for _, f := range o.from {
		first, end := c.fresh(f, o.near)
		if end-first > waveNodes-at-m {
			return 0, false
		}
		for ; first < end; first++ {
			c.nearLocal[at+m] = first
			m++
		}
	}
	return m, true
}
