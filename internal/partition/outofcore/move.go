package outofcore

import (
	"math"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

const (
	priceSteps = 512   // per pass
	raise      = 1.03  // times the price, of a part that has no room for a node that wants to join,
	raiseBy    = 0.01  // and so much more
	lower      = 1.03  // divides the price of a part with room
	leastPrice = 0.02  // below it the price is 0
	roomShare  = 0.005 // of the cap, from which on a part has room
)

// mover moves nodes between parts in one pass.
type mover struct {
	*division
	l           *level
	caps        []int64
	constraints int
	parts       int
	priced      bool
	// before is the weight of the pairs between parts before the pass, of the nodes that were visited. gain is what the moves
	// took off it.
	before, gain int64
	affinity     []int64 // of the node at hand, by part
	touched      []uint16
	own          []int64 // weights of the node at hand
	wanted       []bool  // parts that had no room, by constraint, since the last step of prices
	lightest     int     // about the part with the most room
	sought       int     // nodes since lightest was found
	step, until  int     // nodes
}

func newMover(r *run, d *division, l *level, priced bool) *mover {
	m := &mover{division: d, l: l, caps: r.caps, constraints: l.constraints, parts: r.Parts, priced: priced,
		affinity: make([]int64, r.Parts), own: make([]int64, l.constraints), wanted: make([]bool, r.Parts*l.constraints), step: max(1, l.g.Len()/priceSteps)}
	m.until = m.step
	m.findLightest()
	return m
}

// visit lets node b.First+i choose its part.
func (m *mover) visit(b *undirected.Block, i int) {
	v := b.First + uint32(i)
	m.tick()
	own := int(m.part[v])
	for c := range m.own {
		m.own[c] = m.l.weight(v, c)
	}
	from, to := b.Row(i)
	row := b.Neighbours[from:to]
	if b.EdgeWeights == nil {
		for _, u := range row {
			p := m.part[u]
			if m.affinity[p] == 0 {
				m.touched = append(m.touched, p)
			}
			m.affinity[p]++
			if u > v && int(p) != own {
				m.before++
			}
		}
	} else {
		for j, u := range row {
			p, w := m.part[u], int64(b.EdgeWeights[int(from)+j])
			if m.affinity[p] == 0 {
				m.touched = append(m.touched, p)
			}
			m.affinity[p] += w
			if u > v && int(p) != own {
				m.before += w
			}
		}
	}
	if p := m.choose(own); p != own {
		m.gain += m.affinity[p] - m.affinity[own]
		m.part[v] = uint16(p)
		for c, w := range m.own {
			m.loads[own*m.constraints+c] -= w
			m.loads[p*m.constraints+c] += w
		}
	}
	for _, p := range m.touched {
		m.affinity[p] = 0
	}
	m.touched = m.touched[:0]
}

// choose returns the part that the node at hand should have.
func (m *mover) choose(own int) int {
	heavy := m.exceeds(own)
	if !m.priced && !heavy && len(m.touched) == 1 && int(m.touched[0]) == own {
		return own
	}
	best, score := own, m.score(own)
	if heavy {
		score = math.Inf(-1) // any part with room is better
	}
	// A part that is not among the neighbours is of use for its price alone.
	if m.priced || heavy {
		if !m.fits(m.lightest) && m.sought >= m.parts { // not at each node, because it looks at all parts
			m.findLightest()
		}
		if x := m.score(m.lightest); m.lightest != own && x > score && m.fits(m.lightest) {
			best, score = m.lightest, x
		}
	}
	for _, q := range m.touched {
		p := int(q)
		if p == own {
			continue
		}
		x := m.score(p)
		if x < score || x == score && !m.lighter(p, best, own) {
			continue
		}
		if m.room(p, x > score) {
			best, score = p, x
		}
	}
	return best
}

// score is the weight of the neighbours in a part minus what the node would pay there.
func (m *mover) score(p int) float64 {
	x := float64(m.affinity[p])
	if m.priced {
		for c, w := range m.own {
			x -= m.prices[p*m.constraints+c] * float64(w)
		}
	}
	return x
}

// exceeds reports whether a part is above a cap that the node at hand counts for.
func (m *mover) exceeds(p int) bool {
	for c, w := range m.own {
		if w > 0 && m.loads[p*m.constraints+c] > m.caps[c] {
			return true
		}
	}
	return false
}

// fits reports whether a part has room for the node at hand.
func (m *mover) fits(p int) bool { return m.room(p, false) }

// room is fits, and remembers where the part lacks room if it is wanted.
func (m *mover) room(p int, wanted bool) bool {
	room := true
	for c, w := range m.own {
		if w > 0 && m.loads[p*m.constraints+c]+w > m.caps[c] {
			room = false
			if wanted {
				m.wanted[p*m.constraints+c] = true
			}
		}
	}
	return room
}

// lighter reports whether a part p is a better choice than best at the same score: it is lighter than best, or after the
// move still lighter than the part of the node was.
func (m *mover) lighter(p, best, own int) bool {
	x := m.fill(p)
	if best != own {
		return x < m.fill(best)
	}
	for c, w := range m.own {
		if most := m.caps[c]; most > 0 {
			x = max(x, float64(m.loads[p*m.constraints+c]+w)/float64(most))
		}
	}
	return x < m.fill(own)
}

// fill is the load of a part relative to its cap, of its fullest constraint.
func (m *mover) fill(p int) float64 {
	x := 0.0
	for c, most := range m.caps {
		x = max(x, float64(m.loads[p*m.constraints+c])/float64(max(most, 1)))
	}
	return x
}

// findLightest finds the part with the most room.
func (m *mover) findLightest() {
	m.sought = 0
	least := math.Inf(1)
	for p := range m.parts {
		if x := m.fill(p); x < least {
			least, m.lightest = x, p
		}
	}
}

// tick counts a node. After each step the prices follow what was wanted.
func (m *mover) tick() {
	m.sought++
	if m.until--; m.until > 0 {
		return
	}
	m.until = m.step
	m.findLightest()
	if !m.priced {
		return
	}
	for i, wanted := range m.wanted {
		most := m.caps[i%m.constraints]
		switch {
		case wanted:
			m.prices[i] = raise*m.prices[i] + raiseBy
		case float64(most-m.loads[i]) > roomShare*float64(most):
			if m.prices[i] /= lower; m.prices[i] < leastPrice {
				m.prices[i] = 0
			}
		}
	}
	clear(m.wanted)
}
