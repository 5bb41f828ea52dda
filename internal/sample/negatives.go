package sample

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// negatives is a compiled Negatives.
type negatives struct {
	*Negatives
	by    [2]*nodeWeights // of sources and targets; nil: uniform
	times [2]*nodeTimes   // of sources and targets; nil: all nodes exist
	pairs *pairs          // of a strict plan
	since *values         // times of the edges of pairs, with LinkedBefore
}

// nodeTimes are the nodes of a type in the order of their times; those without a time are left out.
type nodeTimes struct {
	values *values
	nodes  []uint32
}

// existing is the number of nodes that exist at a time: those whose own is not later.
func (n *nodeTimes) existing(t Time) uint64 {
	at := n.values.cutAt(t, true)
	return uint64(sort.Search(len(n.nodes), func(i int) bool { return !n.values.passes(uint64(n.nodes[i]), at) }))
}

// nodeWeights are the sums of the weights of the nodes of a type.
type nodeWeights struct {
	prefix []float64 // by place in the order of the draws, the sum of the weights up to it, inclusive
}

// compileNegatives reads what the negatives of the plan are drawn by. With Options.Given it reads nothing, and contexts
// draw only uniform negatives that are not strict.
func (s *Sampler) compileNegatives(columns *columnCache) error {
	n := s.plan.Negatives
	if n == nil {
		return nil
	}
	s.negatives = &negatives{Negatives: n}
	if s.opt.Given {
		return nil
	}
	if err := s.compileNodeTimes(columns); err != nil {
		return err
	}
	for _, end := range n.drawn() {
		var w []float64
		var err error
		switch n.By {
		case ByNone:
			continue
		case ByDegree:
			w, err = s.degreeWeights(end)
		case ByColumn:
			w, err = s.columnWeights(end, columns)
		}
		if err != nil {
			return err
		}
		if s.negatives.by[end], err = s.sumWeights(end, w); err != nil {
			return err
		}
	}
	if n.Strict == StrictNo {
		return nil
	}
	var err error
	if s.negatives.pairs, err = s.pairsOf(s.edgesOf(s.plan.SeedEdges)); err != nil || n.Linked == LinkedEver {
		return err
	}
	s.negatives.since, err = columns.values(edgesOf(s.g, s.plan.SeedEdges), s.plan.timeColumn(s.plan.SeedEdges))
	return err
}

// edgesOf is the number of an edge type of the graph.
func (s *Sampler) edgesOf(name string) int {
	for i, e := range s.g.Edges {
		if e.Type.String() == name {
			return i
		}
	}
	return -1
}

// degreeWeights is the number of edges of each node in SeedEdges to the power of 0.75: those that leave a source (end 0),
// those that reach a target (end 1). The roots are exact in IEEE arithmetic, so all machines have the same weights.
func (s *Sampler) degreeWeights(end int) ([]float64, error) {
	e := edgesOf(s.g, s.plan.SeedEdges)
	dir := graph.Out
	if end == 1 {
		dir = graph.In
	}
	w := make([]float64, s.g.Nodes[s.seedTypes[end]].Count)
	switch {
	case s.opt.Fetch && e.Adj[dir] == nil:
		return nil, tagged.Errorf(ErrFetch, "%s: found no %s-edges in the store and negatives by degree, expected these edges; take the memory executor (`Executor`), or import with `Both` to store them", e.Type, dir)
	case e.Adj[dir] != nil:
		// adjacencyOf checks the offsets.
		a, err := s.adjacencyOf(s.edgesOf(s.plan.SeedEdges), dir)
		if err != nil {
			return nil, err
		}
		for v := range w {
			from, to := a.span(uint32(v))
			w[v] = float64(to - from)
		}
	default:
		a, err := s.adjacencyOf(s.edgesOf(s.plan.SeedEdges), 1-dir)
		if err != nil {
			return nil, err
		}
		for _, v := range a.far {
			w[v]++
		}
	}
	for v, d := range w {
		root := math.Sqrt(d)
		w[v] = float64(root * math.Sqrt(root))
	}
	return w, nil
}

// columnWeights is the values of the column of the negatives.
func (s *Sampler) columnWeights(end int, columns *columnCache) ([]float64, error) {
	n := s.g.Nodes[s.seedTypes[end]]
	v, err := columns.nodeValues(n, s.plan.Negatives.Column)
	if err != nil {
		return nil, err
	}
	w := make([]float64, n.Count)
	for i := range w {
		w[i] = v.weight(uint64(i))
	}
	return w, nil
}

