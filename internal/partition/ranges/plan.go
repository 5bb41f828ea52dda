package ranges

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

const (
	// MaxNodes is the largest number of nodes: a label has 31 bits for one.
	MaxNodes = 1<<31 - 1

	// Rounds is the number of sub-rounds of a pass.
	Rounds = 16
	// Blocks have mostBlock nodes, and fewer in small graphs, so that a sub-round has several of them.
	mostBlock, leastBlocks = 1024, 256

	// ClusterPasses is the number of passes that make clusters.
	ClusterPasses = 2
	// A cluster weighs at most a share of a part: share up to shareParts parts, and more in proportion with more parts, up to mostShare.
	share, mostShare, shareParts = 0.01, 0.03, 16
)

// Plan is what all workers know before the first round. It is a function of the graph and the options, and not of the number of workers.
type Plan struct {
	Nodes, Parts int
	// Block is the number of consecutive nodes of a block. The last one may have fewer.
	Block int
	// Constraints is the number of weights of a node. Weighted says that there are some; else all weigh 1.
	Constraints int
	Weighted    bool
	Seed        uint64
	// Caps are the most that a part may weigh, ClusterCaps the most that a cluster may, by constraint.
	Caps, ClusterCaps []int64
}

// NewPlan makes the plan of a graph of n nodes, whose weights have the given sums.
func NewPlan(n int, weighted bool, totals []int64, o undirected.Options) (*Plan, error) {
	switch {
	case n > MaxNodes:
		return nil, fmt.Errorf("found %d nodes, expected at most %d; divide this graph by hash or random", n, MaxNodes)
	case o.Parts < 1 || o.Parts > undirected.MaxParts:
		return nil, fmt.Errorf("found %d parts, expected 1 to %d; give `Parts` in these bounds", o.Parts, undirected.MaxParts)
	case len(o.Imbalance) != 1 && len(o.Imbalance) != len(totals):
		return nil, fmt.Errorf("found %d imbalances, expected one, or one for each of %d constraints; give `Imbalance` so", len(o.Imbalance), len(totals))
	}
	p := &Plan{Nodes: n, Parts: o.Parts, Block: mostBlock, Constraints: len(totals), Weighted: weighted, Seed: o.Seed, Caps: undirected.Caps(totals, o.Parts, o.Imbalance)}
	for p.Block > 1 && n/p.Block < leastBlocks {
		p.Block /= 2
	}
	of := min(mostShare, share*max(1, float64(o.Parts)/shareParts))
	for _, total := range totals {
		// At least two mean nodes, so that a small graph shrinks too.
		twice := 2 * (total + int64(n) - 1) / int64(max(n, 1))
		p.ClusterCaps = append(p.ClusterCaps, min(max(int64(of*float64(total)/float64(o.Parts)), twice, 1), math.MaxUint32))
	}
	return p, nil
}

// Blocks is the number of blocks.
func (p *Plan) Blocks() int { return (p.Nodes + p.Block - 1) / p.Block }

// bounds are the nodes of a block.
func (p *Plan) bounds(block int) (from, to int) {
	return block * p.Block, min((block+1)*p.Block, p.Nodes)
}

// Round is the sub-round in which a pass visits a block.
func (p *Plan) Round(pass, block int) int {
	return int(mix(mix(p.Seed+uint64(pass)<<32)+uint64(block)) >> 32 * Rounds >> 32)
}

// Split divides the nodes into ranges of whole blocks, one per worker, with about equally many nodes: range i is the nodes from entry i to
// entry i+1. Some are empty if there are more workers than blocks.
func (p *Plan) Split(workers int) []int {
	ends := make([]int, workers+1)
	for i := range ends {
		ends[i] = min(int(int64(p.Blocks())*int64(i)/int64(workers))*p.Block, p.Nodes)
	}
	return ends
}

// Owner is the number of the range that has a node.
func Owner(ends []int, node uint32) int {
	return sort.Search(len(ends)-2, func(i int) bool { return ends[i+1] > int(node) })
}

// stride is the number of weights that a message has for a node.
func (p *Plan) stride() int {
	if !p.Weighted {
		return 0
	}
	return p.Constraints
}

// mix is splitmix64's finisher: a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// bitmap is a set of nodes.
type bitmap []uint64

func newBitmap(n int) bitmap       { return make(bitmap, (n+63)/64) }
func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }
func (b bitmap) include(v uint32)  { b[v>>6] |= 1 << (v & 63) }
func (b bitmap) exclude(v uint32)  { b[v>>6] &^= 1 << (v & 63) }

// sortedOrder returns the numbers below n in an order.
func sortedOrder(n int, compare func(a, b int32) int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, compare)
	return order
}
