package sample

import (
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/prefetch"
)

// block is a run of frontier nodes that go through the phases together: find their edges (measure), choose edges
// (pick), and find the far ends and their local ids (reach). Each phase prefetches the cache lines of the next one.
type block struct {
	// Of each node: local id, type-wise id, position of the first edge, number of edges.
	local, node, start, degree []uint32
	base                       []uint64 // what the positions of its edges count from
}

// block is m of the context's nodes, from at on.
func (c *Context) block(at, m uint32) block {
	end := at + m
	return block{c.nearLocal[at:end:end], c.node[at:end:end], c.start[at:end:end], c.degree[at:end:end], c.base[at:end:end]}
}

// locate turns local ids into nodes.
func (c *Context) locate(o *op, b block) {
	nodes := c.local[o.near].nodes
	for i, l := range b.local {
		b.node[i] = nodes[l]
	}
	if c.given == nil {
		if indptr := o.adj.indptr.U64; indptr != nil {
			prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(indptr))), b.node)
		} else {
			prefetch.At(unsafe.SliceData(o.adj.indptr.U32), b.node)
			if o.adj.stops != nil {
				prefetch.At(unsafe.SliceData(o.adj.stops), b.node)
			}
		}
	}
}

// measure finds the edges of the nodes, and returns the most edges that may be picked.
func (c *Context) measure(o *op, b block) int {
	need := 0
	if c.given != nil {
		c.given.Counts(int(o.number), b.node, b.degree)
		for _, d := range b.degree {
			need += int(d)
		}
		return need
	}
	if indptr := o.adj.indptr.U64; indptr != nil {
		for i, v := range b.node {
			base := indptr[v]
			d := uint32(indptr[v+1] - base)
			b.start[i], b.degree[i], b.base[i] = 0, d, base
			need += int(o.picks(d))
		}
		return need
	}
	clear(b.base)
	starts, stops := o.adj.indptr.U32, o.adj.narrowStops()
	for i, v := range b.node {
		s := starts[v]
		d := stops[v] - s
		b.start[i], b.degree[i] = s, d
		if o.replaces && d > 0 && o.take != takeAll {
			d = o.take
		}
		need += int(min(d, o.take))
	}
	return need
}

// pick writes the positions of the edges that are taken to pos, and the local id of the node of each to near. It
// returns their number.
func (c *Context) pick(o *op, key uint64, b block, pos, near []uint32) int {
	var n int
	switch {
	case c.given != nil:
		return repeat(b.local, b.degree, near)
	case c.fetched != nil && c.s.opt.NoEdgeIDs && o.plain() && !c.edges[o.edges].looks():
		return o.nears(b, near)
	case o.excluded != [2]bool{} && c.meets(o, b) || o.byBlock == nil:
		n = c.pickEach(o, key, b, pos, near)
	default:
		n = o.byBlock.drawBlock(c, o, key, b, pos, near)
	}
	if o.adj.far != nil && !o.adj.wide() {
		o.adj.prefetchEnds(pos[:n])
	}
	return n
}

// prefetchEnds prefetches the far ends and the edge ids at positions of an edge type that is not wide.
func (a *adjacency) prefetchEnds(pos []uint32) {
	if a.ends != nil {
		prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(a.ends))), pos)
		return
	}
	prefetch.At(unsafe.SliceData(a.far), pos)
	if len(a.eid.U32) > 0 {
		prefetch.At(unsafe.SliceData(a.eid.U32), pos)
	}
}

// nears writes to near, for each edge that a plain op takes, the local id of its node. It serves where the positions of
// the edges are not needed. It returns the number of edges.
func (o *op) nears(b block, near []uint32) int {
	n := 0
	for i, l := range b.local {
		list := near[n : n+int(o.picks(b.degree[i]))]
		for j := range list {
			list[j] = l
		}
		n += len(list)
	}
	return n
}

// repeat writes each local id to near as often as counts says, and returns the number of ids.
func repeat(local, counts, near []uint32) int {
	n := 0
	for i, l := range local {
		list := near[n : n+int(counts[i])]
		for j := range list {
			list[j] = l
		}
		n += len(list)
	}
	return n
}

// runBlock runs all phases for a block of one op. prefix is the key without the op.
func (c *Context) runBlock(o *op, prefix uint64, m uint32) error {
	b := c.block(0, m)
	c.locate(o, b)
	need := c.measure(o, b)
	if need > maxLocal {
		return c.errSubgraph(o.far)
	}
	e := &c.edges[o.edges]
	e.reserve(need)
	near, _ := e.ends(o, need)
	n := c.pick(o, draw.Absorb(prefix, o.number), b, e.id[e.n:e.n+need], near)
	if e.weighs {
		for i, x := range c.share[:n] {
			e.weight[e.n+i] = float32(x)
		}
	}
	return c.reach(o, b, n)
}

