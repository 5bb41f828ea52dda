package sample

// pickEach draws the edges of the nodes of a block one after the other, with or without Before and Exclude. It writes the positions of the
// edges to pos, and the local id of the node of each to near, and returns their number.
func (c *Context) pickEach(o *op, key uint64, b block, pos, near []uint32) int {
	bounds := c.bounds(o)
	c.share = c.share[:0]
	n, r := 0, &c.run
	for i, l := range b.local {
		*r = c.allowed(o, &bounds, i, b)
		if r.n == 0 {
			continue
		}
		out := pos[n:]
		took := o.drawer.draw(c, o, key, r, out)
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
	node, degree uint32 // the node, and the number of all its edges
	base         uint64
	start, n     uint32
	at, left     []uint32
}

// edge is the id of edge i of a run without left.
func (r *run) edge(a *adjacency, i int) uint64 { return a.edge(r.position(uint32(i))) }

// position is the position of edge i of a run without left.
func (r *run) position(i uint32) uint64 {
	if r.at != nil {
		return r.base + uint64(r.at[i])
	}
	return r.base + uint64(r.start) + uint64(i)
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

// allowed is the edges that an op may take of node i of a block. It is valid until the next call.
func (c *Context) allowed(o *op, within *bounds, i int, b block) run {
	base, start, d := b.base[i], b.start[i], b.degree[i]
	r := run{node: b.node[i] + o.adj.first, degree: d, base: base, start: start, n: d}
	if o.ascending {
		r.n = o.passing(base+uint64(start), d, within.edges.upper)
		if within.edges.bounded && r.n > 0 {
			early := o.passing(base+uint64(start), r.n, within.edges.lower)
			r.start, r.n = start+early, r.n-early
		}
	}
	if o.excluded != [2]bool{} && r.n > 0 {
		r.left = c.left(o, i, base, r.start, r.n)
	}
	scattered := o.times != nil && !o.ascending || o.nodeTimes != nil ||
		len(r.left) > 0 && o.byDegree == nil || o.sums && r.start != start
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
		if o.times != nil && !o.ascending && !o.times.within(o.adj.edge(base+uint64(p)), &within.edges) ||
			o.nodeTimes != nil && !o.nodeTimes.within(uint64(o.adj.far[base+uint64(p)]), &within.nodes) {
			continue
		}
		at = append(at, p)
	}
	c.at = at
	r.n, r.at, r.left = uint32(len(at)), at, nil
	return r
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
// come first. It is known of the lists that before has in the same place; before can be nil.
func ascends(a *adjacency, v *values, before *adjacency) bool {
	for n := range a.nodes() {
		from, to := a.span(uint32(n))
		if before != nil && n < before.nodes() {
			if first, last := before.span(uint32(n)); from == first && to == last {
				continue
			}
		}
		for p := from; p < to; p++ {
			e := a.edge(p)
			if v.nan(e) || p > from && v.less(e, a.edge(p-1)) {
				return false
			}
		}
	}
	return true
}
