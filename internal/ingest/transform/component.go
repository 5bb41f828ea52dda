package transform

import (
	"context"

	"github.com/graphmill/graphmill/graph"
)

// largest finds the largest component and marks the nodes to keep.
func (t *Transform) largest(ctx context.Context) error {
	offsets, total := make([]int, len(t.nodes)), 0
	for i, n := range t.nodes {
		offsets[i] = total
		total += n.count
	}
	if uint64(total) >= uint64(gone) {
		return optionf("found %d nodes, expected at most %d to search for the largest component", total, gone-1)
	}
	c := newComponents(total)
	for _, x := range t.edges {
		if err := t.unite(ctx, c, x, offsets[x.near()], offsets[x.far()]); err != nil {
			return err
		}
	}
	size := make([]uint32, total)
	best := uint32(0)
	for i := range c.parent {
		root := c.find(uint32(i))
		if size[root]++; root == uint32(i) {
			t.res.Components++
		}
	}
	for i, n := range size {
		if n > size[best] {
			best = uint32(i)
		}
	}
	for k, n := range t.nodes {
		n.to = size[offsets[k] : offsets[k]+n.count : offsets[k]+n.count] // the sizes are used up to there
		t.res.Kept += n.keep(func(i int) bool { return c.find(uint32(offsets[k]+i)) == best })
	}
	t.res.Nodes = uint64(total)
	return nil
}

// keep numbers the nodes that stay in n.to, and returns their number.
func (t *nodeTable) keep(stays func(i int) bool) uint64 {
	next := uint32(0)
	for i := range t.to {
		if i%keptRun == 0 {
			t.kept = append(t.kept, uint64(next))
		}
		if !stays(i) {
			t.to[i] = gone
			continue
		}
		t.to[i] = next
		next++
	}
	if t.count%keptRun == 0 {
		t.kept = append(t.kept, uint64(next))
	}
	return uint64(next)
}

// components are sets of nodes. The root of a set is its first node.
type components struct {
	parent []uint32 // of a root, itself
}

func newComponents(nodes int) *components {
	c := &components{parent: make([]uint32, nodes)}
	for i := range c.parent {
		c.parent[i] = uint32(i)
	}
	return c
}

// find is the root of the set of x.
func (c *components) find(x uint32) uint32 {
	for c.parent[x] != x {
		c.parent[x] = c.parent[c.parent[x]]
		x = c.parent[x]
	}
	return x
}

// unite unites the sets that the edges of a type connect. Its nodes begin at the given numbers.
func (t *Transform) unite(ctx context.Context, c *components, x *edgeTable, near, far int) error {
	a := x.e.Adj[x.e.Primary]
	for v := range t.nodes[x.near()].count {
		if v&0xffff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := t.touched(a.RowBytes(max(v-0x10000, 0), v)); err != nil {
				return err
			}
		}
		for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
			// The smaller number becomes the root.
			p, q := c.find(uint32(near+v)), c.find(uint32(far+int(a.Far.At(int(i)))))
			if p < q {
				c.parent[q] = p
			} else {
				c.parent[p] = q
			}
		}
	}
	return nil
}

// near and far are the numbers of the node types at the ends of an edge type, in the primary direction.
func (x *edgeTable) near() int {
	if x.e.Primary == graph.In {
		return x.dst
	}
	return x.src
}

func (x *edgeTable) far() int {
	if x.e.Primary == graph.In {
		return x.src
	}
	return x.dst
}
