package sample

import (
	"cmp"
	"slices"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/prefetch"
)

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

// find is a far end that an op leaves out of a node of a block. In sorted lists, lo is the first position that may have it.
type find struct {
	node   uint32 // its place in the block
	far    uint32
	lo, hi uint32
	base   uint64 // of positions
}

// meets finds what an op leaves out of the nodes of a block, for left. It says whether there is anything.
func (c *Context) meets(o *op, b block) bool {
	finds := c.finds[:0]
	for i, l := range b.local {
		for end, is := range o.excluded {
			if !is {
				continue
			}
			list := c.partners[end].of(l)
			for k, x := range list {
				if k == 0 || x != list[k-1] {
					finds = append(finds, find{uint32(i), x, b.start[i], b.start[i] + b.degree[i], b.base[i]})
				}
			}
		}
	}
	c.finds, c.found = finds, finds
	if o.sorted {
		c.seekAll(o)
	}
	return len(finds) > 0
}

// seekAll searches for all finds together, a step of each at a time, so that the latencies of their loads overlap.
func (c *Context) seekAll(o *op) {
	finds, far := c.finds, o.adj.far
	for more := true; more; {
		more = false
		probes := c.leaves[:0]
		for i := range finds {
			if f := &finds[i]; f.lo < f.hi {
				probes = append(probes, f.lo+(f.hi-f.lo)/2)
				more = true
			}
		}
		c.leaves = probes
		if !o.adj.wide() {
			prefetch.At(unsafe.SliceData(far), probes)
		}
		for i := range finds {
			if f := &finds[i]; f.lo < f.hi {
				if mid := f.lo + (f.hi-f.lo)/2; far[f.base+uint64(mid)] < f.far {
					f.lo = mid + 1
				} else {
					f.hi = mid
				}
			}
		}
	}
}

// left is the positions, ascending, of the edges that an op leaves out at node i of the block. The node has the d edges from
// start on, counted from base. The nodes come in order, after meets.
func (c *Context) left(o *op, i int, base uint64, start, d uint32) []uint32 {
	for len(c.found) > 0 && c.found[0].node < uint32(i) {
		c.found = c.found[1:]
	}
	n := 0
	for n < len(c.found) && c.found[n].node == uint32(i) {
		n++
	}
	finds, end := c.found[:n], start+d
	c.found = c.found[n:]
	out, far := c.leaves[:0], o.adj.far[base:]
	switch {
	case o.sorted:
		for _, f := range finds {
			for p := max(f.lo, start); p < end && far[p] == f.far; p++ {
				out = append(out, p)
			}
		}
	case n <= fewFinds:
		for _, f := range finds {
			out = positions(far[start:end], f.far, start, out)
		}
	default:
		// A bit settles most positions.
		var some [64]uint64
		for _, f := range finds {
			some[f.far*mul32>>26] |= 1 << (f.far % 64)
		}
		slices.SortFunc(finds, func(a, b find) int { return cmp.Compare(a.far, b.far) })
		for p, x := range far[start:end] {
			if some[x*mul32>>26]>>(x%64)&1 == 0 {
				continue
			}
			if _, is := slices.BinarySearchFunc(finds, x, func(f find, x uint32) int { return cmp.Compare(f.far, x) }); is {
				out = append(out, start+uint32(p))
			}
		}
	}
	if n > 1 {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	c.leaves = out
	return out
}

// fewFinds is the number of far ends up to which a list is read once for each.
const fewFinds = 16

// mul32 spreads the bits of a node.
const mul32 = 0x9E3779B1

// positions appends the positions of x in a list whose first position is start.
func positions(list []uint32, x, start uint32, out []uint32) []uint32 {
	p := 0
	for ; p+8 <= len(list); p += 8 {
		b := (*[8]uint32)(list[p:])
		if b[0] != x && b[1] != x && b[2] != x && b[3] != x && b[4] != x && b[5] != x && b[6] != x && b[7] != x {
			continue
		}
		for i, y := range b {
			if y == x {
				out = append(out, start+uint32(p+i))
			}
		}
	}
	for ; p < len(list); p++ {
		if list[p] == x {
			out = append(out, start+uint32(p))
		}
	}
	return out
}

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
