package outofcore

import (
	"math"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

const (
	// bufferBytes is the memory of the buffers of a pass: rows that are read and written, sums of a row, and the buffers
	// before the buckets of a sort.
	bufferBytes = 12 << 20
	// Memory of multilevel with the graph: bytes for starts on small levels, for up to coreParts parts, bytes per pair with a weight, more each time that
	// the number of parts doubles beyond 8, and bytes per node, more for each constraint after the first.
	coreBytes, coreEach, coreParts                                   = 6 << 20, 128 << 10, 64
	corePairBytes, corePartBytes, coreNodeBytes, coreConstraintBytes = 48, 1.5, 40, 64
	// leastCore is the memory of a core of about 250,000 pairs. Smaller cores cut more.
	leastCore = 10 << 20
)

// Least is the smallest Memory for a graph of n nodes with a number of constraints that is divided into parts.
func Least(n int64, constraints, parts int) int64 {
	return max(nodeBytes(n, constraints)+bufferBytes, coreBase(parts)+leastCore) + partBytes(constraints, parts)
}

// nodeBytes is what clustering holds for the nodes: more than the two divisions of refinement.
func nodeBytes(n int64, constraints int) int64 {
	if constraints > 1 {
		return 4 * n * int64(1+constraints)
	}
	return 4 * n
}

// partBytes is what refinement holds for the parts: sums, loads and prices.
func partBytes(constraints, parts int) int64 { return int64(parts) * (16 + 32*int64(constraints)) }

// coreBase is the memory of multilevel for a tiny graph.
func coreBase(parts int) int64 { return coreBytes + coreEach*int64(min(parts, coreParts)) }

// CoreBytes is the memory that it takes to divide a graph by multilevel.
func CoreBytes(nodes, pairs int64, constraints, parts int) int64 {
	doubled := max(0, math.Log2(float64(parts)/8))
	return coreBase(parts) + coreNodeBytes*nodes + coreConstraintBytes*int64(constraints-1)*nodes + int64((corePairBytes+corePartBytes*doubled)*float64(pairs))
}

// Disk is the most temporary files that it takes to divide a graph: the pairs between clusters as records, which are
// freed while the rows of the next level are written, and the maps of the nodes.
func Disk(nodes, pairs int64) int64 { return 8*nodes + (2*recordBytes+2*4)*pairs }

// takeZeros allocates n zeros outside the heap; free releases them.
func takeZeros[T graph.Numbers](n int) ([]T, error) {
	var zero T
	b, err := extsort.Slab(n * int(unsafe.Sizeof(zero)))
	if err != nil {
		return nil, err
	}
	return graph.View[T](b), nil
}

func free[T graph.Numbers](s []T) { extsort.Free(graph.Bytes(s[:cap(s)])) }
