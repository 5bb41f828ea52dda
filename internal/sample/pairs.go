package sample

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// ascendsFar says whether the far ends of each node ascend, so that one can be searched for. It is so in the direction
// that is not the primary one.
func (s *Sampler) ascendsFar(a *adjacency) bool {
	up, known := s.sorted[a]
	if known {
		return up
	}
	up = true
	for v := 0; up && v < a.nodes(); v++ {
		from, to := a.span(uint32(v))
		up = slices.IsSorted(a.far[from:to])
	}
	if s.sorted == nil {
		s.sorted = map[*adjacency]bool{}
	}
	s.sorted[a] = up
	return up
}

// pairs tells whether there is an edge between two nodes.
type pairs struct {
	adj    *adjacency
	dir    graph.Direction
	sorted bool
}

// pairsOf is the pairs of an edge type: of a direction whose far ends ascend where one is stored or in memory, else
// of the primary direction.
func (s *Sampler) pairsOf(edges int) (*pairs, error) {
	e := s.g.Edges[edges]
	a, err := s.adjacencyOf(edges, e.Primary)
	if err != nil {
		return nil, err
	}
	p := &pairs{a, e.Primary, s.ascendsFar(a)}
	if other := 1 - e.Primary; !p.sorted && (e.Adj[other] != nil || s.adj[edges][other] != nil) {
		b, err := s.adjacencyOf(edges, other)
		if err != nil {
			return nil, err
		}
		if s.ascendsFar(b) {
			p = &pairs{b, other, true}
		}
	}
	return p, nil
}

// find is the lowest id of an edge from one node to another. ok is false where there is none.
func (p *pairs) find(src, dst uint32) (id uint64, ok bool) {
	near, far := src, dst
	if p.dir == graph.In {
		near, far = dst, src
	}
	from, to := p.adj.span(near)
	list := p.adj.far[from:to]
	at := -1
	if !p.sorted {
		at = slices.Index(list, far)
	} else if i, found := slices.BinarySearch(list, far); found {
		at = i
	}
	if at < 0 {
		return 0, false
	}
	return p.adj.edge(from + uint64(at)), true
}

// any says whether an edge from one node to another, given by its id, has a property.
func (p *pairs) any(src, dst uint32, has func(id uint64) bool) bool {
	near, far := src, dst
	if p.dir == graph.In {
		near, far = dst, src
	}
	from, to := p.adj.span(near)
	list := p.adj.far[from:to]
	at := 0
	if p.sorted {
		at, _ = slices.BinarySearch(list, far)
	}
	for ; at < len(list) && (!p.sorted || list[at] == far); at++ {
		if list[at] == far && has(p.adj.edge(from+uint64(at))) {
			return true
		}
	}
	return false
}

// has says whether there is an edge from one node to another.
func (p *pairs) has(src, dst uint32) bool {
	_, ok := p.find(src, dst)
	return ok
}
