package feed

import (
	"math"

	"github.com/graphmill/graphmill/graph"
)

// farPositions are the edge types that have, or may have, a position in their input of 2^31 or more. A part, or a graph whose edges were filtered, has fewer edges than its input.
func farPositions(g *graph.Graph) map[string]bool {
	far := map[string]bool{}
	for _, e := range g.Edges {
		if c := graph.FindColumn(e.Columns, graph.PositionColumn); c != nil && !arePositionsNear(c, e.Count) {
			far[e.Type.String()] = true
		}
	}
	return far
}

// arePositionsNear says whether count positions are all below 2^31. Those that are not in this process, but at hosts, may be larger.
func arePositionsNear(c *graph.Column, count int) bool {
	if c.RowBytes() != 4 || len(c.Values) < 4*count {
		return false
	}
	const part = 1 << 14 // so that most columns with a large position are not read to their end
	for positions := graph.View[uint32](c.Values)[:count]; len(positions) > 0; {
		n := min(part, len(positions))
		all := uint32(0)
		for _, p := range positions[:n] {
			all |= p
		}
		if all > math.MaxInt32 {
			return false
		}
		positions = positions[n:]
	}
	return true
}
