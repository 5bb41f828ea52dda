package sample

import "github.com/graphmill/graphmill/graph"

// addReverses gives each edge type within one node type, for each edge, the edge in the other direction: with the same
// edge id, behind the edges that were drawn, in their order. Left out are those that there are already, and those that
// Exclude leaves out.
func (c *Context) addReverses() {
	for i, et := range c.s.g.Edges {
		e := &c.edges[i]
		if et.Type.Src != et.Type.Dst || e.n == 0 {
			continue
		}
		have := &c.reverses
		have.begin(2 * e.n)
		for k := range e.n {
			have.add(e.src[k], e.dst[k])
		}
		excluded := c.s.excluded(et.Type.String(), graph.Out)
		nodes := c.local[c.s.g.NodeType(et.Type.Src)].nodes
		e.reserve(e.n)
		for k, n := 0, e.n; k < n; k++ {
			src, dst := e.dst[k], e.src[k]
			if excluded != [2]bool{} && c.excludes(excluded, src, nodes[dst]) || !have.add(src, dst) {
				continue
			}
			e.src[e.n], e.dst[e.n], e.id[e.n] = src, dst, e.id[k]
			e.n++
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
