package sample

import "github.com/graphmill/graphmill/graph"

// Shared is what the samplers of several plans on one graph have in common: the lists of edges, which are checked once, and once made in a direction that the graph does not have; and the values,
// weights and orders of the columns that plans read. Its samplers are made one after the other.
type Shared struct {
	g       *graph.Graph
	adj     [][2]*adjacency
	columns *columnCache
}

// NewShared returns what samplers of a graph can have in common, which is nothing yet.
func NewShared(g *graph.Graph) *Shared {
	return &Shared{g: g, adj: make([][2]*adjacency, len(g.Edges)), columns: newColumnCache(nil)}
}

// shared is what a sampler has in common with others; nil: nothing.
func (s *Sampler) shared() *Shared {
	if x := s.opt.Shared; x != nil && x.g == s.g {
		return x
	}
	return nil
}

// sharedLists are the lists that another sampler has made; nil where there are none.
func (s *Sampler) sharedLists(e int, dir graph.Direction) *adjacency {
	if x := s.shared(); x != nil {
		return x.adj[e][dir]
	}
	return nil
}

// keepLists keeps lists, also for other samplers.
func (s *Sampler) keepLists(e int, dir graph.Direction, a *adjacency) {
	s.adj[e][dir] = a
	if x := s.shared(); x != nil {
		x.adj[e][dir] = a
	}
}

// columnCache holds the columns that ops read, also those of other samplers. after is Options.After.
func (s *Sampler) columnCache(after *Sampler) *columnCache {
	x := s.shared()
	if x == nil {
		return newColumnCache(after)
	}
	c := *x.columns
	c.after = after
	return &c
}
