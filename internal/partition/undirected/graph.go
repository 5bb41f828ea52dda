package undirected

// Graph is an undirected simple graph. Its slices must not be changed while the graph is in use.
type Graph struct {
	// Offsets has one entry per node and one more: the neighbours of v are
	// Neighbours[Offsets[v]:Offsets[v+1]], ascending, without v, each once. A pair is listed at both ends, so
	// len(Neighbours) is twice the number of pairs; it is below 2^32.
	Offsets    []uint32
	Neighbours []uint32
	// EdgeWeights has the weight of the pair for each entry of Neighbours, at least 1 and the same at both
	// ends; nil: all are 1.
	EdgeWeights []uint32
	// Constraints is the number of weights of each node, at least 1. The sum of each is to be spread evenly.
	Constraints int
	// Weights has the weights of node v at Weights[v*Constraints:][:Constraints]; nil: there is one
	// constraint, and every node weighs 1. The sum of each constraint is at most 2^53.
	Weights []uint32
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.Offsets) - 1 }

// Pairs is the number of pairs of neighbours.
func (g *Graph) Pairs() int { return len(g.Neighbours) / 2 }

// Degree is the number of neighbours of v.
func (g *Graph) Degree(v uint32) int { return int(g.Offsets[v+1] - g.Offsets[v]) }

// Of returns the neighbours of v.
func (g *Graph) Of(v uint32) []uint32 { return g.Neighbours[g.Offsets[v]:g.Offsets[v+1]] }

// Totals returns the sum of the weights of each constraint.
func Totals(g Rows) []int64 {
	constraints, weights := g.NodeWeights()
	return TotalsOf(g.Len(), constraints, weights)
}

// TotalsOf is Totals of n nodes with the weights of a number of constraints; nil: all weigh 1.
func TotalsOf(n, constraints int, weights []uint32) []int64 {
	if weights == nil {
		return []int64{int64(n)}
	}
	t := make([]int64, constraints)
	for i := 0; i < len(weights); i += constraints {
		for c := range t {
			t[c] += int64(weights[i+c])
		}
	}
	return t
}

// Caps returns the largest allowed weight of a part for each constraint: floor(imbalance * ceil(total /
// parts)), the definition that METIS's users check with. imbalance has one entry, or one per constraint; 1.03
// allows 3 %.
func Caps(totals []int64, parts int, imbalance []float64) []int64 {
	caps := make([]int64, len(totals))
	for c, t := range totals {
		e := imbalance[0]
		if len(imbalance) > 1 {
			e = imbalance[c]
		}
		mean := (t + int64(parts) - 1) / int64(parts)
		caps[c] = int64(min(e*float64(mean)+1e-9, 1<<62))
	}
	return caps
}

// Totals returns the sum of the weights of each constraint.
func (g *Graph) Totals() []int64 { return Totals(g) }

// Caps returns the caps for the totals of g.
func (g *Graph) Caps(parts int, imbalance []float64) []int64 {
	return Caps(g.Totals(), parts, imbalance)
}

// MaxParts is the largest number of parts: a part is a uint16.
const MaxParts = 1 << 16

// Options are common to all methods of partitioning.
type Options struct {
	Parts int // 1..MaxParts
	// Imbalance is the largest allowed weight of a part relative to the mean, at least 1: one entry for all
	// constraints, or one per constraint.
	Imbalance []float64
	// Seed is the random seed: equal graphs, options and seeds give equal parts at any number of threads.
	Seed uint64
	// Threads is the number of goroutines that may work at once, at least 1.
	Threads int
}
