package fennel

import (
	"math"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// loads is what the parts hold, and what that costs a node that would go there.
type loads struct {
	constraints int
	weights     []uint32
	caps        []int64
	share       []float64 // parts / total of each constraint
	load        []int64   // [part][constraint]
	penalty     []float64
	scale       float64
	steep       bool
	// tree is a tournament: the part with the least penalty below each inner node,
	// the root being at 1 and the leaves from leaves on.
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
	// 3/2 of the mean degree over 2: FENNEL's alpha * gamma for gamma 3/2, with
	// loads against the mean.
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

// play makes the tournament of all parts.
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

// lightest is the part with the least penalty, the first of several.
func (l *loads) lightest() int { return int(l.tree[1]) }

func (l *loads) weight(v uint32, c int) int64 {
	if l.weights == nil {
		return 1
	}
	return int64(l.weights[int(v)*l.constraints+c])
}

// add puts a node into a part, or takes it out (sign -1).
func (l *loads) add(v uint32, p uint16, sign int64) {
	for c := range l.constraints {
		l.load[int(p)*l.constraints+c] += sign * l.weight(v, c)
	}
	l.price(int(p))
	for i := (l.leaves + int(p)) / 2; i > 0; i /= 2 {
		l.tree[i] = l.winner(l.tree[2*i], l.tree[2*i+1])
	}
}

// price sets the penalty of a part: by its fullest constraint, in FENNEL's way the
// square root, and steep the fourth power.
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

// steepen changes the penalty to that of the later passes.
func (l *loads) steepen() {
	l.steep = true
	for p := range l.penalty {
		l.price(p)
	}
	l.play()
}

// fits says whether a part has room for a node.
func (l *loads) fits(v uint32, p int) bool {
	for c, load := range l.load[p*l.constraints:][:l.constraints] {
		if load+l.weight(v, c) > l.caps[c] {
			return false
		}
	}
	return true
}

// roomiest is the part with room for a node that has the least penalty, or where
// none has, the one that would exceed its caps the least.
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
