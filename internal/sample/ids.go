package sample

import "github.com/graphmill/graphmill/graph"

// AppendIDs appends edge ids of a type to others of the same type.
func AppendIDs(to, ids graph.Index) graph.Index {
	if ids.U64 != nil {
		to.U64 = append(to.U64, ids.U64...)
	} else {
		to.U32 = append(to.U32, ids.U32...)
	}
	return to
}

// EmptyIDs is the memory of edge ids without them, for AppendIDs.
func EmptyIDs(ids graph.Index) graph.Index {
	return graph.Index{U32: ids.U32[:0], U64: ids.U64[:0]}
}
