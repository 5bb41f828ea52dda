package ranges

import "github.com/graphmill/graphmill/internal/partition/outofcore"

// nodeBytes is what is held for a node, beside its weights: at the most its cluster, its favourite, and the messages of a round; or its cluster and three
// parts.
const nodeBytes = 16

func nodesBytes(n int64, constraints int) int64 {
	each := int64(nodeBytes)
	if constraints > 1 {
		each += 6 * int64(constraints) // the loads of its cluster, and its weights in messages
	}
	return each * n
}

// partBytes is what is held for a part and constraint: loads and prices, and for each of 16 ranges what it moves and demands.
const partBytes = 200

func partsBytes(parts, constraints int) int64 { return partBytes * int64(parts) * int64(constraints) }

// Least is the smallest Memory for a graph of n nodes with a number of constraints that is divided into parts.
func Least(n int64, constraints, parts int) int64 {
	return nodesBytes(n, constraints) + partsBytes(parts, constraints) + outofcore.Least(n, constraints, parts)
}

// Most is the memory that it takes to divide a graph in memory, in addition to the graph and its weights: as much as if clustering left all nodes and pairs.
func Most(n, pairs int64, constraints, parts int) int64 {
	return nodesBytes(n, constraints) + partsBytes(parts, constraints) + outofcore.CoreBytes(n, pairs, constraints, parts)
}
