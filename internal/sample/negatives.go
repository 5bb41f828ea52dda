package sample

import (
	"math"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// negatives is a compiled Negatives.
type negatives struct {
	*Negatives
	by    [2]*nodeWeights // of sources and targets; nil: uniform
	pairs *pairs          // of a strict plan
}

// nodeWeights are weights of the nodes of a type.
type nodeWeights struct {
	prefix []float64 // by node, the sum of the weights up to it, inclusive
	last   uint32    // the last node with a positive weight
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
	s.negatives.pairs, err = s.pairsOf(s.edgesOf(s.plan.SeedEdges))
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

// sumWeights turns weights into their sums, in their place.
func (s *Sampler) sumWeights(end int, w []float64) (*nodeWeights, error) {
	out, sum := &nodeWeights{prefix: w}, 0.0
	for v, x := range w {
		if x > 0 {
			sum += x
			out.last = uint32(v)
		}
		w[v] = sum
	}
	t := s.g.Nodes[s.seedTypes[end]].Type
	switch {
	case math.IsInf(sum, 1):
		return nil, tagged.Errorf(errWeight, "negatives: found an infinite sum of weights of node type %s, expected finite weights and sums; replace the infinite values of the column, or draw negatives uniformly", t)
	case sum == 0:
		return nil, tagged.Errorf(ErrPlan, "negatives: found no node of type %s with a positive weight, expected one; draw by another column, or uniformly", t)
	}
	return out, nil
}

// node is the node that 64 random bits take: the first whose sum is above their part of the total.
func (w *nodeWeights) node(r uint64) uint32 {
	total := w.prefix[len(w.prefix)-1]
	x := draw.Unit(r) * total
	if p := sort.Search(len(w.prefix), func(i int) bool { return w.prefix[i] > x }); p < len(w.prefix) {
		return uint32(p)
	}
	return w.last
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
	if int64(links)*int64(n.Each)*2 > maxLocal {
		return c.errSubgraph(c.s.seedTypes[0])
	}
	if c.s.opt.Given && (n.By != ByNone || n.Strict != StrictNo) {
		return c.s.plan.CanGive(c.s.g)
	}
	out.Nodes, out.Edges = out.Nodes[:0], 0
	prefix := draw.Absorb(c.s.prefixKey(in), 0)
	var count [2]uint64
	for end, t := range c.s.seedTypes {
		count[end] = uint64(c.s.g.Nodes[t].Count)
	}
	tries := uint64(1)
	if n.Strict != StrictNo {
		tries = NegativeTries
	}
	for i := range links {
		src, dst := in.Seeds[2*i], in.Seeds[2*i+1]
		own := uint64(i)
		if c.s.plan.Scope == ScopeEpoch {
			own = draw.Absorb(draw.Absorb(0, uint64(src)), uint64(dst))
		}
		state := draw.Absorb(prefix, own)
		for j := range uint64(n.Each) {
			h := draw.Absorb(state, j)
			link, refused := [2]uint32{src, dst}, false
			for t := range tries {
				switch n.How {
				case Binary:
					link[0] = n.one(0, draw.At(h, 2*t), count[0])
					link[1] = n.one(1, draw.At(h, 2*t+1), count[1])
				case Triplet:
					link[1] = n.one(1, draw.At(h, t), count[1])
				default:
					p := int(draw.Below(draw.At(h, t), uint64(links-1)))
					if p >= i {
						p++
					}
					link[1] = in.Seeds[2*p+1]
				}
				if n.pairs == nil {
					break
				}
				refused = c.s.seedTypes[0] == c.s.seedTypes[1] && link[0] == link[1] || n.pairs.has(link[0], link[1])
				if !refused {
					break
				}
			}
			if refused {
				if n.Strict == StrictError {
					return tagged.Errorf(ErrSeed, "link %d (from node %d to node %d): found no negative that is not an edge of %s in %d draws, expected one; take count instead of error (`NegativesStrict`), or other negatives",
						i, src, dst, c.s.plan.SeedEdges, NegativeTries)
				}
				out.Edges++
			}
			out.Nodes = append(out.Nodes, link[0], link[1])
		}
	}
	return nil
}

// one is the node that 64 random bits take as an end of a negative, of count nodes.
func (n *negatives) one(end int, r, count uint64) uint32 {
	if w := n.by[end]; w != nil {
		return w.node(r)
	}
	return uint32(draw.Below(r, count))
}
