package undirected

// Graph is an undirected simple graph. Its slices are read only to whom it is
// given.
type Graph struct {
	// Offsets has one entry a node and one more: the neighbours of v are
	// Neighbours[Offsets[v]:Offsets[v+1]], ascending, without v, each once. A pair
	// is listed from both ends, so that len(Neighbours) is twice the pairs; it
	// stays below 2^32.
	Offsets    []uint32
	Neighbours []uint32
	// EdgeWeights has the weight of the pair beside each neighbour, the same from
	// both ends, at least 1; nil: all are 1.
	EdgeWeights []uint32
	// Constraints is the number of weights of a node, all of which are to be spread
	// evenly: at least 1.
	Constraints int
	// Weights are the weights of node v, Weights[v*Constraints:][:Constraints]; nil:
	// one constraint, and every node weighs 1. Each constraint's sum is at most 2^53.
	Weights []uint32
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.Offsets) - 1 }

// Pairs is the number of pairs of neighbours.
func (g *Graph) Pairs() int { return len(g.Neighbours) / 2 }

// Degree is the number of neighbours of v.
func (g *Graph) Degree(v uint32) int { return int(g.Offsets[v+1] - g.Offsets[v]) }

// Of are the neighbours of v.
func (g *Graph) Of(v uint32) []uint32 { return g.Neighbours[g.Offsets[v]:g.Offsets[v+1]] }

// Totals are the sums of the weights, one a constraint.
func Totals(g Rows) []int64 {
	constraints, weights := g.NodeWeights()
	if weights == nil {
		return []int64{int64(g.Len())}
	}
	t := make([]int64, constraints)
	for i := 0; i < len(weights); i += constraints {
		for c := range t {
			t[c] += int64(weights[i+c])
		}
	}
	return t
}

// Caps are the heaviest that a part may be, one a constraint: floor(imbalance *
// ceil(total / parts)), the definition that METIS users check with. imbalance has
// one entry, or one a constraint; 1.03 allows 3 %.
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

// Totals are the sums of the weights, one a constraint.
func (g *Graph) Totals() []int64 { return Totals(g) }

// Caps are the caps of its totals.
func (g *Graph) Caps(parts int, imbalance []float64) []int64 {
	return Caps(g.Totals(), parts, imbalance)
}

// MaxParts is the largest number of parts: a part is a uint16.
const MaxParts = 1 << 16

// Options are what every method of partitioning is asked for.
type Options struct {
	Parts int // 1..MaxParts
	// Imbalance is how heavy a part may be against the mean, at least 1: one entry
	// for all constraints, or one a constraint.
	Imbalance []float64
	// Seed decides every random choice: equal graphs, options and seeds give equal
	// parts at any number of threads.
	Seed uint64
	// Threads is the most goroutines that work at once; at least 1.
	Threads int
}
