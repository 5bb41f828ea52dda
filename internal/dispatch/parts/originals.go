package parts

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// Originals is the original id of each edge, by edge id: its position in the input (graph.PositionColumn). It is empty where
// the edge ids are the original ids: without the column, and where edges share a position, as an edge and its reverse do.
func Originals(e *graph.Edges) (x graph.Index, err error) {
	c := graph.FindColumn(e.Columns, graph.PositionColumn)
	switch {
	case c == nil:
		return x, nil
	case c.DType == graph.Uint32 && len(c.Shape) == 0:
		x.U32 = graph.View[uint32](c.Values)
	case c.DType == graph.Uint64 && len(c.Shape) == 0:
		x.U64 = graph.View[uint64](c.Values)
	default:
		return x, fmt.Errorf("%s: found column %s of %s %v, expected one position per edge; import the column under another name", e.Type, graph.PositionColumn, c.DType, c.Shape)
	}
	if shared(x) {
		return graph.Index{}, nil
	}
	return x, nil
}

// windowBits bounds the memory of shared: 64 MiB. Tests lower it.
var windowBits = uint64(1) << 29

// shared says whether a number occurs twice in x. It reads x once per window of numbers.
func shared(x graph.Index) bool {
	n, top := x.Len(), uint64(0)
	for i := range n {
		top = max(top, x.At(i))
	}
	if uint64(n) > top+1 && n > 0 && top+1 != 0 {
		return true
	}
	// The windows are those up to the last number: added self-loops have the largest number of their dtype, which is far
	// above the others, so windows without numbers are skipped.
	for from := uint64(0); n > 0; {
		next := uint64(0)
		more := false
		seen := make([]uint64, (min(windowBits, top-from)+64)/64)
		for i := range n {
			switch p := x.At(i); {
			case p < from:
			case p-from >= windowBits:
				if !more || p < next {
					next, more = p, true
				}
			default:
				bit := uint64(1) << ((p - from) % 64)
				if seen[(p-from)/64]&bit != 0 {
					return true
				}
				seen[(p-from)/64] |= bit
			}
		}
		if !more {
			return false
		}
		from = next
	}
	return false
}
