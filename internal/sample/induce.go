package sample

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// induced is an edge type between node types that the plan reaches, in its primary direction.
type induced struct {
	edges, near, far int
	dir              graph.Direction
	adj              *adjacency
	excluded         [2]bool // Sampler.excluded
}

// Induced is the numbers of the edge types of g between node types that the plan reaches, ascending. Subgraphs have
// these edge types with Induced.
func (p *Plan) Induced(g *graph.Graph) []int {
	reached := slices.Clone(p.SeedType)
	for _, op := range p.Ops {
		if e := edgesOf(g, op.Edges); e != nil && op.Take != 0 {
			reached = append(reached, e.Type.Far(op.Dir))
		}
	}
	var types []int
	for i, e := range g.Edges {
		if slices.Contains(reached, e.Type.Src) && slices.Contains(reached, e.Type.Dst) {
			types = append(types, i)
		}
	}
	return types
}

func (s *Sampler) compileInduced() error {
	for _, i := range s.plan.Induced(s.g) {
		e := s.g.Edges[i]
		adj, err := s.adjacencyOf(i, e.Primary)
		if err != nil {
			return err
		}
		s.induced = append(s.induced, induced{i, s.g.NodeType(e.Type.Near(e.Primary)), s.g.NodeType(e.Type.Far(e.Primary)), e.Primary, adj, s.excluded(e.Type.String(), e.Primary)})
	}
	return nil
}

// induce replaces the edges by all edges between the nodes, without those that Exclude leaves out.
func (c *Context) induce() error {
	for i := range c.s.induced {
		t := &c.s.induced[i]
		near, far, e := &c.local[t.near], &c.local[t.far], &c.edges[t.edges]
		e.n = 0
		for local, v := range near.nodes[:near.n] {
			from, to := t.adj.span(v)
			for p := from; p < to; p++ {
				other, ok := far.find(t.adj.far[p])
				if !ok || t.excluded != [2]bool{} && c.excludes(t.excluded, uint32(local), t.adj.far[p]) {
					continue
				}
				if e.n >= maxLocal {
					return c.errSubgraph(t.far)
				}
				e.reserve(1)
				src, dst := uint32(local), other
				if t.dir == graph.In {
					src, dst = dst, src
				}
				e.set(e.n, src, dst, t.adj.edge(p))
				e.n++
			}
		}
	}
	return nil
}

// find is the local id of a node; ok is false where it was not visited.
func (l *localIDs) find(v uint32) (local uint32, ok bool) {
	if l.n == 0 {
		return 0, false
	}
	switch l.kind {
	case relabelDirect:
		return l.direct[v] - l.base, l.direct[v] >= l.base
	case relabelWide:
		mask := uint64(len(l.wide) - 1)
		for at := uint64(v) * hashMul >> l.shift; uint32(l.wide[at]) >= l.base; at = (at + 1) & mask {
			if uint32(l.wide[at]>>32) == v {
				return uint32(l.wide[at]) - l.base, true
			}
		}
	default:
		mask := uint64(len(l.narrow) - 1)
		for at := uint64(v) * hashMul >> l.shift; l.narrow[at] >= l.base; at = (at + 1) & mask {
			if i := l.narrow[at] - l.base; l.nodes[i] == v {
				return i, true
			}
		}
	}
	return 0, false
}
