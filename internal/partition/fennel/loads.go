package fennel

import (
	"math"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// loads has the loads of the parts and the penalties that follow from them.
type loads struct {
	constraints int
	weights     []uint32
	caps        []int64
	share       []float64 // parts / total, by constraint
	load        []int64   // [part][constraint]
	penalty     []float64
	scale       float64
	steep       bool
	// tree is a tournament: each inner node has the part with the least penalty among the leaves below it. The
	// root is at 1, and the leaves begin at leaves.
	tree   []uint32
	leaves int
}

func newLoads(g undirected.Rows, o Options) *loads {
	constraints, weights := g.NodeWeights()
	l := &loads{constraints: constraints, weights: weights, load: make([]int64, o.Parts*constraints), penalty: make([]float64, o.Parts)}
	totals := undirected.Totals(g)
	l.caps = undirected.Caps(totals, o.Parts, o.Imbalance)
	for _, t := range totals {
		l.share = append(l.share, float64(o.Parts)/float64(max(t, 1)))
	}
	// Half of 3/2 of the mean degree: FENNEL's alpha * gamma for gamma 3/2, with loads relative to the mean.
	l.scale = 0.75 * float64(g.Entries()) / float64(max(1, g.Len()))
	for l.leaves = 1; l.leaves < o.Parts; {
		l.leaves *= 2
	}
	l.tree = make([]uint32, 2*l.leaves)
	for i := range l.tree[l.leaves:] {
		l.tree[l.leaves+i] = uint32(min(i, o.Parts-1))
	}
	l.play()
	return l
}

// play computes the tournament of all parts.
func (l *loads) play() {
	for i := l.leaves - 1; i > 0; i-- {
		l.tree[i] = l.winner(l.tree[2*i], l.tree[2*i+1])
	}
}

func (l *loads) winner(a, b uint32) uint32 {
	if l.penalty[b] < l.penalty[a] {
		return b
	}
	return a
}

// lightest is the part with the least penalty, the lowest part among equals.
func (l *loads) lightest() int { return int(l.tree[1]) }

func (l *loads) weight(v uint32, c int) int64 {
	if l.weights == nil {
		return 1
	}
	return int64(l.weights[int(v)*l.constraints+c])
}

// add puts a node into a part, or removes it (sign -1).
func (l *loads) add(v uint32, p uint16, sign int64) {
	for c := range l.constraints {
		l.load[int(p)*l.constraints+c] += sign * l.weight(v, c)
	}
	l.price(int(p))
	for i := (l.leaves + int(p)) / 2; i > 0; i /= 2 {
		l.tree[i] = l.winner(l.tree[2*i], l.tree[2*i+1])
	}
}

// price computes the penalty of a part from its fullest constraint: the square root, as in FENNEL, and the
// fourth power if steep.
func (l *loads) price(p int) {
	full := 0.0
	for c, load := range l.load[p*l.constraints:][:l.constraints] {
		full = max(full, float64(load)*l.share[c])
	}
	if l.steep {
		l.penalty[p] = l.scale * full * full * full * full
	} else {
		l.penalty[p] = l.scale * math.Sqrt(full)
	}
}

// steepen switches to the penalty of the later passes.
func (l *loads) steepen() {
	l.steep = true
	for p := range l.penalty {
		l.price(p)
	}
	l.play()
}

// fits reports whether a part has room for a node.
func (l *loads) fits(v uint32, p int) bool {
	for c, load := range l.load[p*l.constraints:][:l.constraints] {
		if load+l.weight(v, c) > l.caps[c] {
			return false
		}
	}
	return true
}

// roomiest is the part with the least penalty among those with room for a node. If none has room, it is the
// part that would exceed its caps by the least.
func (l *loads) roomiest(v uint32) int {
	best, over := 0, math.Inf(1)
	for p := range l.penalty {
		excess := 0.0
		for c, load := range l.load[p*l.constraints:][:l.constraints] {
			excess = max(excess, float64(load+l.weight(v, c)-l.caps[c])*l.share[c])
		}
		if excess < over || excess == over && l.penalty[p] < l.penalty[best] {
			best, over = p, excess
		}
	}
	return best
}
