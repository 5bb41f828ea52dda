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
	filled := -1 // the node type that the filter is of
	for i := range c.s.induced {
		t := &c.s.induced[i]
		near, far, e := &c.local[t.near], &c.local[t.far], &c.edges[t.edges]
		e.n = 0
		if far.n == 0 {
			continue
		}
		if filled != t.far {
			c.filter.fill(far.nodes[:far.n])
			filled = t.far
		}
		for local, v := range near.nodes[:near.n] {
			from, to := t.adj.span(v)
			for from < to {
				list := t.adj.far[from:min(from+induceEdges, to)]
				if e.n > maxLocal-len(list) {
					return c.errSubgraph(t.far)
				}
				e.reserve(len(list))
				for _, at := range c.filter.pass(list) {
					other, ok := far.find(list[at])
					if !ok || t.excluded != [2]bool{} && c.excludes(t.excluded, uint32(local), list[at]) {
						continue
					}
					src, dst := uint32(local), other
					if t.dir == graph.In {
						src, dst = dst, src
					}
					e.set(e.n, src, dst, t.adj.edge(from+uint64(at)))
					e.n++
				}
				from += uint64(len(list))
			}
		}
	}
	return nil
}

// induceEdges is the number of edges of a node that are looked at together.
const induceEdges = 1024

// filter is a set of nodes in which a few others seem to be: 32 bits per node and one hash, so that it fits the cache where the tables of
// local ids do not. Most neighbours of the nodes of a subgraph are outside of it.
type filter struct {
	bits  []uint64
	shift uint8 // of the hash of a node, to the number of its bit
	at    [induceEdges]uint32
}

// fill makes the set of nodes.
func (f *filter) fill(nodes []uint32) {
	size, shift := tableSize(32 * len(nodes))
	f.bits, f.shift = slices.Grow(f.bits[:0], size/64)[:size/64], shift
	clear(f.bits)
	for _, v := range nodes {
		h := uint64(v) * hashMul >> shift
		f.bits[h/64] |= 1 << (h % 64)
	}
}

// pass is the places in list, which has at most induceEdges nodes, of the nodes that seem to be in the set. It is valid until the next
// call. The loop has no branch, because one on whether a node is in the set could not be predicted.
func (f *filter) pass(list []uint32) []uint32 {
	n, shift, mask := 0, f.shift&63, uint64(len(f.bits)-1)
	for i, v := range list {
		h := uint64(v) * hashMul >> shift
		f.at[n&(induceEdges-1)] = uint32(i)
		n += int(f.bits[h>>6&mask] >> (h & 63) & 1)
	}
	return f.at[:n]
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
