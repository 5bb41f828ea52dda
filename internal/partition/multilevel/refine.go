package multilevel

import "math"

// refiner improves the parts of one level.
//
// The affinity of a node to a part is the weight of the edges between them. The data on a node are updated
// only after a move of one of its neighbours: dirty nodes are those with such a move since they were last
// looked at.
type refiner struct {
	team
	m     *memory
	l     *level
	parts int
	caps  []int64
	salt  uint32

	part []uint16
	load []int64 // of the parts, stride constraints
	cut  int64

	// price is the cost of a unit of weight in each part, in units of the cut, stride constraints. Parts that
	// had to be relieved become expensive, so that moves that would be undone do not look like gains.
	price  []float64
	priced bool      // some price is not 0
	light  uint16    // a part with room, for nodes without neighbours in such a part
	lost   []float64 // the cost of relieving each part
	freed  []float64 // the weight that left each part for it, stride constraints

	dirty     bitmap
	boundary  bitmap // has a neighbour in another part
	candidate bitmap // should try to move to target
	locked    bitmap // moved in the last round
	mover     bitmap
	target    []uint16 // the other part with the highest affinity to a boundary node
	gain      []int32  // decrease of the cut if the node moves to target

	scratch []binding
	partial []int64 // one sum per block of work
	journal []step  // moves since the best division
}

// step is a move that can be undone.
type step struct {
	node uint32
	from uint16
}

// binding has the affinities of one node to all parts. It is zero between nodes.
type binding struct {
	sum   []int64
	parts []uint16 // parts with a sum
}

// The share of the cost of relief that becomes the price. The full cost would prevent moves for which later
// rounds make room. With several constraints, a node pays for each of them.
const (
	onePrice   = 0.75
	manyPrices = 0.15
)

// leastPrice is the lowest price that counts.
const leastPrice = 1e-9

// refineWords is the unit of parallel work, in words of a bitmap.
const refineWords = 16

// newRefiner works on part. beside has the nodes that may have a neighbour in another part; the refiner takes
// it over.
func newRefiner(t team, m *memory, l *level, parts int, caps []int64, part []uint16, beside bitmap, seed uint64) *refiner {
	r := &refiner{
		team: t, m: m, l: l, parts: parts, caps: caps, salt: uint32(mix(seed)), part: part, load: l.loads(part, parts),
		dirty: beside, boundary: bitmapOf(m, l.n), candidate: bitmapOf(m, l.n), locked: bitmapOf(m, l.n), mover: bitmapOf(m, l.n),
		target: take[uint16](m, l.n), gain: take[int32](m, l.n),
		scratch: make([]binding, t.threads),
	}
	for i := range r.scratch {
		r.scratch[i].sum = make([]int64, parts)
	}
	r.partial = make([]int64, r.blocksOf())
	r.price, r.lost, r.freed = make([]float64, len(r.load)), make([]float64, parts), make([]float64, len(r.load))
	return r
}

// free releases everything but part and boundary.
func (r *refiner) free() {
	give(r.m, r.dirty)
	give(r.m, r.candidate)
	give(r.m, r.locked)
	give(r.m, r.mover)
	give(r.m, r.target)
	give(r.m, r.gain)
}

func (r *refiner) blocksOf() int { return (len(r.dirty) + refineWords - 1) / refineWords }

// words calls f for each block of words of the bitmaps.
func (r *refiner) words(f func(worker, block, from, to int)) {
	r.blocks(r.blocksOf(), func(worker, block int) {
		f(worker, block, block*refineWords, min((block+1)*refineWords, len(r.dirty)))
	})
}

// collect sums the affinities of v.
func (b *binding) collect(l *level, part []uint16, v uint32) {
	b.parts = b.parts[:0]
	from, to := l.offsets[v], l.offsets[v+1]
	if l.edges == nil {
		for _, u := range l.neighbours[from:to] {
			p := part[u]
			if b.sum[p] == 0 {
				b.parts = append(b.parts, p)
			}
			b.sum[p]++
		}
		return
	}
	edges := l.edges[from:to]
	for i, u := range l.neighbours[from:to] {
		p := part[u]
		if b.sum[p] == 0 {
			b.parts = append(b.parts, p)
		}
		b.sum[p] += int64(edges[i])
	}
}

func (b *binding) clear() {
	for _, p := range b.parts {
		b.sum[p] = 0
	}
}

// look computes the best moves of dirty nodes. Candidates lose less than the given share of their affinity to
// their own part.
func (r *refiner) look(share float64) {
	r.words(func(worker, _, from, to int) {
		b := &r.scratch[worker]
		r.dirty.each(from, to, func(v uint32) { r.lookAt(b, v, share) })
		clear(r.dirty[from:to])
	})
}

