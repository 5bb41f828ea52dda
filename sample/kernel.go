package sample

import (
	"slices"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// block takes m nodes of a frontier, whose local ids are in c.nearLocal, through
// the phases: where their edges are, which to take, where these lead, and the
// local ids of what they reach. prefix is the key without the op.
func (c *Context) block(o *op, prefix uint64, m uint32) error {
	key := Absorb(prefix, o.number)
	nodes, block := c.local[o.near].nodes, c.node[:m]
	for i, l := range c.nearLocal[:m] {
		block[i] = nodes[l]
	}
	prefetchAt(unsafe.SliceData(o.adj.indptr), block)
	need := 0
	for i, v := range block {
		s := o.adj.indptr[v]
		d := o.adj.indptr[v+1] - s
		c.start[i], c.degree[i] = s, d
		if o.how == Replace && d > 0 && o.take != takeAll {
			d = o.take
		}
		need += int(min(d, o.take))
	}
	e := &c.edges[o.edges]
	e.reserve(need)
	id, near, far := e.id[e.n:e.n+need], e.src[e.n:e.n+need], e.dst[e.n:e.n+need]
	if o.dir == graph.In {
		near, far = far, near
	}
	var n int
	if o.how == Uniform && o.times == nil {
		n = c.pickUniform(o, key, int(m), id, near)
	} else if o.how == Weighted && o.times == nil && o.weights.positive && o.weights.guide != nil && o.take <= stagedTake {
		n = c.pickWeighted(o, key, int(m), id, near)
	} else {
		n = c.pickAny(o, key, int(m), id, near)
	}
	id, near, far = id[:n], near[:n], far[:n]
	prefetchAt(unsafe.SliceData(o.adj.far), id)
	for i, p := range id {
		far[i] = o.adj.far[p]
	}
	if o.adj.eid != nil {
		for i, p := range id {
			id[i] = o.adj.eid[p]
		}
	}
	targets := &c.local[o.far]
	if int64(targets.n)+int64(n) > maxLocal {
		return c.errSubgraph(o.far)
	}
	targets.visit(far)
	c.sub.Drawn += uint64(n)

	st := &c.ops[o.number]
	if o.every {
		marks := &c.reaches
		marks.reserve(int(targets.n))
		for _, l := range far {
			if marks.mark(l) {
				st.every = append(st.every, l)
			}
		}
	}
	if c.sub.Ops != nil {
		st.frontier = append(st.frontier, c.nearLocal[:m]...)
		r := &st.record
		r.reserve(n)
		copy(r.src[r.n:], e.src[e.n:e.n+n])
		copy(r.dst[r.n:], e.dst[e.n:e.n+n])
		copy(r.id[r.n:], id)
		r.n += n
	}
	if e.kept != nil {
		n = e.keep(n, o.how == Replace)
	}
	e.n += n
	return nil
}

// keep drops, of the n edges behind the end, those that are there already, and
// returns how many stay: all where always.
func (e *edgeBuffer) keep(n int, always bool) int {
	e.kept.reserve(n)
	to := e.n
	for i := e.n; i < e.n+n; i++ {
		fresh := e.kept.add(e.id[i])
		e.src[to], e.dst[to], e.id[to] = e.src[i], e.dst[i], e.id[i]
		if fresh || always {
			to++
		}
	}
	return to - e.n
}

// floydTable is the size of the table in which floyd looks for repeats.
const floydTable = 4096

// pickUniform picks for each node of the block its edges' positions, and writes
// the node's local id beside each. It returns their number.
func (c *Context) pickUniform(o *op, key uint64, m int, pos, near []uint32) int {
	n := 0
	for i, l := range c.nearLocal[:m] {
		start, d := c.start[i], c.degree[i]
		k := min(d, o.take)
		out, local := pos[n:n+int(k)], near[n:n+int(k)]
		if d <= o.take {
			for j := range out {
				out[j] = start + uint32(j)
				local[j] = l
			}
		} else {
			c.floyd(Absorb(key, uint64(c.node[i])), d, out)
			for j := range out {
				out[j] += start
				local[j] = l
			}
		}
		n += int(k)
	}
	return n
}

// floyd sets out to len(out) distinct numbers below n, in the order that the law
// finds them. len(out) must be below n.
//
// A number's slot in the table holds the tick of the node that took it last: for
// n up to the table's size that is exact, above it a hit may be another number's
// and is looked up.
func (c *Context) floyd(h uint64, n uint32, out []uint32) {
	c.tick++
	if c.tick == 0 {
		clear(c.seen[:])
		c.tick = 1
	}
	tick := c.tick
	j := n - uint32(len(out))
	for i := range out {
		h += gamma
		t := uint32(Below(Mix(h), uint64(j)+1))
		if c.seen[t%floydTable] == tick && (n <= floydTable || slices.Contains(out[:i], t)) {
			t = j
		}
		c.seen[t%floydTable] = tick
		out[i] = t
		j++
	}
}

// pickAny is pickUniform for every strategy, with or without Before.
func (c *Context) pickAny(o *op, key uint64, m int, pos, near []uint32) int {
	var bound cut
	if o.times != nil {
		bound = o.times.cutAt(c.sub.Input.Time, c.s.plan.Before.OrEqual)
	}
	n := 0
	for i, l := range c.nearLocal[:m] {
		start, d := c.start[i], c.degree[i]
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
		h := Absorb(key, uint64(c.node[i]))
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
				c.floyd(h, d, out[:took])
			}
		case Replace:
			took = int(k)
			for j := range out[:took] {
				h += gamma
				out[j] = uint32(Below(Mix(h), uint64(d)))
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

// filter is the positions of the edges that are within the bound.
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

// passing is how many of the edges are within the bound, where times ascend.
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

// ascends says whether no edge is earlier than the one before it at its node, so
// that the edges before a time come first.
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
