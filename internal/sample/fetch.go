package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Fetched gives the far ends of the edges of a subgraph, for a Sampler with Options.Fetch.
type Fetched interface {
	// Ends fills far with the far ends of the edges that op (from 1) takes of nodes, which are the next ones of its
	// frontier: node by node, in the order of the draws. Where ids is not empty, it gets the edge ids. That is so for ops
	// for which Apart is true.
	Ends(op int, nodes, far []uint32, ids graph.Index)
}

// SampleFrom is Sample with the far ends from f, which must be below the number of nodes of their type.
func (c *Context) SampleFrom(in Input, f Fetched) (*Subgraph, error) {
	c.fetched = f
	defer func() { c.fetched = nil }()
	return c.Sample(in)
}

// Given gives the edges of a subgraph, for a Sampler with Options.Given.
type Given interface {
	Fetched
	// Counts sets counts to the number of edges that op (from 1) takes of each of nodes, which are the next ones of its
	// frontier. Ends then asks for these edges; it always wants edge ids.
	Counts(op int, nodes, counts []uint32)
}

// SampleGiven is Sample with all edges from g. Far ends must be below the number of nodes of their type.
func (c *Context) SampleGiven(in Input, g Given) (*Subgraph, error) {
	if c.s.cannotGive != nil {
		return nil, c.s.cannotGive
	}
	c.fetched, c.given = g, g
	defer func() { c.fetched, c.given = nil, nil }()
	return c.Sample(in)
}

// CanGive is CanFetch for Options.Given. No weights of nodes are read there, so negatives are uniform.
func (p *Plan) CanGive(g *graph.Graph) error {
	if n := p.Negatives; n != nil && len(n.Times) > 0 {
		return tagged.Errorf(ErrFetch, "found negatives that exist at the time of their links, expected negatives at any time: no process has the whole graph; take the method local (`Method`), or the memory executor (`Executor`)")
	}
	if n := p.Negatives; n != nil && n.By != ByNone {
		return tagged.Errorf(ErrFetch, "found negatives by %s, expected uniform ones: no process has the whole graph; take the method local (`Method`), or the memory executor (`Executor`)", n.By)
	}
	return p.canFetch(g)
}

// CanFetch is nil where subgraphs of g need no other neighbours than those that the ops take, so that Options.Fetch can make
// them. Else it is an ErrFetch that says why not.
func (p *Plan) CanFetch(g *graph.Graph) error {
	if i := slices.IndexFunc(p.Ops, func(o Op) bool { return o.traits().farEnds }); i >= 0 {
		return tagged.Errorf(ErrFetch, "found ops with how %s, expected others: all far ends would be read before the draw"+takeMemory, p.Ops[i].How)
	}
	return p.canFetch(g)
}

// takeMemory is the advice of CanFetch.
const takeMemory = "; take the memory executor (`Executor`)"

// canFetch is CanFetch where far ends are read before they are drawn.
func (p *Plan) canFetch(g *graph.Graph) error {
	const take = takeMemory
	to, from := p.reverses(g)
	for i, t := range to {
		if t != from[i] {
			return tagged.Errorf(ErrFetch, "found bidirectional subgraphs with the edge types %s and %s, expected edge types that have their own reverses: the reverse of each edge would be searched for"+take,
				g.Edges[from[i]].Type, g.Edges[t].Type)
		}
	}
	if i := slices.IndexFunc(p.Ops, func(o Op) bool { return o.traits().frontier }); i >= 0 {
		return tagged.Errorf(ErrFetch, "found ops with how %s, expected others: the neighbours of other nodes would be read before the draw"+take, p.Ops[i].How)
	}
	switch {
	case p.Kind == Induced:
		return tagged.Errorf(ErrFetch, "found subgraphs with all edges between their nodes, expected those that are drawn: all edges of all nodes would be read"+take)
	case p.Exclude != nil:
		return tagged.Errorf(ErrFetch, "found an exclusion of the edges of seeds, expected none: all edges of their ends would be read"+take)
	case p.Before != nil && len(p.Before.NodeColumns) > 0:
		return tagged.Errorf(ErrFetch, "found times of nodes, expected those of edges alone: all far ends would be read before the draw"+take)
	case p.Negatives != nil && p.Negatives.Strict != StrictNo:
		return tagged.Errorf(ErrFetch, "found strict negatives, expected any: the neighbours of negatives would be read at random"+take)
	}
	return nil
}

