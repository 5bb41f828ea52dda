package ranges

import (
	"cmp"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Pair is two neighbouring clusters, A < B, and the weight of the edges between them. Pairs are messages to the machine that divides the core, 12
// bytes each.
type Pair struct{ A, B, Weight uint32 }

func comparePairs(x, y Pair) int {
	return cmp.Compare(uint64(x.A)<<32|uint64(x.B), uint64(y.A)<<32|uint64(y.B))
}

// saturated is a weight of an edge of the core: multilevel takes at most 2^31 - 1.
func saturated(w uint64) uint32 { return uint32(min(w, math.MaxInt32)) }

// Contraction has the pairs of a range. It holds up to mostHeld pairs that are not added up yet, and sorted runs.
type Contraction struct {
	m     *Visitor
	held  []Pair
	runs  [][]Pair
	order []uint32
}

// mostHeld is the number of pairs that are sorted at once.
const mostHeld = 1 << 20

// NewContraction makes an empty Contraction.
func NewContraction(m *Visitor) *Contraction { return &Contraction{m: m} }

// Block adds the edges of a block. coarse has the cluster of each node of the graph. A pair of clusters is counted at the end that is in the lower one.
func (c *Contraction) Block(b *undirected.Block, coarse []uint32) {
	n := b.Len()
	own := coarse[b.First:][:n]
	c.order = c.order[:0]
	for i := range n {
		c.order = append(c.order, uint32(i))
	}
	slices.SortFunc(c.order, func(x, y uint32) int { return cmp.Compare(own[x], own[y]) })
	s := c.m.sums
	for at := 0; at < n; {
		cluster, end, entries := own[c.order[at]], at, 0
		for ; end < n && own[c.order[end]] == cluster; end++ {
			from, to := b.Row(int(c.order[end]))
			entries += int(to - from)
		}
		s.Reset(entries)
		for _, i := range c.order[at:end] {
			from, to := b.Row(int(i))
			for j := from; j < to; j++ {
				other, w := coarse[b.Neighbours[j]], uint32(1)
				if other <= cluster {
					continue
				}
				if b.EdgeWeights != nil {
					w = b.EdgeWeights[j]
				}
				if !s.Add(other, w) {
					c.flush(cluster)
					s.Reset(entries)
					s.Add(other, w)
				}
			}
		}
		c.flush(cluster)
		at = end
	}
	if len(c.held) > mostHeld {
		c.settle()
	}
}

// flush takes the sums of a cluster.
func (c *Contraction) flush(cluster uint32) {
	for _, slot := range c.m.sums.Slots {
		c.held = append(c.held, Pair{cluster, c.m.sums.Keys[slot], saturated(c.m.sums.Sums[slot])})
	}
}

// settle sorts what is held into a run.
func (c *Contraction) settle() {
	slices.SortFunc(c.held, comparePairs)
	c.runs = append(c.runs, slices.Clone(summed(c.held)))
	c.held = c.held[:0]
	// Runs of equal sizes are merged, so that each pair is merged a logarithmic number of times.
	for n := len(c.runs); n > 1 && len(c.runs[n-1]) >= len(c.runs[n-2])/2; n = len(c.runs) {
		c.runs = append(c.runs[:n-2], MergePairs(c.runs[n-2], c.runs[n-1]))
	}
}

// Pairs returns the pairs of the range, ascending and each once. The Contraction is empty afterwards.
func (c *Contraction) Pairs() (all []Pair) {
	c.settle()
	for i := len(c.runs) - 1; i >= 0; i-- {
		all = MergePairs(all, c.runs[i])
	}
	c.held, c.runs = nil, nil
	return all
}

// summed adds up equal pairs of an ascending list, in place.
func summed(pairs []Pair) []Pair {
	out := pairs[:0]
	for _, x := range pairs {
		if n := len(out); n > 0 && out[n-1].A == x.A && out[n-1].B == x.B {
			out[n-1].Weight = saturated(uint64(out[n-1].Weight) + uint64(x.Weight))
		} else {
			out = append(out, x)
		}
	}
	return out
}

// MergePairs merges two ascending lists. Weights of equal pairs are added up.
func MergePairs(x, y []Pair) []Pair {
	if len(x) == 0 || len(y) == 0 {
		return append(x, y...)
	}
	out := make([]Pair, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		switch d := comparePairs(x[0], y[0]); {
		case d < 0:
			out, x = append(out, x[0]), x[1:]
		case d > 0:
			out, y = append(out, y[0]), y[1:]
		default:
			out = append(out, Pair{x[0].A, x[0].B, saturated(uint64(x[0].Weight) + uint64(y[0].Weight))})
			x, y = x[1:], y[1:]
		}
	}
	return append(append(out, x...), y...)
}

// AddWeights adds the weights of consecutive nodes, the first of which is node first, to those of their clusters; nil: all weigh 1. A worker sends
// what its range adds, 4 bytes per cluster and constraint.
func (p *Plan) AddWeights(sums []uint32, first, end int, weights, coarse []uint32) {
	for v := first; v < end; v++ {
		if weights == nil {
			sums[coarse[v]]++
			continue
		}
		for c, w := range weights[(v-first)*p.Constraints:][:p.Constraints] {
			sums[int(coarse[v])*p.Constraints+c] += w
		}
	}
}

// Core makes the graph of a number of clusters from all pairs, which ascend, and the weights of the clusters.
func (p *Plan) Core(clusters int, pairs []Pair, weights []uint32) *undirected.Graph {
	g := &undirected.Graph{Offsets: make([]uint32, clusters+1), Neighbours: make([]uint32, 2*len(pairs)), EdgeWeights: make([]uint32, 2*len(pairs)),
		Constraints: p.Constraints, Weights: weights}
	for _, x := range pairs {
		g.Offsets[x.A+1]++
		g.Offsets[x.B+1]++
	}
	for v := range clusters {
		g.Offsets[v+1] += g.Offsets[v]
	}
	at := slices.Clone(g.Offsets)
	put := func(v, u, w uint32) {
		g.Neighbours[at[v]], g.EdgeWeights[at[v]] = u, w
		at[v]++
	}
	// A row first gets its lower neighbours, ascending, because their pairs come first.
	for _, x := range pairs {
		put(x.A, x.B, x.Weight)
		put(x.B, x.A, x.Weight)
	}
	return g
}