// compileNodeTimes orders the nodes that are drawn by their times.
func (s *Sampler) compileNodeTimes(columns *columnCache) error {
	for _, end := range s.plan.Negatives.drawn() {
		of := s.g.Nodes[s.seedTypes[end]]
		name := s.plan.Negatives.Times[of.Type]
		if name == "" {
			continue
		}
		v, err := columns.nodeValues(of, name)
		if err != nil {
			return err
		}
		t := &nodeTimes{values: v, nodes: make([]uint32, 0, of.Count)}
		for node := range uint64(of.Count) {
			if !v.nan(node) {
				t.nodes = append(t.nodes, uint32(node))
			}
		}
		slices.SortFunc(t.nodes, func(a, b uint32) int {
			switch {
			case v.less(uint64(a), uint64(b)):
				return -1
			case v.less(uint64(b), uint64(a)):
				return 1
			}
			return cmp.Compare(a, b)
		})
		s.negatives.times[end] = t
	}
	return nil
}

// sumWeights makes the sums of weights by node, in the order in which the nodes are drawn.
func (s *Sampler) sumWeights(end int, w []float64) (*nodeWeights, error) {
	timed := s.negatives.times[end]
	if timed != nil {
		inOrder := make([]float64, len(timed.nodes))
		for i, v := range timed.nodes {
			inOrder[i] = w[v]
		}
		w = inOrder
	}
	sum := 0.0
	for i, x := range w {
		if x > 0 {
			sum += x
		}
		w[i] = sum
	}
	t := s.g.Nodes[s.seedTypes[end]].Type
	switch {
	case math.IsInf(sum, 1):
		return nil, tagged.Errorf(errWeight, "negatives: found an infinite sum of weights of node type %s, expected finite weights and sums; replace the infinite values of the column, or draw negatives uniformly", t)
	case sum == 0 && timed == nil:
		return nil, tagged.Errorf(ErrPlan, "negatives: found no node of type %s with a positive weight, expected one; draw by another column, or uniformly", t)
	}
	return &nodeWeights{prefix: w}, nil
}

// place is the place that 64 random bits take among the first n: the first whose sum is above their part of the total. ok is false where none of them has a weight.
func (w *nodeWeights) place(r, n uint64) (p int, ok bool) {
	total := w.prefix[n-1]
	x := draw.Unit(r) * total
	if p := sort.Search(int(n), func(i int) bool { return w.prefix[i] > x }); p < int(n) {
		return p, true
	}
	return sort.Search(int(n), func(i int) bool { return w.prefix[i] >= total }), total > 0
}

// checkLinks refuses a batch whose links have no negatives.
func (s *Sampler) checkLinks(links int) error {
	if n := s.plan.Negatives; n != nil && n.How == InBatch && links == 1 {
		return tagged.Errorf(ErrSeed, "found a batch of one link and negatives in-batch, expected two links or more, whose targets are exchanged; give another `BatchSize`, or take triplet (`NegativesHow`)")
	}
	return nil
}

// drawNegatives draws the negatives of all links of an input, into the subgraph.
func (c *Context) drawNegatives(in Input) error {
	n, out := c.s.negatives, &c.sub.Negatives
	links := len(in.Seeds) / 2
	if n.How == Listed {
		return c.listNegatives(in)
	}
	if int64(links)*int64(n.Most())*2 > maxLocal {
		return c.errSubgraph(c.s.seedTypes[0])
	}
	if c.s.opt.Given && (n.By != ByNone || n.Strict != StrictNo) {
		return c.s.cannotGive
	}
	out.Nodes, out.Ends, out.Edges = out.Nodes[:0], out.Ends[:0], 0
	prefix := draw.Absorb(c.s.prefixKey(in), 0)
	of := negativesOf{s: c.s, seeds: in.Seeds, tries: 1}
	for end := range c.s.seedTypes {
		of.count[end] = c.s.drawable(end, in.Time)
	}
	if n.since != nil {
		of.until = n.since.cutAt(in.Time, true)
	}
	if n.Strict != StrictNo {
		of.tries = NegativeTries
	}
	for i := range links {
		src, dst := in.Seeds[2*i], in.Seeds[2*i+1]
		own := uint64(i)
		if c.s.plan.Scope == ScopeEpoch {
			own = draw.Absorb(draw.Absorb(0, uint64(src)), uint64(dst))
		}
		state := draw.Absorb(prefix, own)
		for j := range n.drawnFor(state) {
			link, refused := of.draw(i, draw.Absorb(state, j))
			if refused && n.Strict == StrictError {
				return tagged.Errorf(ErrSeed, "link %d (from node %d to node %d): found no negative that is not an edge of %s in %d draws, expected one; take count instead of error (`NegativesStrict`), or other negatives",
					i, src, dst, c.s.plan.SeedEdges, NegativeTries)
			}
			if refused {
				out.Edges++
			}
			out.Nodes = append(out.Nodes, link[0], link[1])
		}
		if n.Uneven() {
			out.Ends = append(out.Ends, uint64(len(out.Nodes)/2))
		}
	}
	return nil
}

