package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// floydTable is the size of the table in which a Picker looks for repeats.
const floydTable = 4096

// pickUniform picks positions of edges for each node of the block, and writes the local id of the node of each to near.
// It returns their number.
func (c *Context) pickUniform(o *op, key uint64, b block, pos, near []uint32) int {
	n, first := 0, o.adj.first
	for i, l := range b.local {
		start, d := b.start[i], b.degree[i]
		k := min(d, o.take)
		out, local := pos[n:n+int(k)], near[n:n+int(k)]
		if d <= o.take {
			for j := range out {
				out[j] = start + uint32(j)
				local[j] = l
			}
		} else {
			c.picker.Distinct(draw.Absorb(key, uint64(b.node[i]+first)), d, out)
			for j := range out {
				out[j] += start
				local[j] = l
			}
		}
		n += int(k)
	}
	return n
}

// Picker draws without repeats, by the method of Floyd. Its zero value is ready. It is not safe for concurrent use.
type Picker struct {
	seen [floydTable]uint32
	tick uint32
}

// Distinct sets out to len(out) distinct numbers below n, in the order of the draw law. len(out) must be below n.
//
// The slot of a number in the table holds the tick of the call that took the number last. For n up to the size of the
// table this is exact. For larger n another number may have the same slot, so a hit is looked up.
func (p *Picker) Distinct(h uint64, n uint32, out []uint32) {
	p.tick++
	if p.tick == 0 {
		clear(p.seen[:])
		p.tick = 1
	}
	tick, seen := p.tick, &p.seen
	j := n - uint32(len(out))
	if n <= floydTable { // without a branch, because hits cannot be predicted
		for i := range out {
			h += draw.Gamma
			t := uint32(draw.Below(draw.Mix(h), uint64(j)+1))
			if seen[t%floydTable] == tick {
				t = j
			}
			seen[t%floydTable] = tick
			out[i] = t
			j++
		}
		return
	}
	for i := range out {
		h += draw.Gamma
		t := uint32(draw.Below(draw.Mix(h), uint64(j)+1))
		if seen[t%floydTable] == tick && slices.Contains(out[:i], t) {
			t = j
		}
		seen[t%floydTable] = tick
		out[i] = t
		j++
	}
}

// pickAny is pickUniform for every strategy, with or without Before.
func (c *Context) pickAny(o *op, key uint64, b block, pos, near []uint32) int {
	var bound cut
	if o.times != nil {
		bound = o.times.cutAt(c.sub.Input.Time, c.s.plan.Before.OrEqual)
	}
	n, first := 0, o.adj.first
	for i, l := range b.local {
		start, d := b.start[i], b.degree[i]
		var at []uint32
		if o.times != nil {
			if o.ascending {
				d = o.passing(start, d, bound)
			} else {
				at = c.filter(o, start, d, bound)
				d = uint32(len(at))
			}
		}
		if d == 0 {
			continue
		}
		h := draw.Absorb(key, uint64(b.node[i]+first))
		k := o.take
		if k == takeAll {
			k = d
		}
		out := pos[n:]
		var took int
		switch o.how {
		case Uniform:
			took = int(min(k, d))
			if d <= k {
				for j := range out[:took] {
					out[j] = uint32(j)
				}
			} else {
				c.picker.Distinct(h, d, out[:took])
			}
		case Replace:
			took = int(k)
			for j := range out[:took] {
				h += draw.Gamma
				out[j] = uint32(draw.Below(draw.Mix(h), uint64(d)))
			}
		case Weighted:
			took = c.weighted(h, o, start, at, int(d), k, out)
		case Top:
			took = c.largest(o, start, at, int(d), k, out)
		}
		for j, p := range out[:took] {
			if at != nil {
				out[j] = at[p]
			} else {
				out[j] = start + p
			}
			near[n+j] = l
		}
		n += took
	}
	return n
}

// filter is the positions of the edges that pass the bound.
func (c *Context) filter(o *op, start, d uint32, bound cut) []uint32 {
	at := c.at[:0]
	for p := start; p < start+d; p++ {
		if o.times.passes(o.adj.edge(p), bound) {
			at = append(at, p)
		}
	}
	c.at = at
	return at
}

// passing is the number of edges that pass the bound, where times ascend.
func (o *op) passing(start, d uint32, bound cut) uint32 {
	lo, hi := uint32(0), d
	for lo < hi {
		mid := lo + (hi-lo)/2
		if o.times.passes(o.adj.edge(start+mid), bound) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// ascends says whether no edge is earlier than the one before it at the same node, so that the edges before any time
// come first.
func ascends(a *adjacency, v *values) bool {
	for n := range len(a.indptr) - 1 {
		for p := a.indptr[n]; p < a.indptr[n+1]; p++ {
			e := a.edge(p)
			if v.nan(e) || p > a.indptr[n] && v.less(e, a.edge(p-1)) {
				return false
			}
		}
	}
	return true
}
