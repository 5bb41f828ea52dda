package pack

import (
	"cmp"
	"slices"
)

// coarseShapes is the number of shapes of a coarse problem.
const coarseShapes = 4096

// coarse packs a problem of very many shapes: shapes of similar sizes count as one that is as large as the
// largest of each size, the portfolio packs these, and the graphs take their places. It returns nil if nothing
// is found in time.
func (s *solver) coarse(opt *Options) ([]Pattern, error) {
	p := s.p
	sizes := make([][]int, len(p.Counts))
	for i := range sizes {
		sizes[i] = p.Shape(i)
	}
	group, n := groups(sizes, p.Counts, p.Limits, coarseShapes)
	if s.halted() {
		return nil, nil
	}
	k := len(p.Components)
	shapes := make([][]int, n)
	counts := make([]int64, n)
	members := make([][]int, n)
	for i, g := range group {
		if shapes[g] == nil {
			shapes[g] = make([]int, k)
		}
		for j, x := range sizes[i] {
			shapes[g][j] = max(shapes[g][j], x)
		}
		counts[g] += p.Counts[i]
		members[g] = append(members[g], i)
	}
	// Groups may be equal; Normalise sorts them and joins those.
	order := make([]int, n)
	for g := range order {
		order[g] = g
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(slices.Compare(shapes[a], shapes[b]), a-b) })
	h := &Histogram{Components: p.Components}
	var of [][]int // members of each shape of h
	for i, g := range order {
		if h.Add(counts[g], shapes[g]...); i > 0 && slices.Equal(shapes[g], shapes[order[i-1]]) {
			of[len(of)-1] = append(of[len(of)-1], members[g]...)
			continue
		}
		of = append(of, members[g])
	}
	if err := h.Normalise(); err != nil {
		return nil, err
	}
	sub := &solver{ctx: s.ctx, timed: s.timed, p: &Problem{Histogram: h, Limits: p.Limits, MaxGraphs: p.MaxGraphs}, start: s.start, bound: s.bound, progress: s.progress, later: true}
	if err := sub.auto(opt); err != nil {
		return nil, err
	}
	if sub.best == nil {
		return nil, nil
	}
	return dealt(sub.best.Patterns, of, p.Counts), nil
}

// dealt puts graphs into the places of patterns over coarse shapes. of has the shapes of each coarse shape.
func dealt(patterns []Pattern, of [][]int, counts []int64) []Pattern {
	of = slices.Clone(of)
	left := slices.Clone(counts)
	var out []Pattern
	for _, x := range patterns {
		for packs := x.Packs; packs > 0; {
			var parts []Part
			for _, part := range x.Parts {
				members := of[part.Shape]
				for need := int64(part.Copies); need > 0; {
					for left[members[0]] == 0 {
						members = members[1:]
					}
					// A shape whose graphs do not suffice gives all of them.
					n := min(need, left[members[0]])
					parts = append(parts, Part{members[0], int(n)})
					if need -= n; need > 0 {
						members = members[1:]
					}
				}
			}
			repeat := packs
			for _, part := range parts {
				repeat = min(repeat, left[part.Shape]/int64(part.Copies))
			}
			for _, part := range parts {
				left[part.Shape] -= int64(part.Copies) * repeat
			}
			for _, part := range x.Parts {
				for len(of[part.Shape]) > 0 && left[of[part.Shape][0]] == 0 {
					of[part.Shape] = of[part.Shape][1:]
				}
			}
			out = append(out, Pattern{joined(parts), repeat})
			packs -= repeat
		}
	}
	return out
}

// nextFitBySize fills one pack after another with the shapes in descending order and never returns to a pack.
// It takes a step per shape, so it always finds a packing.
func nextFitBySize(p *Problem) []Pattern {
	in := newInstance(p)
	var patterns []Pattern
	var parts []Part
	room := in.limit
	for i, c := range slices.Backward(p.Counts) {
		size := &in.size[i]
		for c > 0 {
			n := int64(in.most(&room, size, c))
			if n == 0 {
				patterns = append(patterns, Pattern{joined(parts), 1})
				parts, room = nil, in.limit
				n = int64(in.most(&room, size, c))
				if packs := c / n; packs > 1 {
					patterns = append(patterns, Pattern{[]Part{{i, int(n)}}, packs - 1})
					c -= (packs - 1) * n
				}
			}
			of := size.times(int(n))
			room, _ = room.minus(&of)
			parts = append(parts, Part{i, int(n)})
			c -= n
		}
	}
	return append(patterns, Pattern{joined(parts), 1})
}
