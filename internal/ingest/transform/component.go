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
	parent := make([]uint32, total)
	for i := range parent {
		parent[i] = uint32(i)
	}
	find := func(x uint32) uint32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for _, x := range t.edges {
		e, near, far := x.e, x.near(), x.far()
		a := e.Adj[e.Primary]
		for v := range t.nodes[near].count {
			if v&0xffff == 0 {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := t.touched(a.RowBytes(max(v-0x10000, 0), v)); err != nil {
					return err
				}
			}
			for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
				// The smaller number becomes the root, so a root is the first node of its component.
				x, y := find(uint32(offsets[near]+v)), find(uint32(offsets[far]+int(a.Far.At(int(i)))))
				if x < y {
					parent[y] = x
				} else {
					parent[x] = y
				}
			}
		}
	}
	size := make([]uint32, total)
	best := uint32(0)
	for i := range parent {
		root := find(uint32(i))
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
		next := uint32(0)
		for i := range n.to {
			if i%keptRun == 0 {
				n.kept = append(n.kept, uint64(next))
			}
			if find(uint32(offsets[k]+i)) != best {
				n.to[i] = gone
				continue
			}
			n.to[i] = next
			next++
		}
		if n.count%keptRun == 0 {
			n.kept = append(n.kept, uint64(next))
		}
		t.res.Kept += uint64(next)
	}
	t.res.Nodes = uint64(total)
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
