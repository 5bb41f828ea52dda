package transform

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// groupWord is the word of the order of groups.
const groupWord = 0x67726f7570 // "group"

// groupsOf returns the groups of a split.
func (t *Transform) groupsOf(ctx context.Context, s *Split, r *rows, it *items) (*classes, error) {
	x := t.edgesOf(r)
	if x == nil || s.Group != GroupSource && s.Group != GroupDestination {
		return t.classesOf(ctx, s, s.Group, r, it)
	}
	out := &classes{of: make([]int32, it.count)}
	for i := range out.of {
		out.of[i] = -1
	}
	nodes := x.src
	if s.Group == GroupDestination {
		nodes = x.dst
	}
	out.sizes = make([]int, t.nodes[nodes].count)
	err := x.eachEnd(ctx, func(row int, src, dst uint64) error {
		item, ok := it.of(row)
		if !ok {
			return nil
		}
		k := int32(src)
		if s.Group == GroupDestination {
			k = int32(dst)
		}
		switch before := out.of[item]; {
		case before < 0:
			out.of[item] = k
			out.sizes[k]++
		case before != k:
			return optionf("split of %s: found edges and their reverses in one edge type, so that a row is an edge of two sources, expected one direction to group them by the %s; group them by a column, or make the reverses an edge type of their own with reverse", s.Type, s.Group)
		}
		return nil
	})
	return out, err
}

// eachEnd calls a function for all edges, in the order of their ids.
func (x *edgeTable) eachEnd(ctx context.Context, fn func(row int, src, dst uint64) error) error {
	a, at := x.e.Adj[x.e.Primary], 0
	for v := range x.t.nodes[x.near()].count {
		if v&0xfffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for end := int(a.Indptr.At(v + 1)); at < end; at++ {
			src, dst := a.Far.At(at), uint64(v)
			if x.e.Primary == graph.Out {
				src, dst = dst, src
			}
			if err := fn(at, src, dst); err != nil {
				return err
			}
		}
	}
	return nil
}

// group is a set of items that stay together.
type group struct {
	k    int32
	rows int
	tie  uint64
}

// groupsBy lists the groups that have rows, in an order.
func (c *classes) groupsBy(key uint64, compare func(a, b group) int) []group {
	key = draw.Key(key, groupWord)
	var out []group
	n := uint64(0)
	for k, rows := range c.sizes {
		if rows > 0 {
			// The number among groups with rows is the same for an edge type and its reverse, and for nodes without edges.
			out = append(out, group{int32(k), rows, draw.At(key, n)})
			n++
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// grouped divides items so that groups stay together.
func (s *Split) grouped(it *items, c *classes, dealt []int8) error {
	var of []int8
	if s.Folds > 0 {
		of = s.groupFolds(it.key, c)
	} else {
		of = s.groupShares(it.key, c)
	}
	var rows [maxFolds]int
	some := 0
	for item, k := range c.of {
		dealt[item] = -1
		if k < 0 {
			continue
		}
		if some++; of[k] >= 0 {
			dealt[item] = of[k]
			rows[of[k]]++
		}
	}
	if some == 0 {
		return nil
	}
	for p := range max(s.Folds, len(s.Ratios)) {
		switch {
		case rows[p] > 0:
		case s.Folds > 0:
			return optionf("split of %s: found fewer groups of %s than folds, expected at least %d groups; ask for fewer folds", s.Type, s.Group, s.Folds)
		case s.Ratios[p] > 0:
			return optionf("split of %s: found no group of %s for the part %s, expected at least as many groups as parts; group the rows by another column, or set its ratio to 0", s.Type, s.Group, Parts[p])
		}
	}
	return nil
}

// groupShares fills the parts with groups, from the part with the fewest rows to the one with the most, which takes what is left. For a part the groups are taken
// in the order of the key, except those that would make it too large. So the part is short by less than the smallest group that is left. That group is taken, too, if
// the part is nearer to its share with it, or has no row yet.
func (s *Split) groupShares(key uint64, c *classes) []int8 {
	of, all := make([]int8, len(c.sizes)), 0
	left := c.groupsBy(key, func(a, b group) int { return cmp.Or(cmp.Compare(a.tie, b.tie), cmp.Compare(a.k, b.k)) })
	for _, g := range left {
		all += g.rows
	}
	want := s.sizes(all)
	var order []int
	for p := range want {
		if p < numParts && s.Ratios[p] > 0 || p == numParts && want[p] > 0 {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(p, q int) int { return cmp.Compare(want[p], want[q]) })
	for i, p := range order {
		code := int8(p)
		if p == numParts {
			code = -1
		}
		room, last := want[p], i == len(order)-1
		kept := left[:0:0]
		for _, g := range left {
			if last || g.rows <= room {
				of[g.k] = code
				room -= g.rows
				continue
			}
			kept = append(kept, g)
		}
		left = kept
		if last || len(left) == 0 {
			continue
		}
		least := 0
		for j, g := range left {
			if g.rows < left[least].rows {
				least = j
			}
		}
		if g := left[least]; g.rows-room < room || room == want[p] && code >= 0 {
			of[g.k] = code
			left = slices.Delete(left, least, least+1)
		}
	}
	return of
}

// groupFolds gives the largest group that is left to the fold with the fewest rows.
func (s *Split) groupFolds(key uint64, c *classes) []int8 {
	of := make([]int8, len(c.sizes))
	rows := make([]int, s.Folds)
	for _, g := range c.groupsBy(key, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.tie, b.tie), cmp.Compare(a.k, b.k))
	}) {
		fold := 0
		for f, n := range rows {
			if n < rows[fold] {
				fold = f
			}
		}
		of[g.k] = int8(fold)
		rows[fold] += g.rows
	}
	return of
}
