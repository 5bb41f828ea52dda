package sample

import (
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Input is the seeds of one subgraph, and what its draws depend on.
type Input struct {
	// Seeds are type-wise ids: one per seed or, for link seeds, source and target in turn. Under ScopeSeed there is
	// exactly one seed.
	Seeds []uint32
	// Negatives are the lists of the seeds, for a plan whose negatives are Listed.
	Negatives NegativeLists
	Seed      uint64
	Epoch     uint64
	// Unit is the number of the batch in the epoch, over all ranks. Only draws under ScopeBatch depend on it.
	Unit uint64
	// Time is the time of the seed, for a plan with Before.
	Time Time

	err error // why the seeds are not known
}

// Subgraph is the nodes and edges that a plan takes around its seeds. Lists by type are in the order of the types of
// the graph. It is valid until the next Sample of its context.
type Subgraph struct {
	Input Input
	// Nodes holds, by node type, the type-wise id of each local id: seeds first,
	// then in order of discovery.
	Nodes [][]uint32
	// SeedLocal is the local ids of Input.Seeds; equal seeds share a node.
	SeedLocal []uint32
	// Negatives are the negative links of the seeds (Plan.Negatives): first of the first seed, then of the second, and so on.
	Negatives SubNegatives
	Edges     []SubEdges // by edge type
	// NodesByHop counts, by node type, the nodes found in each hop from 0 (the
	// seeds); EdgesByHop, by edge type, the edges drawn and kept in each hop from 1.
	NodesByHop [][]uint32
	EdgesByHop [][]uint32
	// Drawn is the number of edges that all ops drew, including those that an earlier op had drawn. Every figure of
	// "sampled edges" is this number.
	Drawn uint64
	Ops   []SubOp // by op from 1, with Options.Ops
}

// SubNegatives is negative links: source and target in turn, as type-wise ids and as local ids.
type SubNegatives struct {
	Nodes, Local []uint32
	// Ends are, by link, the number of negatives up to its last one; empty where each link has as many.
	Ends []uint64
	// Edges is the number of them that are edges, or join a node with itself, after all tries (StrictCount).
	Edges int
}

// Span is the negatives of one of the links of a subgraph: the number of the first, and of the one after the last.
func (n *SubNegatives) Span(link, links int) (from, to int) {
	l := NegativeLists{Nodes: n.Nodes}
	if len(n.Ends) > 0 {
		l.Ends = n.Ends
	}
	return l.span(link, links)
}

// SubEdges is edges of one type: the local ids of their ends, and their edge ids. The ids are empty with
// Options.NoEdgeIDs, and have 64 bits where the ids of the edge type do not fit 32.
type SubEdges struct {
	Src, Dst []uint32
	ID       graph.Index
	// Weight is, with Options.Weights, what the value of each edge is multiplied by in a mean over the edges that an op drew of a node:
	// the mean is then about that over all edges which the op might have drawn. It is nil without them.
	Weight []float32
}

// SubOp is what one op did: the local ids that it expanded, and every edge that it drew, in order. Message-flow blocks
// are made from these.
type SubOp struct {
	Frontier []uint32
	SubEdges
}

// blockNodes is the number of frontier nodes that go through the phases together: enough to hide the latency of their
// loads, and few enough to stay in the cache.
const blockNodes = 128

// Context is the buffers of one goroutine that samples. It is not safe for
// concurrent use.
type Context struct {
	s     *Sampler
	sub   Subgraph
	local []localIDs   // by node type
	edges []edgeBuffer // by edge type
	ops   []opState    // by op, with op 0

	fetched Fetched // during SampleFrom and SampleGiven
	given   Given   // during SampleGiven

	// Under ExpandAll: marks of the nodes that an op expands, and of those that it reaches.
	expands, reaches stamps

	frontier []uint32
	ends     []uint32

	partners   [2]partners // with Exclude: of sources and of targets
	leaves     []uint32    // positions that Exclude leaves out of a node
	finds      []find      // what Exclude leaves out of a block, and the part of it that is left
	found      []find
	reverses   pairSet      // with Bidirectional
	candidates []candidates // by op, of those with budgets of nodes or LABOR-i
	push       *push        // with PPR and Walk
	filter     filter       // with Induced
	share      []float64    // of the edges that were picked of a block, by ops of Plan.Weighs: their weights

	// Of the nodes of a block: local id, type-wise id, first position, number of edges. Positions of a wide edge type
	// count from base, the first edge of the node, so that they fit 32 bits; the base of others is 0.
	nearLocal, node, start, degree [waveNodes]uint32
	base                           [waveNodes]uint64

	picker Picker
	run    run       // of the node that is drawn from
	at     []uint32  // positions of the edges that may be taken
	prefix []float64 // of their weights
	rest   []float64
	least  []float64 // numbers of the edges of a leastHeap
	staged *staged
	parts  []part
	pos    []uint32 // of the picks of a wave, and the near end of each
	near   []uint32
	edge   []uint64 // edge ids of the largest values so far
	places []uint64 // positions of a Frontier
}

// edgeBuffer is the edges of a type so far, in buffers longer than n.
type edgeBuffer struct {
	src, dst []uint32
	id       []uint32 // edge ids; of a wide edge type only positions of the last picks
	wide     []uint64 // edge ids of a wide edge type
	isWide   bool
	weight   []float32 // with weighs
	weighs   bool
	n        int
	// Where an op may draw an edge again: the edges of each near node, or the edge ids if ops walk in both directions.
	repeats *repeats
	kept    *idSet
}

// opState is what an op reached, for later ops that start from it.
type opState struct {
	first, end uint32   // local ids that the op was the first to find
	every      []uint32 // all nodes that it reached, in order, where a later op needs them
	record     edgeBuffer
	frontier   []uint32
}

// stamps marks local ids: an id is marked where its stamp is the tick.
type stamps struct {
	at   []uint32
	tick uint32
}

// next takes all marks back and makes room for n ids.
func (s *stamps) next(n int) {
	s.tick++
	if s.tick == 0 {
		clear(s.at)
		s.tick = 1
	}
	s.reserve(n)
}

func (s *stamps) reserve(n int) {
	if n > len(s.at) {
		at := make([]uint32, max(2*len(s.at), n))
		copy(at, s.at)
		s.at = at
	}
}

// mark marks id, and says whether it was not marked before.
func (s *stamps) mark(id uint32) bool {
	if s.at[id] == s.tick {
		return false
	}
	s.at[id] = s.tick
	return true
}

// NewContext makes the buffers of a goroutine. They grow to the size that the subgraphs need and are reused.
func (s *Sampler) NewContext() *Context {
	nodes, edges := len(s.g.Nodes), len(s.g.Edges)
	c := &Context{
		s:     s,
		local: make([]localIDs, nodes),
		edges: make([]edgeBuffer, edges),
		ops:   make([]opState, len(s.ops)+1),
		sub: Subgraph{
			Nodes:      make([][]uint32, nodes),
			Edges:      make([]SubEdges, edges),
			NodesByHop: make([][]uint32, nodes),
			EdgesByHop: make([][]uint32, edges),
		},
	}
	for i := range c.local {
		c.local[i] = localIDs{count: s.g.Nodes[i].Count, forced: s.relabel, tiny: s.plan.Scope == ScopeSeed || s.opt.Small}
		c.sub.NodesByHop[i] = make([]uint32, s.hops+1)
	}
	for i := range c.edges {
		c.sub.EdgesByHop[i] = make([]uint32, s.hops)
		c.edges[i].isWide, c.edges[i].weighs = isWide(s.g.Edges[i]), s.opt.Weights
	}
	for i := range s.ops {
		c.ops[i+1].record.isWide, c.ops[i+1].record.weighs = isWide(s.g.Edges[s.ops[i].edges]), s.opt.Weights
	}
	for _, o := range s.ops {
		switch e := &c.edges[o.edges]; {
		case !o.dedupe:
		case o.oneWay && e.repeats == nil:
			e.repeats = &repeats{}
		case !o.oneWay && e.kept == nil:
			e.kept = &idSet{wide: e.isWide}
		}
	}
	if s.opt.Ops {
		c.sub.Ops = make([]SubOp, len(s.ops))
	}
	return c
}

// Sample makes one subgraph.
func (c *Context) Sample(in Input) (*Subgraph, error) {
	if err := c.begin(in); err != nil {
		return nil, err
	}
	if err := c.seeds(in); err != nil {
		return nil, err
	}
	prefix := c.s.prefixKey(in)
	for _, w := range c.s.waves {
		ok, err := c.wave(w, prefix)
		if err != nil {
			return nil, err
		}
		if ok {
			continue
		}
		for i := w.first; i < w.end; i++ {
			o := &c.s.ops[i]
			if p, ok := o.drawer.(preparer); ok {
				if err := p.prepare(c, o, prefix); err != nil {
					return nil, err
				}
			}
			before := c.opBegin(o)
			if err := c.runOp(o, prefix); err != nil {
				return nil, err
			}
			c.opEnd(o, before)
		}
	}
	if err := c.induce(); err != nil {
		return nil, err
	}
	if c.s.plan.Kind == Bidirectional {
		c.addReverses()
	}
	c.finish()
	return &c.sub, nil
}

// Negatives draws the negatives of links as Sample does, without the subgraph: they have no local ids. They are valid until the next call.
func (c *Context) Negatives(in Input) (*SubNegatives, error) {
	if err := c.begin(in); err != nil {
		return nil, err
	}
	if err := c.drawNegatives(in); err != nil {
		return nil, err
	}
	return &c.sub.Negatives, nil
}

// begin checks the input and empties the context.
func (c *Context) begin(in Input) error {
	width := c.s.SeedWidth()
	if len(in.Seeds)%width != 0 {
		return tagged.Errorf(ErrSeed, "found %d ids, expected pairs of source and target; give two ids per link", len(in.Seeds))
	}
	if in.err != nil {
		return in.err
	}
	if c.s.plan.Scope == ScopeSeed && len(in.Seeds) != width {
		return tagged.Errorf(ErrSeed, "found %d seeds, expected one for scope seed", len(in.Seeds)/width)
	}
	for i, v := range in.Seeds {
		if t := c.s.g.Nodes[c.s.seedTypes[i%width]]; int(v) >= t.Count {
			return tagged.Errorf(ErrSeed, "found node %d of type %s, expected less than %d; seeds are row numbers of the store; look original ids up first", v, t.Type, t.Count)
		}
	}
	if err := c.s.checkLinks(len(in.Seeds) / 2); width == 2 && err != nil {
		return err
	}
	c.sub.Input, c.sub.Drawn = in, 0
	for i := range c.local {
		c.local[i].begin()
		clear(c.sub.NodesByHop[i])
	}
	for i := range c.edges {
		e := &c.edges[i]
		e.n = 0
		if e.kept != nil {
			e.kept.begin()
		}
		if e.repeats != nil {
			e.repeats.begin()
		}
		clear(c.sub.EdgesByHop[i])
	}
	return nil
}

// finish points the lists of the subgraph into the buffers.
func (c *Context) finish() {
	for i := range c.local {
		c.sub.Nodes[i] = c.local[i].nodes[:c.local[i].n:c.local[i].n]
	}
	for i := range c.edges {
		c.sub.Edges[i] = c.edges[i].lists()
		if c.s.opt.NoEdgeIDs {
			c.sub.Edges[i].ID = graph.Index{}
		}
	}
	for i := range c.sub.Ops {
		st := &c.ops[i+1]
		c.sub.Ops[i] = SubOp{Frontier: st.frontier, SubEdges: st.record.lists()}
		if c.s.opt.NoEdgeIDs {
			c.sub.Ops[i].ID = graph.Index{}
		}
	}
}

func (e *edgeBuffer) lists() SubEdges {
	n := e.n
	out := SubEdges{Src: e.src[:n:n], Dst: e.dst[:n:n]}
	if e.isWide {
		out.ID.U64 = e.wide[:n:n]
	} else {
		out.ID.U32 = e.id[:n:n]
	}
	if e.weighs {
		out.Weight = e.weight[:n:n]
	}
	return out
}

// reserve makes room for more edges.
func (e *edgeBuffer) reserve(more int) {
	need := e.n + more
	if need <= len(e.id) {
		return
	}
	size := max(2*len(e.id), need, 1<<8)
	for _, x := range []*[]uint32{&e.src, &e.dst, &e.id} {
		grown := make([]uint32, size)
		copy(grown, (*x)[:e.n])
		*x = grown
	}
	if e.isWide {
		grown := make([]uint64, size)
		copy(grown, e.wide[:e.n])
		e.wide = grown
	}
	if e.weighs {
		grown := make([]float32, size)
		copy(grown, e.weight[:e.n])
		e.weight = grown
	}
}

// edge is the id of edge i.
func (e *edgeBuffer) edge(i int) uint64 {
	if e.isWide {
		return e.wide[i]
	}
	return uint64(e.id[i])
}

// set sets edge i.
func (e *edgeBuffer) set(i int, src, dst uint32, id uint64) {
	e.src[i], e.dst[i] = src, dst
	if e.isWide {
		e.wide[i] = id
	} else {
		e.id[i] = uint32(id)
	}
}

// runOp runs one op over its frontier.
func (c *Context) runOp(o *op, prefix uint64) error {
	if o.reaches {
		return c.blocks(o, func(m uint32) error { return c.runReached(o, prefix, c.block(0, m)) })
	}
	return c.blocks(o, func(m uint32) error { return c.runBlock(o, prefix, m) })
}

// blocks puts the frontier of an op into the context's first nodes (as local ids), a block at a time, and calls fn with
// their number. A block may have nodes of several inputs, since typed plans have many inputs with few nodes each.
func (c *Context) blocks(o *op, fn func(m uint32) error) error {
	m := uint32(0)
	var err error
	if c.s.plan.Expand == ExpandAll {
		for list := c.inputs(o); len(list) > 0 && err == nil; {
			m = uint32(copy(c.nearLocal[:blockNodes], list))
			list = list[m:]
			if m == blockNodes {
				err = fn(m)
				m = 0
			}
		}
	} else {
		for _, f := range o.from {
			for first, end := c.fresh(f, o.near); first < end && err == nil; {
				n := min(blockNodes-m, end-first)
				for i := range n {
					c.nearLocal[m+i] = first + i
				}
				m, first = m+n, first+n
				if m == blockNodes {
					err = fn(m)
					m = 0
				}
			}
		}
	}
	if m > 0 && err == nil {
		err = fn(m)
	}
	return err
}

// opBegin prepares the state of an op, and returns the number of edges of its type so far.
func (c *Context) opBegin(o *op) int {
	st := &c.ops[o.number]
	st.first = c.local[o.far].n
	st.every = st.every[:0]
	st.record.n, st.frontier = 0, st.frontier[:0]
	if o.every {
		c.reaches.next(int(st.first))
	}
	return c.edges[o.edges].n
}

// opEnd counts what an op has reached. edges is the result of opBegin.
func (c *Context) opEnd(o *op, edges int) {
	st, hop := &c.ops[o.number], c.s.opHop[o.number]
	st.end = c.local[o.far].n
	c.sub.NodesByHop[o.far][hop] += st.end - st.first
	c.sub.EdgesByHop[o.edges][hop-1] += uint32(c.edges[o.edges].n - edges)
}

// fresh is the local ids of a type that op f was the first to find.
func (c *Context) fresh(f, nodeType int) (first, end uint32) {
	if f == 0 {
		return 0, c.sub.NodesByHop[nodeType][0]
	}
	return c.ops[f].first, c.ops[f].end
}

// inputs is the distinct nodes that the inputs of o reached, in order.
func (c *Context) inputs(o *op) []uint32 {
	list := c.frontier[:0]
	marks := &c.expands
	marks.next(int(c.local[o.near].n))
	for _, f := range o.from {
		if f == 0 {
			_, end := c.fresh(0, o.near)
			for v := range end {
				if marks.mark(v) {
					list = append(list, v)
				}
			}
			continue
		}
		for _, v := range c.ops[f].every {
			if marks.mark(v) {
				list = append(list, v)
			}
		}
	}
	c.frontier = list
	return list
}

// errSubgraph is the error of a subgraph with more nodes than local ids can number.
func (c *Context) errSubgraph(t int) error {
	return tagged.Errorf(ErrTooLarge, "found a subgraph that may have 2^31 or more nodes of type %s, expected fewer; take fewer edges or smaller batches",
		c.s.g.Nodes[t].Type)
}

const maxLocal = math.MaxInt32
