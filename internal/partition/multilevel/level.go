package multilevel

import "github.com/graphmill/graphmill/internal/partition/undirected"

// maxEdgeWeight bounds the weights of coarse edges, so that sums of them do not overflow.
const maxEdgeWeight = 1<<31 - 1

// level is one graph of the series: the given graph, or a graph whose nodes are the clusters of the level
// below.
type level struct {
	n           int
	offsets     []uint32 // n+1
	neighbours  []uint32
	edges       []uint32 // weights of the edges in neighbours; nil: all 1
	constraints int
	weights     []uint32 // stride constraints; nil: all 1
	totals      []int64  // sum of the weights, by constraint
	coarse      []uint32 // the node of the next level that contains each node; nil on the last level
}

// finest is the level of the graph itself.
func finest(g *undirected.Graph) *level {
	l := &level{
		n: g.Len(), offsets: g.Offsets, neighbours: g.Neighbours, edges: g.EdgeWeights,
		constraints: g.Constraints, weights: g.Weights, totals: g.Totals(),
	}
	if l.weights == nil {
		l.constraints = 1
	}
	return l
}

// weight is the weight of v in constraint c.
func (l *level) weight(v uint32, c int) int64 {
	if l.weights == nil {
		return 1
	}
	return int64(l.weights[int(v)*l.constraints+c])
}

func (l *level) degree(v uint32) int { return int(l.offsets[v+1] - l.offsets[v]) }

// cut is the weight of the edges between parts.
func (l *level) cut(part []uint16) int64 {
	var twice int64
	for v := range l.n {
		for i := l.offsets[v]; i < l.offsets[v+1]; i++ {
			if part[v] != part[l.neighbours[i]] {
				twice += l.edge(i)
			}
		}
	}
	return twice / 2
}

// edge is the weight of the edge at index i of neighbours.
func (l *level) edge(i uint32) int64 {
	if l.edges == nil {
		return 1
	}
	return int64(l.edges[i])
}

// loads returns the weights of the parts, stride constraints.
func (l *level) loads(part []uint16, parts int) []int64 {
	load := make([]int64, parts*l.constraints)
	for v := range l.n {
		for c := range l.constraints {
			load[int(part[v])*l.constraints+c] += l.weight(uint32(v), c)
		}
	}
	return load
}

// free releases the arrays of a level.
func (l *level) free(m *memory) {
	give(m, l.offsets)
	give(m, l.neighbours)
	give(m, l.edges)
	give(m, l.weights)
	l.offsets, l.neighbours, l.edges, l.weights = nil, nil, nil, nil
}
