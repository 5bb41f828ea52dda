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

	affinities
	progress *progress // told of each round; may be nil
	scratch  []binding // by worker
	journal  []step    // moves since the best division
}

// step is a move that can be undone.
type step struct {
	node uint32
	from uint16
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
		target: takeZeros[uint16](m, l.n), gain: takeZeros[int32](m, l.n),
		affinities: newAffinities(m, l, parts), scratch: make([]binding, t.threads),
	}
	for i := range r.scratch {
		r.scratch[i].sum = make([]uint64, parts)
	}
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
	r.affinities.free(r.m)
}

func (r *refiner) blocksOf() int { return (len(r.dirty) + refineWords - 1) / refineWords }

// words calls f for each block of words of the bitmaps.
func (r *refiner) words(f func(worker, block, from, to int)) {
	r.blocks(r.blocksOf(), func(worker, block int) {
		f(worker, block, block*refineWords, min((block+1)*refineWords, len(r.dirty)))
	})
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
	best, sum := own, int64(math.MinInt64)
	var inner int64
	for _, a := range r.row(b, r.l, r.part, v) {
		p, s := a.part(), a.weight()
		if p == own {
			inner = s
			continue
		}
		if s == 0 {
			continue
		}
		if r.priced {
			s -= r.cost(v, p)
		}
		if s > sum || s == sum && r.tie(v, p) > r.tie(v, best) {
			best, sum = p, s
		}
	}
	r.candidate.unset(v)
	if best == own {
		r.boundary.unset(v)
		return
	}
	r.boundary.set(v)
	whole := inner
	if r.priced {
		inner -= r.cost(v, own)
	}
	gain := sum - inner
	r.target[v] = best
	r.gain[v] = int32(min(max(gain, math.MinInt32), math.MaxInt32))
	if gain >= 0 || float64(-gain) < share*float64(whole) {
		r.candidate.set(v)
	}
}

// tie orders the parts to which v is bound equally.
func (r *refiner) tie(v uint32, p uint16) uint32 { return spread(uint32(p)<<16^v, r.salt) }

// cost is the price of v in p.
func (r *refiner) cost(v uint32, p uint16) int64 {
	if r.l.constraints == 1 {
		return int64(r.price[p]*float64(r.l.weight(v, 0)) + 0.5)
	}
	var cost float64
	for c := range r.l.constraints {
		cost += r.price[int(p)*r.l.constraints+c] * float64(r.l.weight(v, c))
	}
	return int64(cost + 0.5)
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

// ahead reports whether the move of u is judged as made before the move of v.
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
			if r.afterOthers(v) >= 0 {
				r.mover.set(v)
			}
		})
	})
	for i := range r.candidate {
		r.candidate[i] |= r.locked[i]
		r.locked[i] = r.mover[i]
	}
}

// afterOthers is the gain of v when all candidates ahead of it have moved.
func (r *refiner) afterOthers(v uint32) int64 {
	own, target := r.part[v], r.target[v]
	gain := int64(r.gain[v])
	for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
		u := r.l.neighbours[i]
		if !r.candidate.has(u) || !r.ahead(u, v) {
			continue
		}
		switch w := r.l.edge(i); r.target[u] {
		case target:
			gain += w
		case own:
			gain -= w
		}
		switch w := r.l.edge(i); r.part[u] {
		case target:
			gain -= w
		case own:
			gain += w
		}
	}
	return gain
}

// moveAll makes the moves of mover.
func (r *refiner) moveAll() {
	r.cut -= r.together()
	first := len(r.journal)
	r.mover.each(0, len(r.mover), func(v uint32) { r.assign(v, r.target[v]) })
	r.carry(r.journal[first:])
}

// together is the decrease of the cut if all nodes of mover move.
func (r *refiner) together() int64 {
	gains := make([]int64, r.blocksOf())
	r.words(func(worker, block, from, to int) {
		b := &r.scratch[worker]
		var twice int64 // because an edge between two movers is met twice
		r.mover.each(from, to, func(v uint32) {
			own, target := r.part[v], r.target[v]
			for _, a := range r.row(b, r.l, r.part, v) {
				switch a.part() {
				case own:
					twice -= 2 * a.weight()
				case target:
					twice += 2 * a.weight()
				}
			}
			for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
				u := r.l.neighbours[i]
				if !r.mover.has(u) {
					continue
				}
				// The row counted the edge as if u stayed.
				n := int64(0)
				switch r.part[u] {
				case own:
					n += 2
				case target:
					n--
				default:
					n++
				}
				if r.target[u] != target {
					n--
				}
				twice += n * r.l.edge(i)
			}
		})
		gains[block] = twice
	})
	var twice int64
	for _, g := range gains {
		twice += g
	}
	return twice / 2
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
	from := r.part[v]
	r.assign(v, to)
	r.cut -= gain
	r.dirty.set(v)
	for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
		u := r.l.neighbours[i]
		r.dirty.set(u)
		r.shift(r.l, u, from, to, r.l.edge(i))
	}
}

// owned is the number of neighbouring nodes that one goroutine updates: as many as have their bits in one cache line.
const owned = 512

// carry updates the data on the nodes that have moved and on their neighbours. Each goroutine updates nodes of its own, in the order of
// the moves, so that the result is the same for any number of them.
func (r *refiner) carry(moved []step) {
	workers := r.threads
	if len(moved) < 1000 {
		workers = 1
	}
	r.blocks(workers, func(_, worker int) {
		mine := func(v uint32) bool { return workers == 1 || int(spread(v/owned, 0))%workers == worker }
		c := carrier{refiner: r}
		for i, s := range moved {
			if i&1023 == 0 && r.stopped() {
				return
			}
			if mine(s.node) {
				r.dirty.set(s.node)
			}
			to := r.part[s.node]
			for i := r.l.offsets[s.node]; i < r.l.offsets[s.node+1]; i++ {
				if u := r.l.neighbours[i]; mine(u) {
					c.add(carried{u, i, s.from, to})
				}
			}
		}
		c.flush()
	})
}

// carried is the move of a neighbour of node. edge is the place of the edge in the row of that neighbour.
type carried struct {
	node, edge uint32
	from, to   uint16
}

// carrier shifts the rows of nodes, many at a time: the processor then waits for the memory of all of them together.
type carrier struct {
	*refiner
	moves [64]carried
	n     int
	read  affinity // what was read ahead, so that the reads are not left out
}

func (c *carrier) add(m carried) {
	c.moves[c.n] = m
	if c.n++; c.n == len(c.moves) {
		c.flush()
	}
}

func (c *carrier) flush() {
	var rows [len(c.moves)]uint32
	kept := 0 // other rows have no memory
	for k := range c.n {
		u := c.moves[k].node
		rows[kept] = c.l.offsets[u]
		if c.used[u] > 0 {
			kept++
		}
	}
	for _, at := range rows[:kept] {
		c.read |= c.rows[at]
	}
	for k := range c.n {
		m := &c.moves[k]
		c.dirty.set(m.node)
		c.shift(c.l, m.node, m.from, m.to, c.l.edge(m.edge))
	}
	c.n = 0
}

// undo returns to the best division. It leaves the cut as it is.
func (r *refiner) undo() {
	journal := r.journal
	r.journal = journal[:0]
	// The first move of a node has the part to return to. The moves back take the place of moves that were read.
	clear(r.mover)
	for _, s := range journal {
		if r.mover.has(s.node) {
			continue
		}
		r.mover.set(s.node)
		if r.part[s.node] != s.from {
			r.assign(s.node, s.from)
		}
	}
	r.carry(r.journal)
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
