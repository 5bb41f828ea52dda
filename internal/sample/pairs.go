package sample

import (
	"slices"
	"sort"

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
	for v := 0; up && v < len(a.indptr)-1; v++ {
		up = slices.IsSorted(a.far[a.indptr[v]:a.indptr[v+1]])
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

// pairsOf is the pairs of an edge type: those of a direction whose far ends ascend where one is stored or in memory, else
// those of the primary direction.
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

// has says whether there is an edge from one node to another.
func (p *pairs) has(src, dst uint32) bool {
	near, far := src, dst
	if p.dir == graph.In {
		near, far = dst, src
	}
	list := p.adj.far[p.adj.indptr[near]:p.adj.indptr[near+1]]
	if p.sorted {
		_, found := slices.BinarySearch(list, far)
		return found
	}
	return slices.Contains(list, far)
}

// partners has, for each node that op 0 visited, the other ends of the seed links that the node is an end of.
type partners struct {
	start []uint32 // by local id: where its ends begin in far; one more than there are nodes
	far   []uint32
}

// of is the other ends of a node, ascending and maybe repeated.
func (p *partners) of(local uint32) []uint32 {
	if int(local)+1 >= len(p.start) {
		return nil
	}
	return p.far[p.start[local]:p.start[local+1]]
}

// fill sets the partners of the nodes that are the given end (0 source, 1 target) of links. n is the number of nodes that
// op 0 visited of their type.
func (p *partners) fill(seeds, local []uint32, end int, n uint32) {
	p.start = slices.Grow(p.start[:0], int(n)+2)[:n+2]
	p.far = slices.Grow(p.far[:0], len(seeds)/2)[:len(seeds)/2]
	clear(p.start)
	for i := end; i < len(local); i += 2 {
		p.start[local[i]+2]++
	}
	for v := range n {
		p.start[v+2] += p.start[v+1]
	}
	for i := end; i < len(local); i += 2 {
		at := &p.start[local[i]+1]
		p.far[*at] = seeds[i^1]
		*at++
	}
	p.start = p.start[:n+1]
	for v := range n {
		if list := p.far[p.start[v]:p.start[v+1]]; len(list) > 1 {
			slices.Sort(list)
		}
	}
}

// excluded says of an edge type in a direction which ends of seed links (0 sources, 1 targets) must not find their other
// ends along it.
func (s *Sampler) excluded(edges string, dir graph.Direction) (ends [2]bool) {
	x := s.plan.Exclude
	if x == nil {
		return ends
	}
	// SeedEdges leads from end 0 to end 1, Reverse from end 1 to end 0.
	if edges == s.plan.SeedEdges {
		ends[1-int(dir)] = true
	}
	if edges == x.Reverse {
		ends[int(dir)] = true
	}
	return ends
}

// excludes says whether an edge between a node, by local id, and a far end is left out.
func (c *Context) excludes(ends [2]bool, local, far uint32) bool {
	for end, is := range ends {
		if is && slices.Contains(c.partners[end].of(local), far) {
			return true
		}
	}
	return false
}

// meets says whether a node of the block has edges that an op leaves out.
func (c *Context) meets(o *op, b block) bool {
	for _, l := range b.local {
		for end, is := range o.excluded {
			if is && len(c.partners[end].of(l)) > 0 {
				return true
			}
		}
	}
	return false
}

// left is the positions, ascending, of the edges that an op leaves out of those of a node, which are d from start on.
func (c *Context) left(o *op, local, start, d uint32) []uint32 {
	out := c.leaves[:0]
	list := o.adj.far[start : start+d]
	for end, is := range o.excluded {
		far := c.partners[end].of(local)
		if !is || len(far) == 0 {
			continue
		}
		if o.sorted {
			for i, x := range far {
				if i > 0 && x == far[i-1] {
					continue
				}
				for p := sort.Search(len(list), func(p int) bool { return list[p] >= x }); p < len(list) && list[p] == x; p++ {
					out = append(out, start+uint32(p))
				}
			}
			continue
		}
		// Few far ends are excluded, so a look at a word of their bits settles most.
		some := uint64(0)
		for _, x := range far {
			some |= 1 << (x * mul32 >> 26)
		}
		for p, x := range list {
			if some>>(x*mul32>>26)&1 == 0 {
				continue
			}
			if _, found := slices.BinarySearch(far, x); found {
				out = append(out, start+uint32(p))
			}
		}
	}
	if len(out) > 1 {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	c.leaves = out
	return out
}

// mul32 spreads the bits of a node.
const mul32 = 0x9E3779B1

// skip replaces places in a run of positions from start on without those in left, by positions.
func skip(places []uint32, start uint32, left []uint32) {
	for j, p := range places {
		p += start
		if len(left) <= 16 {
			for _, x := range left {
				if p >= x {
					p++
				}
			}
		} else {
			// The first excluded position with more free positions before it than p.
			n := sort.Search(len(left), func(i int) bool { return left[i]-uint32(i) > p })
			p += uint32(n)
		}
		places[j] = p
	}
}