func (r *refiner) lookAt(b *binding, v uint32, share float64) {
	own := r.part[v]
	b.collect(r.l, r.part, v)
	best, sum, tie := own, int64(math.MinInt64), uint32(0)
	for _, p := range b.parts {
		if p == own {
			continue
		}
		s := b.sum[p]
		if r.priced {
			s -= r.cost(v, p)
		}
		if s < sum {
			continue
		}
		t := spread(uint32(p)<<16^v, r.salt)
		if s > sum || t > tie {
			best, sum, tie = p, s, t
		}
	}
	inner := b.sum[own]
	whole := inner
	if r.priced {
		inner -= r.cost(v, own)
	}
	b.clear()
	r.candidate.unset(v)
	if best == own {
		r.boundary.unset(v)
		return
	}
	r.boundary.set(v)
	gain := sum - inner
	r.target[v] = best
	r.gain[v] = int32(min(max(gain, math.MinInt32), math.MaxInt32))
	if gain >= 0 || float64(-gain) < share*float64(whole) {
		r.candidate.set(v)
	}
}

// cost is the price of v in p.
func (r *refiner) cost(v uint32, p uint16) int64 {
	var cost float64
	for c := range r.l.constraints {
		cost += r.price[int(p)*r.l.constraints+c] * float64(r.l.weight(v, c))
	}
	return int64(math.Round(cost))
}

// reprice sets the prices from the cost of the last relief of each part, and resets that cost.
func (r *refiner) reprice() {
	C := r.l.constraints
	stale := r.priced
	r.priced = false
	for i := range r.price {
		now := 0.0
		if lost := r.lost[i/C]; lost > 0 && r.freed[i] > 0 {
			now = lost / r.freed[i]
			if C > 1 {
				now *= manyPrices
			} else {
				now *= onePrice
			}
		}
		r.price[i] = (r.price[i] + now) / 2
		if r.price[i] < leastPrice {
			r.price[i] = 0
		}
		r.priced = r.priced || r.price[i] > 0
	}
	clear(r.lost)
	clear(r.freed)
	if stale || r.priced {
		for i, b := range r.boundary {
			r.dirty[i] |= b
		}
	}
}

// ahead reports whether the move of u is judged as made before that of v.
func (r *refiner) ahead(u, v uint32) bool {
	return r.gain[u] > r.gain[v] || r.gain[u] == r.gain[v] && u < v
}

// chooseMovers sets mover to the candidates that do not lose when all candidates ahead of them have moved.
func (r *refiner) chooseMovers() {
	// During the round, candidate has no locked nodes.
	for i := range r.candidate {
		r.mover[i] = 0
		r.locked[i] &= r.candidate[i]
		r.candidate[i] &^= r.locked[i]
	}
	r.words(func(_, _, from, to int) {
		r.candidate.each(from, to, func(v uint32) {
			own, target := r.part[v], r.target[v]
			var gain int64
			if r.priced {
				gain = r.cost(v, own) - r.cost(v, target)
			}
			for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
				u := r.l.neighbours[i]
				p := r.part[u]
				if r.candidate.has(u) && r.ahead(u, v) {
					p = r.target[u]
				}
				if p == target {
					gain += r.l.edge(i)
				} else if p == own {
					gain -= r.l.edge(i)
				}
			}
			if gain >= 0 {
				r.mover.set(v)
			}
		})
	})
	for i := range r.candidate {
		r.candidate[i] |= r.locked[i]
		r.locked[i] = r.mover[i]
	}
}

// moveAll makes the moves of mover.
func (r *refiner) moveAll() {
	r.words(func(_, block, from, to int) {
		var twice int64 // each pair of movers is counted from both ends
		r.mover.each(from, to, func(v uint32) {
			own, target := r.part[v], r.target[v]
			r.dirty.setShared(v)
			for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
				u := r.l.neighbours[i]
				r.dirty.setShared(u)
				before, w := r.part[u], r.l.edge(i)
				after := before
				if r.mover.has(u) {
					after = r.target[u]
				} else {
					w *= 2
				}
				if before != own {
					twice -= w
				}
				if after != target {
					twice += w
				}
			}
		})
		r.partial[block] = twice
	})
	var twice int64
	for _, s := range r.partial {
		twice += s
	}
	r.cut += twice / 2
	r.mover.each(0, len(r.mover), func(v uint32) { r.assign(v, r.target[v]) })
}

// assign moves v without updating the cut or the data on its neighbours.
func (r *refiner) assign(v uint32, to uint16) {
	from := r.part[v]
	r.journal = append(r.journal, step{v, from})
	for c := range r.l.constraints {
		w := r.l.weight(v, c)
		r.load[int(from)*r.l.constraints+c] -= w
		r.load[int(to)*r.l.constraints+c] += w
	}
	r.part[v] = to
}

// move moves v; the cut decreases by gain.
func (r *refiner) move(v uint32, to uint16, gain int64) {
	r.assign(v, to)
	r.cut -= gain
	r.dirty.set(v)
	for _, u := range r.l.neighbours[r.l.offsets[v]:r.l.offsets[v+1]] {
		r.dirty.set(u)
	}
}

// undo returns to the best division.
func (r *refiner) undo() {
	for i := len(r.journal) - 1; i >= 0; i-- {
		s := r.journal[i]
		r.move(s.node, s.from, 0)
	}
	r.journal = r.journal[:0]
}

// overload is the sum by which the parts exceed their caps, in shares of the caps.
func (r *refiner) overload() float64 {
	var sum float64
	for i, w := range r.load {
		if c := r.caps[i%r.l.constraints]; w > c {
			sum += float64(w-c) / float64(max(c, 1))
		}
	}
	return sum
}