// Begin starts a walk over a subgraph without its edges. Step by step, it shows the nodes that an op expands
// (Frontier), given the nodes that the ops before it reached: Found must be called for these ops in turn.
func (c *Context) Begin(in Input) error {
	if err := c.begin(in); err != nil {
		return err
	}
	return c.seeds(in)
}

// Visited is the nodes of a type, given by number, that op 0 visits: the ends of the seeds and of their negatives, each
// once. It follows Begin, and is valid until the next call.
func (c *Context) Visited(nodeType int) []uint32 {
	return c.local[nodeType].nodes[:c.sub.NodesByHop[nodeType][0]]
}

// DrawNegatives draws the negatives of an input alone: source and target in turn, and none for a plan without them. They
// are valid until the next call of any method.
func (c *Context) DrawNegatives(in Input) ([]uint32, error) {
	if c.s.negatives == nil {
		return nil, nil
	}
	if in.err != nil {
		return nil, in.err
	}
	if err := c.s.checkLinks(len(in.Seeds) / 2); err != nil {
		return nil, err
	}
	err := c.drawNegatives(in)
	return c.sub.Negatives.Nodes, err
}

// NegativeNodes is n nodes like those that are drawn as an end of negatives (0 source, 1 target), for estimates; nil
// where that end is one of another link.
func (s *Sampler) NegativeNodes(end, n int) []uint32 {
	if s.negatives == nil || !slices.Contains(s.negatives.drawn(), end) {
		return nil
	}
	count := uint64(s.g.Nodes[s.seedTypes[end]].Count)
	if t := s.negatives.times[end]; t != nil {
		count = uint64(len(t.nodes))
	}
	var nodes []uint32
	for i := range n {
		if v, ok := s.negatives.one(end, draw.At(0, uint64(i)), count); ok {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// Found takes all far ends that op (from 1) reached, in the order of Fetched.Ends. It replaces the nodes in far by
// local ids.
func (c *Context) Found(op int, far []uint32) error {
	o := &c.s.ops[op-1]
	before := c.opBegin(o)
	if err := c.visit(o, far); err != nil {
		return err
	}
	c.opEnd(o, before)
	return nil
}

// Frontier is a run of the nodes that an op expands.
type Frontier struct {
	// Of each node: its type-wise id, its number of edges.
	Node, Degree []uint32
	// Picks is the number of edges that the op takes of all the nodes.
	Picks int
	// Positions is the positions of these edges, for an op that is not plain (Sampler.Plain). It may be nil where there are
	// none, so it does not tell the one kind of op from the other.
	Positions []uint64
}

// Frontier calls fn with the nodes that op (from 1) expands, in order, a few at a time. The lists are valid until fn
// returns. key is the key of the op (Sampler.Key).
func (c *Context) Frontier(op int, key uint64, fn func(f *Frontier) error) error {
	o := &c.s.ops[op-1]
	plain := o.plain()
	var f Frontier
	return c.blocks(o, func(m uint32) error {
		b := c.block(0, m)
		c.locate(o, b)
		need := c.measure(o, b)
		if need > maxLocal {
			return c.errSubgraph(o.far)
		}
		f.Node, f.Degree, f.Picks, f.Positions = b.node, b.degree, need, nil
		if !plain {
			if len(c.pos) < need {
				c.pos, c.near = make([]uint32, 2*need), make([]uint32, 2*need)
			}
			f.Picks = c.pick(o, key, b, c.pos[:need], c.near[:need])
			c.places = slices.Grow(c.places[:0], f.Picks)[:f.Picks]
			b.places(c.near[:f.Picks], c.pos, c.places)
			f.Positions = c.places
		}
		return fn(&f)
	})
}

// plain says whether the degree and the key of a node alone determine the edges that the op takes of it.
func (o *op) plain() bool { return o.times == nil && o.byDegree != nil }

// Draw is the edges that an op without times takes of node v, in order: the place of each among the edges of the node. It
// writes them to pos, which has room for Picks of them.
func (c *Context) Draw(op int, key uint64, v uint32, pos []uint32) []uint32 {
	o := &c.s.ops[op-1]
	if !o.plain() {
		b := c.block(0, 1)
		b.node[0] = v
		need := c.measure(o, b)
		if len(c.near) < need {
			c.pos, c.near = make([]uint32, 2*need), make([]uint32, 2*need)
		}
		pos = pos[:c.pick(o, key, b, pos[:need], c.near[:need])]
		for i := range pos {
			pos[i] -= b.start[0]
		}
		return pos
	}
	from, to := o.adj.span(v)
	d := uint32(to - from)
	pos = pos[:o.picks(d)]
	o.byDegree.choose(&c.picker, key, v, d, pos)
	return pos
}

// picks is the number of edges that an op takes of a node of a degree. Where the op is not plain, it is an upper bound.
func (o *op) picks(degree uint32) uint32 {
	if o.replaces && degree > 0 && o.take != takeAll {
		return o.take
	}
	return min(degree, o.take)
}

// Offsets is the position of the first edge that op (from 1) finds at each node. The edges of v end where the edges of v +
// 1 begin. The caller must not change it.
func (s *Sampler) Offsets(op int) graph.Index { return s.ops[op-1].adj.indptr }

// Span is the positions of the edges that op (from 1) finds at node v.
func (s *Sampler) Span(op int, v uint32) (from, to uint64) { return s.ops[op-1].adj.span(v) }

// Degree is the number of edges that op (from 1) finds at node v.
func (s *Sampler) Degree(op int, v uint32) uint32 {
	from, to := s.ops[op-1].adj.span(v)
	return uint32(to - from)
}

// Wide says whether the ids of an edge type, given by number, take 64 bits (SubEdges).
func (s *Sampler) Wide(edges int) bool { return isWide(s.g.Edges[edges]) }

// Picks is the number of edges that op (from 1) takes of a node of a degree. Where the op is not plain, it is an upper
// bound.
func (s *Sampler) Picks(op int, degree uint32) uint32 { return s.ops[op-1].picks(degree) }

// Plain says whether the degree and the key of a node alone determine the edges that op (from 1) takes of it. That is
// not so for weighted, top and timed ops.
func (s *Sampler) Plain(op int) bool { return s.ops[op-1].plain() }

// Apart says whether the ids of the edges that op (from 1) takes are needed and are not their positions. They are
// needed for subgraphs, or to find edges that an earlier op drew.
func (s *Sampler) Apart(op int) bool { return s.apart(&s.ops[op-1]) }

func (s *Sampler) apart(o *op) bool {
	return o.adj.apart && (s.EdgeIDs() || s.Repeats(o.edges))
}

// Walk is the edge type (its number) and the direction of op (from 1).
func (s *Sampler) Walk(op int) (edges int, dir graph.Direction) {
	return s.ops[op-1].edges, s.ops[op-1].dir
}

// Waves is the ops in runs: the first op of each run (from 1) and the op after its last. The ops of a run start only
// from ops before the run, so their edges can be fetched together.
func (s *Sampler) Waves() [][2]int {
	var out [][2]int
	for _, w := range s.waves {
		out = append(out, [2]int{w.first + 1, w.end + 1})
	}
	return out
}

// Key is the state that op (from 1) draws from in the subgraph of in. That of a node is draw.Absorb(Key, node).
func (s *Sampler) Key(in Input, op int) uint64 {
	return draw.Absorb(s.prefixKey(in), uint64(op))
}

// Repeats says whether an op may take an edge of an edge type, given by number, that an earlier op took. Its edge ids are
// then needed to tell.
func (s *Sampler) Repeats(edges int) bool {
	return slices.ContainsFunc(s.ops, func(x op) bool { return x.edges == edges && x.dedupe })
}