// ends is the near and the far ends of the n edges after the last one.
func (e *edgeBuffer) ends(o *op, n int) (near, far []uint32) {
	src, dst := e.src[e.n:e.n+n], e.dst[e.n:e.n+n]
	if o.dir == graph.In {
		return dst, src
	}
	return src, dst
}

// reach completes n picked edges, whose positions and near ends are after the last edge in the buffer of the edge type.
func (c *Context) reach(o *op, b block, n int) error {
	e := &c.edges[o.edges]
	id := e.id[e.n : e.n+n]
	near, far := e.ends(o, n)
	var wide []uint64
	if e.isWide {
		wide = e.wide[e.n : e.n+n]
		b.places(near, id, wide)
	}
	switch {
	case c.fetched != nil:
		var ids graph.Index
		switch {
		case !o.fetchIDs:
		case e.isWide:
			ids.U64 = wide
		default:
			ids.U32 = id
		}
		c.fetched.Ends(int(o.number), b.node, far, ids)
	case e.isWide:
		o.adj.follow(wide, far)
	case o.adj.ends != nil:
		for i, p := range id {
			x := o.adj.ends[p]
			far[i], id[i] = uint32(x), uint32(x>>32)
		}
	default:
		for i, p := range id {
			far[i] = o.adj.far[p]
		}
		if eid := o.adj.eid.U32; eid != nil {
			for i, p := range id {
				id[i] = eid[p]
			}
		}
	}
	if err := c.visit(o, far); err != nil {
		return err
	}
	c.sub.Drawn += uint64(n)

	if c.sub.Ops != nil {
		st := &c.ops[o.number]
		st.frontier = append(st.frontier, b.local...)
		r := &st.record
		r.reserve(n)
		copy(r.src[r.n:], e.src[e.n:e.n+n])
		copy(r.dst[r.n:], e.dst[e.n:e.n+n])
		if e.isWide {
			copy(r.wide[r.n:], wide)
		} else {
			copy(r.id[r.n:], id)
		}
		if e.weighs {
			copy(r.weight[r.n:], e.weight[e.n:e.n+n])
		}
		r.n += n
	}
	switch {
	case e.repeats != nil:
		n = e.repeats.keep(e, near, c.local[o.near].n, o.replaces)
	case e.kept != nil:
		n = e.keep(n, o.replaces)
	}
	e.n += n
	return nil
}

// places writes the positions in the adjacency of picks, which count from the base of their nodes, to out. near is the
// local id of the node of each, in the order of the block.
func (b *block) places(near, pos []uint32, out []uint64) {
	at := 0
	for i, l := range near {
		for b.local[at] != l {
			at++
		}
		out[i] = b.base[at] + uint64(pos[i])
	}
}

// follow finds the far ends of the edges at positions of a wide edge type, and replaces the positions by edge ids.
func (a *adjacency) follow(pos []uint64, far []uint32) {
	// The loads of this loop do not depend on each other, and so they overlap.
	for i, p := range pos {
		far[i] = a.far[p]
	}
	if eid := a.eid.U64; eid != nil {
		for i, p := range pos {
			pos[i] = eid[p]
		}
	}
}

// visit replaces the nodes that an op reaches by local ids, and notes them for later ops.
func (c *Context) visit(o *op, far []uint32) error {
	targets := &c.local[o.far]
	if int64(targets.n)+int64(len(far)) > maxLocal {
		return c.errSubgraph(o.far)
	}
	targets.visit(far)
	if o.every {
		st, marks := &c.ops[o.number], &c.reaches
		marks.reserve(int(targets.n))
		for _, l := range far {
			if marks.mark(l) {
				st.every = append(st.every, l)
			}
		}
	}
	return nil
}

// looks says whether ops look for edges that were drawn before.
func (e *edgeBuffer) looks() bool { return e.kept != nil || e.repeats != nil }

// keep drops, of the n edges after the last one, those that the buffer has already, and returns the number of the
// others. With always it drops none, and only notes them.
func (e *edgeBuffer) keep(n int, always bool) int {
	e.kept.reserve(n)
	to := e.n
	for i := e.n; i < e.n+n; i++ {
		id := e.edge(i)
		fresh := e.kept.add(id)
		e.set(to, e.src[i], e.dst[i], id)
		if e.weighs {
			e.weight[to] = e.weight[i]
		}
		if fresh || always {
			to++
		}
	}
	return to - e.n
}
