package structure

import "context"

// components are the weakly connected components of a square.
type components struct {
	root []uint32 // by node: the least node of its component
	// side is 0 or 1, by node: in a component whose odd bit is not set, each edge leads to the other side.
	side []uint8
	odd  []bool // by root
}

// componentsNeed is the memory of components.
func (q *square) componentsNeed(sides bool) int64 {
	if sides {
		return 6 * int64(q.nodes)
	}
	return 4 * int64(q.nodes)
}

// components finds the components, and with sides their sides.
func (q *square) components(ctx context.Context, sides bool) (*components, error) {
	c := &components{root: make([]uint32, q.nodes)}
	for v := range c.root {
		c.root[v] = uint32(v)
	}
	if sides {
		c.side, c.odd = make([]uint8, q.nodes), make([]bool, q.nodes)
	}
	err := q.scanAll(ctx, func(src, dst []uint32) error {
		for i, u := range src {
			c.join(u, dst[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for v := range c.root {
		c.find(uint32(v))
	}
	return c, nil
}

// find returns the root of a node, and makes the nodes on the way refer to it. The side of a node is relative to the node it refers to.
func (c *components) find(v uint32) uint32 {
	root, side := v, uint8(0)
	for c.root[root] != root {
		if c.side != nil {
			side ^= c.side[root]
		}
		root = c.root[root]
	}
	for v != root {
		next := c.root[v]
		c.root[v] = root
		if c.side != nil {
			side, c.side[v] = side^c.side[v], side
		}
		v = next
	}
	return root
}

func (c *components) join(u, v uint32) {
	a, b := c.find(u), c.find(v)
	if c.side == nil {
		c.root[max(a, b)] = min(a, b)
		return
	}
	// The sides of u and v, relative to their roots, must differ.
	su, sv := c.sideOf(u), c.sideOf(v)
	if a == b {
		if su == sv {
			c.odd[a] = true
		}
		return
	}
	low, high := min(a, b), max(a, b)
	c.root[high] = low
	c.side[high] = 1 ^ su ^ sv
	c.odd[low] = c.odd[low] || c.odd[high]
}

// sideOf is the side of a node that find has just met, relative to its root.
func (c *components) sideOf(v uint32) uint8 {
	if c.root[v] == v {
		return 0
	}
	return c.side[v]
}

func (j *job) componentSizes(ctx context.Context) error {
	if _, err := j.spare(j.componentsNeed(false) + 4*int64(j.nodes)); err != nil {
		return err
	}
	c, err := j.components(ctx, false)
	if err != nil {
		return err
	}
	size := make([]uint32, j.nodes)
	for _, root := range c.root {
		size[root]++
	}
	return j.writeRows(ctx, 1, func(row, _ int) float64 { return float64(size[c.root[j.first()+row]]) })
}