// negativesOf draws the negatives of the links of an input.
type negativesOf struct {
	s     *Sampler
	seeds []uint32
	count [2]uint64 // of the nodes among which each end is drawn
	until cut       // of the times of edges that a negative may not be
	tries uint64
}

// draw is a negative of link i, of a state of the draw law: the first of its tries that is not refused, or the last one.
func (d *negativesOf) draw(i int, h uint64) (link [2]uint32, refused bool) {
	for t := range d.tries {
		if link, refused = d.try(i, h, t); !refused {
			break
		}
	}
	return link, refused
}

// try is try t of a negative. It is refused where no node can be its end, and in a strict plan where it is a loop or an edge.
func (d *negativesOf) try(i int, h, t uint64) (link [2]uint32, refused bool) {
	n := d.s.negatives
	link = [2]uint32{d.seeds[2*i], d.seeds[2*i+1]}
	switch n.How {
	case Binary:
		src, found := n.one(0, draw.At(h, 2*t), d.count[0])
		dst, also := n.one(1, draw.At(h, 2*t+1), d.count[1])
		refused = !found || !also
		if found {
			link[0] = src
		}
		if also {
			link[1] = dst
		}
	case Triplet:
		dst, found := n.one(1, draw.At(h, t), d.count[1])
		if refused = !found; found {
			link[1] = dst
		}
	default:
		links := uint64(len(d.seeds) / 2)
		p := int(draw.Below(draw.At(h, t), links-1))
		if p >= i {
			p++
		}
		link[1] = d.seeds[2*p+1]
	}
	if n.pairs != nil {
		refused = refused || d.s.seedTypes[0] == d.s.seedTypes[1] && link[0] == link[1] || n.linked(link, d.until)
	}
	return link, refused
}

// Most is the most negatives that a link has.
func (n *Negatives) Most() int { return int(math.Ceil(n.Each)) }

// Uneven says whether the links have several numbers of drawn negatives, because Each has a fraction.
func (n *Negatives) Uneven() bool { return n.Each != math.Trunc(n.Each) }

// drawnFor is the number of negatives of a link whose draws have a state. The negatives have states that follow from it, so its own draws are free.
func (n *Negatives) drawnFor(state uint64) uint64 {
	whole, fraction := math.Modf(n.Each)
	if fraction > 0 && draw.Unit(draw.At(state, 0)) < fraction {
		whole++
	}
	return uint64(whole)
}

// linked says whether a negative is an edge: of LinkedBefore, one whose time passes a bound.
func (n *negatives) linked(link [2]uint32, until cut) bool {
	if n.since == nil {
		return n.pairs.has(link[0], link[1])
	}
	return n.pairs.any(link[0], link[1], func(id uint64) bool { return n.since.passes(id, until) })
}

// drawable is the number of nodes among which an end (0 source, 1 target) of negatives is drawn for links of a time.
func (s *Sampler) drawable(end int, t Time) uint64 {
	if x := s.negatives.times[end]; x != nil {
		return x.existing(t)
	}
	return uint64(s.g.Nodes[s.seedTypes[end]].Count)
}

// one is the node that 64 random bits take as an end (0 source, 1 target), among the first count in the order of the draws. ok is false
// where there is none.
func (n *negatives) one(end int, r, count uint64) (v uint32, ok bool) {
	if count == 0 {
		return 0, false
	}
	place := int(draw.Below(r, count))
	if w := n.by[end]; w != nil {
		if place, ok = w.place(r, count); !ok {
			return 0, false
		}
	}
	if t := n.times[end]; t != nil {
		return t.nodes[place], true
	}
	return uint32(place), true
}
