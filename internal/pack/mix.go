package pack

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// mixer packs graphs in their mixture: a pack takes the largest remaining graph, then random graphs in
// proportion to what remains, and a search fills the last of its room. So the remaining graphs stay as mixed
// as all graphs, and have a filling for every room, in all components at once, until few remain.
type mixer struct {
	*search
	random *rand.Rand
	// sums is a Fenwick tree over the remaining graphs.
	sums  []int64
	total int64
	lot   int64 // the most graphs that a draw takes
}

// maxDraws bounds the draws per pack. Packs of more than half as many graphs are drawn in lots.
const maxDraws = 1000

// mix packs the loaded graphs, like bins. The search fills the room of about finish graphs.
func (s *search) mix(f fill, finish float64, random *rand.Rand) []Pattern {
	s.aim(f)
	m := &mixer{search: s, random: random}
	m.count()
	o := s.outlook()
	small := int64(finish * o.rest / float64(max(m.total, 1)))
	perPack := float64(m.total) / max(o.rest/float64(s.full), 1)
	m.lot = 1 + int64(perPack/(maxDraws/2))
	var patterns []Pattern
	for first := 0; ; {
		for first < len(s.left) && s.left[first] == 0 {
			first++
		}
		if first == len(s.left) {
			return patterns
		}
		if o.bad() {
			return nil
		}
		begun := m.draw(first, small, f.budget)
		parts := joined(slices.Concat(begun, s.best))
		for _, p := range begun {
			m.take(p.Shape, -int64(p.Copies))
		}
		repeat := int64(math.MaxInt64)
		for _, p := range parts {
			repeat = min(repeat, s.left[p.Shape]/int64(p.Copies))
		}
		repeat = max(1, repeat/f.frac)
		for i, p := range parts {
			if m.take(p.Shape, repeat*int64(p.Copies)); s.left[p.Shape] == 0 {
				s.dead++
			}
			parts[i].Shape = s.shape[p.Shape]
		}
		patterns = append(patterns, Pattern{parts, repeat})
		o.add(repeat)
		if s.dead*8 > len(s.left) {
			s.compact()
			m.count()
			first = 0
		}
	}
}

// draw takes the graph at index first, then random graphs until the room weighs less than small, and finds a
// filling for that room.
func (m *mixer) draw(first int, small int64, budget int) (begun []Part) {
	s := m.search
	room, weight := s.in.limit, int64(0)
	for at, misses := first, 0; misses < 4 && len(begun) < maxDraws; at = m.any() {
		n, of := 1, s.size[at]
		if m.lot > 1 {
			n = max(s.in.most(&room, &of, min(s.left[at], m.lot)), 1)
			of = of.times(n)
		}
		if rest, ok := room.minus(&of); ok {
			room = rest
			m.take(at, int64(n))
			weight += s.weight[at] * int64(n)
			begun = append(begun, Part{at, n})
		} else {
			misses++
		}
		if s.full-weight < small || m.total == 0 {
			break
		}
	}
	s.nodes, s.scanned, s.budget, s.done = 0, 0, budget, false
	s.now, s.best, s.most = s.now[:0], s.best[:0], weight
	s.rest(0, &room, s.full-weight, weight)
	s.steps += int64(s.nodes + 2*len(begun))
	return begun
}

// count sums up the remaining graphs.
func (m *mixer) count() {
	m.sums, m.total = append(slices.Grow(m.sums[:0], len(m.left)+1), 0), 0
	m.sums = append(m.sums, m.left...)
	for i := 1; i < len(m.sums); i++ {
		m.total += m.left[i-1]
		if up := i + i&-i; up < len(m.sums) {
			m.sums[up] += m.sums[i]
		}
	}
}

// take removes n graphs of an index.
func (m *mixer) take(at int, n int64) {
	m.left[at] -= n
	m.total -= n
	for i := at + 1; i < len(m.sums); i += i & -i {
		m.sums[i] -= n
	}
}

// any returns the index of a random graph.
func (m *mixer) any() int {
	n, at := m.random.Int64N(m.total), 0
	for step := 1 << bits.Len(uint(len(m.sums))) / 2; step > 0; step /= 2 {
		if at+step < len(m.sums) && m.sums[at+step] <= n {
			at += step
			n -= m.sums[at]
		}
	}
	return at
}
