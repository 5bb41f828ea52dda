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

// pickAny is pickUniform for every strategy, with or without Before and Exclude.
func (c *Context) pickAny(o *op, key uint64, b block, pos, near []uint32) int {
	bounds := c.bounds(o)
	c.share = c.share[:0]
	n, first := 0, o.adj.first
	for i, l := range b.local {
		r := c.allowed(o, &bounds, i, b.base[i], b.start[i], b.degree[i])
		d := r.n
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
			took = c.weighted(h, o, &r, k, out)
		case Top:
			took = c.top(o, b.node[i]+first, b.degree[i], &r, k, out)
		case Recent:
			took = c.recent(h, o, &r, k, out)
		case Labor:
			if o.rounds > 0 {
				took = c.laborShared(key, o, &r, out)
			} else {
				took = c.labor(key, o, &r, k, out)
			}
		case Ladies, FastGCN, HGT:
			took = c.toChosen(o, &r, out)
		}
		r.place(out[:took])
		for j := range took {
			near[n+j] = l
		}
		n += took
	}
	return n
}

// run is the n edges that an op may take of a node: the edges at the positions at or, where at is nil, from position start on,
// without the edges that left names. Positions count from base.
type run struct {
	base     uint64
	start, n uint32
	at, left []uint32
}

// edge is the id of edge i of a run that leaves no edge out (left is nil).
func (r *run) edge(a *adjacency, i int) uint64 {
	if r.at != nil {
		return a.edge(r.base + uint64(r.at[i]))
	}
	return a.edge(r.base + uint64(r.start) + uint64(i))
}

// place replaces numbers of edges of the run by their positions.
func (r *run) place(out []uint32) {
	switch {
	case r.at != nil:
		for j, p := range out {
			out[j] = r.at[p]
		}
	case len(r.left) > 0:
		skip(out, r.start, r.left)
	default:
		for j := range out {
			out[j] += r.start
		}
	}
}

// bounds are the intervals of the time of the seed on the times of the edges and of the far ends of an op.
type bounds struct{ edges, nodes interval }

func (c *Context) bounds(o *op) (b bounds) {
	if o.times != nil {
		b.edges = o.times.interval(c.sub.Input.Time, c.s.plan.Before)
	}
	if o.nodeTimes != nil {
		b.nodes = o.nodeTimes.interval(c.sub.Input.Time, c.s.plan.Before)
	}
	return b
}

// allowed is the edges that an op may take of node i of a block, whose edges are d from start on, counted from base. It is
// valid until the next call.
func (c *Context) allowed(o *op, b *bounds, i int, base uint64, start, d uint32) run {
	r := run{base: base, start: start, n: d}
	if o.ascending {
		r.n = o.passing(base+uint64(start), d, b.edges.upper)
		if b.edges.bounded && r.n > 0 {
			early := o.passing(base+uint64(start), r.n, b.edges.lower)
			r.start, r.n = start+early, r.n-early
		}
	}
	if o.excluded != [2]bool{} && r.n > 0 {
		r.left = c.left(o, i, base, r.start, r.n)
	}
	// The sums of weights begin at the first edge of a node.
	scattered := o.times != nil && !o.ascending || o.nodeTimes != nil ||
		len(r.left) > 0 && o.how >= Weighted || o.how == Weighted && r.start != start
	if !scattered {
		r.n -= uint32(len(r.left))
		return r
	}
	at, left := c.at[:0], r.left
	for p := r.start; p < r.start+r.n; p++ {
		if len(left) > 0 && left[0] == p {
			left = left[1:]
			continue
		}
		if o.times != nil && !o.ascending && !o.times.within(o.adj.edge(base+uint64(p)), &b.edges) ||
			o.nodeTimes != nil && !o.nodeTimes.within(uint64(o.adj.far[base+uint64(p)]), &b.nodes) {
			continue
		}
		at = append(at, p)
	}
	c.at = at
	return run{base: base, n: uint32(len(at)), at: at}
}

// passing is the number of edges that pass the bound, where times ascend.
func (o *op) passing(start uint64, d uint32, bound cut) uint32 {
	lo, hi := uint32(0), d
	for lo < hi {
		mid := lo + (hi-lo)/2
		if o.times.passes(o.adj.edge(start+uint64(mid)), bound) {
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
	for n := range a.nodes() {
		from, to := a.span(uint32(n))
		for p := from; p < to; p++ {
			e := a.edge(p)
			if v.nan(e) || p > from && v.less(e, a.edge(p-1)) {
				return false
			}
		}
	}
	return true
}
