// Package positions finds the positions that the edges of a store have in their input, for exports that write edges in its order.
package positions

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// Of returns the positions of edges in their input, by edge id. It is empty if edge ids are in that order, or if the order is not known.
func Of(e *graph.Edges) (graph.Index, error) {
	c := graph.FindColumn(e.Columns, graph.PositionColumn)
	switch {
	case c == nil:
		return graph.Index{}, nil
	case c.DType == graph.Uint32 && len(c.Shape) == 0:
		return graph.Index{U32: graph.View[uint32](c.Values)}, nil
	case c.DType == graph.Uint64 && len(c.Shape) == 0:
		return graph.Index{U64: graph.View[uint64](c.Values)}, nil
	}
	return graph.Index{}, fmt.Errorf("edge type %s: found the column %s of %s %v, expected uint32 or uint64; graphmill verify finds damage", e.Type, c.Name, c.DType, c.Shape)
}
