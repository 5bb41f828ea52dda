package pack

import (
	"slices"
	"sort"
)

// sized returns the problem without the graphs that have no size in any component, and the
// number of those graphs. In the normalised histogram they are shape 0, so shape i of sized is
// shape i + 1 of p.
func (p *Problem) sized() (sized *Problem, none int64) {
	if slices.Max(p.Shape(0)) > 0 {
		return p, 0
	}
	k := len(p.Components)
	return &Problem{Histogram: &Histogram{Components: p.Components, Sizes: p.Sizes[k:], Counts: p.Counts[1:]}, Limits: p.Limits, MaxGraphs: p.MaxGraphs}, p.Counts[0]
}

// withNone adds graphs of no size to the patterns of the sized graphs. They go to the packs with the fewest
// graphs, so that the largest number of graphs per pack stays low, and to further packs if the cap leaves no
// room. The number of packs is minimal if the packs of the sized graphs are.
func (p *Problem) withNone(patterns []Pattern, none int64) []Pattern {
	most := maxSize
	if p.MaxGraphs > 0 {
		most = p.MaxGraphs
	}
	all := make([]crowd, len(patterns), len(patterns)+1)
	for i, x := range patterns {
		all[i].Packs = x.Packs
		for _, part := range x.Parts {
			all[i].Parts = append(all[i].Parts, Part{part.Shape + 1, part.Copies})
			all[i].graphs += part.Copies
		}
	}
	if left := none - places(all, most, none); left > 0 {
		all = append(all, crowd{Pattern{Packs: ceilDiv(left, int64(most))}, 0})
	}
	level := sort.Search(most, func(n int) bool { return places(all, n, none) == none }) - 1
	more := none - places(all, level, none) // packs with a graph above the level
	var out []Pattern
	add := func(x crowd, level int, packs int64) {
		if packs == 0 {
			return
		}
		parts := slices.Clone(x.Parts)
		if n := level - x.graphs; n > 0 {
			parts = append([]Part{{0, n}}, parts...)
		}
		out = append(out, Pattern{parts, packs})
	}
	for _, x := range all {
		above := int64(0)
		if x.graphs <= level {
			above = min(more, x.Packs)
		}
		more -= above
		add(x, level+1, above)
		add(x, level, x.Packs-above)
	}
	return out
}

// places is the number of graphs that packs can take until each has level graphs, at most enough.
func places(packs []crowd, level int, enough int64) int64 {
	n := int64(0)
	for _, x := range packs {
		room := int64(level - x.graphs)
		switch {
		case room <= 0:
		case x.Packs >= ceilDiv(enough-n, room):
			return enough
		default:
			n += room * x.Packs
		}
	}
	return n
}
