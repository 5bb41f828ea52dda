package pack

import (
	"context"

	"github.com/graphmill/graphmill/internal/tagged"
)

// maxOneByOne bounds the length of a list of all graphs.
const maxOneByOne = 1 << 28

// alone puts each graph into a pack of its own.
func alone(p *Problem) []Pattern {
	var patterns []Pattern
	for i, c := range p.Counts {
		patterns = append(patterns, Pattern{[]Part{{i, 1}}, c})
	}
	return patterns
}

// nextFit fills packs in one order of the graphs and never returns to a pack, like the dynamic batching of a
// stream in jraph and TF-GNN. The order is a fixed shuffle, as data are read in. The work is one step per
// graph.
func nextFit(ctx context.Context, p *Problem) ([]Pattern, error) {
	if n := p.Graphs(); n > maxOneByOne {
		return nil, tagged.Errorf(ErrLimits, "found %d graphs, expected at most %d for next-fit, which takes graphs one by one; give `Method` auto, or `Stream`", n, maxOneByOne)
	}
	in := newInstance(p)
	order := make([]int32, 0, p.Graphs())
	for i, c := range p.Counts {
		for range c {
			order = append(order, int32(i))
		}
	}
	state := uint64(1)
	for i := len(order) - 1; i > 0; i-- {
		// splitmix64, reduced by multiplication: the same on every machine.
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		j := int((z ^ z>>31) % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	var patterns []Pattern
	room := in.limit
	var parts []Part
	for n, i := range order {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rest, ok := room.minus(&in.size[i])
		if !ok {
			patterns = append(patterns, Pattern{joined(parts), 1})
			parts, room = nil, in.limit
			rest, _ = room.minus(&in.size[i])
		}
		room = rest
		parts = append(parts, Part{int(i), 1})
	}
	return append(patterns, Pattern{joined(parts), 1}), nil
}

// fit is best-fit or first-fit descending: graph by graph, the largest by the heuristic first, into the open
// pack with the least room, or with the most room if first is set, that it fits into. A new pack takes as many
// graphs of its shape as fit. Unlike the listing, it skips no pack, and equal graphs share packs. Steps are as
// for the listing.
func fit(ctx context.Context, p *Problem, h *heuristic, first bool, steps int64) ([]Pattern, error) {
	return list(ctx, p, h, first, true, steps)
}
