package sample

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// reversed is an edge type that gets the reverses of the drawn edges of another one, or of its own.
type reversed struct {
	edges, from int
	src, dst    int     // node types of edges
	pairs       *pairs  // of edges, where the types differ
	excluded    [2]bool // Sampler.excluded, out of the sources of edges
}

// ReverseType is the edge type with the reverses of the edges of a type, given by number: of b:rev_REL:a that is a:REL:b,
// of a:REL:b it is b:rev_REL:a, as far as g has it, else within one node type the type itself, else -1.
func ReverseType(g *graph.Graph, edges int) int {
	et := g.Edges[edges].Type
	back := func(rel string) int {
		return slices.IndexFunc(g.Edges, func(e *graph.Edges) bool { return e.Type == graph.EdgeType{Src: et.Dst, Rel: rel, Dst: et.Src} })
	}
	if rel, is := strings.CutPrefix(et.Rel, "rev_"); is {
		if i := back(rel); i >= 0 {
			return i
		}
	}
	if i := back("rev_" + et.Rel); i >= 0 || et.Src != et.Dst {
		return i
	}
	return edges
}

// reverses are the edge types of g that get the reverses of edges that the ops draw (to, by number), and those with these
// edges (from).
func (p *Plan) reverses(g *graph.Graph) (to, from []int) {
	if p.Kind != Bidirectional {
		return nil, nil
	}
	for i := range g.Edges {
		r := ReverseType(g, i)
		if r >= 0 && slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Take != 0 && o.Edges == g.Edges[r].Type.String() }) {
			to, from = append(to, i), append(from, r)
		}
	}
	return to, from
}

// Reversed is the numbers of the edge types of g, ascending, to which Bidirectional adds edges.
func (p *Plan) Reversed(g *graph.Graph) []int {
	to, _ := p.reverses(g)
	return to
}

func (s *Sampler) compileReverses() error {
	to, from := s.plan.reverses(s.g)
	for k, i := range to {
		et := s.g.Edges[i].Type
		r := reversed{edges: i, from: from[k], src: s.g.NodeType(et.Src), dst: s.g.NodeType(et.Dst), excluded: s.excluded(et.String(), graph.Out)}
		if i != from[k] && !s.opt.Given {
			var err error
			if r.pairs, err = s.pairsOf(i); err != nil {
				return err
			}
		}
		s.reversed = append(s.reversed, r)
	}
	return nil
}

// addReverses adds the reverses of the edges that were drawn, behind the edges of their type and in the order of the edges.
// Within one type, a reverse has the id of its edge; in another one, it is the edge of the lowest id between the two nodes,
// if there is one. Left out are edges between nodes that have one already, and those that Exclude leaves out.
func (c *Context) addReverses() {
	drawn := c.ends[:0]
	for i := range c.edges {
		drawn = append(drawn, uint32(c.edges[i].n))
	}
	c.ends = drawn
	for i := range c.s.reversed {
		r := &c.s.reversed[i]
		n := int(drawn[r.from])
		if n == 0 {
			continue
		}
		e, from, have := &c.edges[r.edges], &c.edges[r.from], &c.reverses
		have.begin(e.n + n)
		for k := range e.n {
			have.add(e.src[k], e.dst[k])
		}
		e.reserve(n)
		sources, targets := c.local[r.src].nodes, c.local[r.dst].nodes
		for k := range n {
			src, dst, id := from.dst[k], from.src[k], from.edge(k)
			if r.excluded != [2]bool{} && c.excludes(r.excluded, src, targets[dst]) {
				continue
			}
			if r.pairs != nil {
				var ok bool
				if id, ok = r.pairs.find(sources[src], targets[dst]); !ok {
					continue
				}
			}
			if have.add(src, dst) {
				e.set(e.n, src, dst, id)
				e.n++
			}
		}
	}
}

// pairSet is a set of pairs of local ids, which are below 2^31.
type pairSet struct {
	slots []uint64 // a pair + 1; 0 is empty
	shift uint8
}

// begin empties the set and makes room for n pairs.
func (s *pairSet) begin(n int) {
	size, shift := tableSize(2 * n)
	if size > cap(s.slots) {
		s.slots = make([]uint64, size)
	}
	s.slots, s.shift = s.slots[:size], shift
	clear(s.slots)
}

// add adds a pair and says whether it is new.
func (s *pairSet) add(a, b uint32) bool {
	x := uint64(a)<<32 | uint64(b) + 1
	mask := uint64(len(s.slots) - 1)
	at := x * hashMul >> (s.shift & 63) & mask
	for s.slots[at] != 0 {
		if s.slots[at] == x {
			return false
		}
		at = (at + 1) & mask
	}
	s.slots[at] = x
	return true
}
