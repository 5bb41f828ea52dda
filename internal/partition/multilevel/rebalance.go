package multilevel

import (
	"math"
	"slices"
)

// relief is a move out of a part that is too heavy.
type relief struct {
	node uint32
	key  float32 // moves with a higher key cost less
	fall float32 // decrease of the overload, as a share of the caps
}

// reliefRounds is the largest number of rounds of rebalancing.
const reliefRounds = 12

// rebalance moves nodes out of parts that are too heavy, first those that cost least for their weight. The
// data on nodes must be up to date; it leaves them out of date.
func (r *refiner) rebalance(share float64) {
	all := false // boundary nodes first, because other nodes are rarely cheaper
	for range reliefRounds {
		before := r.overload()
		if before == 0 || r.stopped() {
			return
		}
		r.relieve(all)
		if after := r.overload(); after > before*0.9 {
			if all && after >= before {
				return
			}
			all = true
		}
		r.look(share)
	}
}

// heavy reports whether a part exceeds a cap.
func (r *refiner) heavy(p uint16) bool {
	C := r.l.constraints
	for c, w := range r.load[int(p)*C : int(p)*C+C] {
		if w > r.caps[c] {
			return true
		}
	}
	return false
}

// relieve makes one round of moves out of heavy parts.
func (r *refiner) relieve(all bool) {
	heavy := make([]bool, r.parts)
	for p := range heavy {
		heavy[p] = r.heavy(uint16(p))
	}
	r.light = r.lightest()
	found := make([][]relief, r.blocksOf())
	r.words(func(worker, block, from, to int) {
		b := &r.scratch[worker]
		var list []relief
		consider := func(v uint32) {
			if !heavy[r.part[v]] {
				return
			}
			if _, _, key, ok := r.out(b, v); ok {
				list = append(list, relief{v, key, float32(r.relieved(r.part[v], v))})
			}
		}
		if all {
			for v := from << 6; v < min(to<<6, r.l.n); v++ {
				consider(uint32(v))
			}
		} else {
			r.boundary.each(from, to, consider)
		}
		found[block] = list
	})
	var moves []relief
	for _, f := range found {
		moves = append(moves, f...)
	}
	moves = r.enough(moves)
	order := make([]uint64, len(moves))
	for i, m := range moves {
		order[i] = uint64(descending(m.key))<<32 | uint64(m.node)
	}
	slices.Sort(order)
	b, first := &r.scratch[0], len(r.journal)
	for i, at := range order {
		node := uint32(at)
		if r.l.constraints == 1 && r.load[r.light]+r.l.weight(node, 0) > r.caps[0] {
			r.light = r.lightest()
		}
		if i&1023 == 0 && r.stopped() {
			return
		}
		if !r.heavy(r.part[node]) {
			continue
		}
		if to, gain, _, ok := r.out(b, node); ok {
			p := r.part[node]
			r.lost[p] -= float64(gain)
			for c := range r.l.constraints {
				if i := int(p)*r.l.constraints + c; r.load[i] > r.caps[c] {
					r.freed[i] += float64(r.l.weight(node, c))
				}
			}
			r.moveAlone(node, to, gain)
		}
	}
	r.carry(r.journal[first:])
}

// moveAlone moves v, which decreases the cut by gain. It marks v and its neighbours as dirty. Their affinities are out of date until
// carry is called.
func (r *refiner) moveAlone(v uint32, to uint16, gain int64) {
	r.assign(v, to)
	r.cut -= gain
	r.dirty.set(v)
	for _, u := range r.l.neighbours[r.l.offsets[v]:r.l.offsets[v+1]] {
		r.dirty.set(u)
	}
}

// current returns the affinities of v after moveAlone, until b is used again.
func (r *refiner) current(b *binding, v uint32) []affinity {
	if r.dirty.has(v) {
		b.add(r.l, r.part, v)
		return b.sums()
	}
	return r.row(b, r.l, r.part, v)
}

// descending maps keys to numbers that ascend where keys fall.
func descending(key float32) uint32 {
	bits := math.Float32bits(key + 0) // -0 is 0
	if bits>>31 == 0 {
		return ^bits &^ (1 << 31)
	}
	return bits
}

// enough keeps the best of the moves: those that relieve each part of twice its overload. Moves are grouped by
// the power of two of their keys, so that only few must be sorted.
func (r *refiner) enough(moves []relief) []relief {
	C := r.l.constraints
	falls := make([]float32, r.parts*classes)
	for _, m := range moves {
		falls[int(r.part[m.node])*classes+class(m.key)] += m.fall
	}
	last := make([]int, r.parts)
	for p := range last {
		var need float64
		for c, w := range r.load[p*C : p*C+C] {
			need += 2 * float64(max(w-r.caps[c], 0)) / float64(max(r.caps[c], 1))
		}
		for last[p] = 0; last[p] < classes-1 && need > 0; last[p]++ {
			need -= float64(falls[p*classes+last[p]])
		}
	}
	kept := moves[:0]
	for _, m := range moves {
		if class(m.key) <= last[r.part[m.node]] {
			kept = append(kept, m)
		}
	}
	return kept
}

// classes is the number of values of class.
const classes = 64

// class groups keys by powers of two; class 0 has the highest.
func class(key float32) int {
	exponent := int(math.Float32bits(key) >> 23 & 0xff)
	if key < 0 {
		return classes/2 + min(max((exponent-100)/2, 0), classes/2-1)
	}
	return min(max((160-exponent)/2, 0), classes/2-1)
}

// out is the best move of v out of its part. A higher key is cheaper.
func (r *refiner) out(b *binding, v uint32) (to uint16, gain int64, key float32, ok bool) {
	if r.l.constraints > 1 {
		return r.outMany(b, v)
	}
	own := r.part[v]
	w := r.l.weight(v, 0)
	if w == 0 {
		return 0, 0, 0, false
	}
	sum, inner := int64(-1), int64(0)
	for _, a := range r.current(b, v) {
		p, s := a.part(), a.weight()
		switch {
		case p == own:
			inner = s
		case s == 0 || s < sum || r.load[p]+w > r.caps[0]:
		case s > sum || r.load[p] < r.load[to] || r.load[p] == r.load[to] && p < to:
			to, sum = p, s
		}
	}
	if sum < 0 {
		p := r.light
		if p == own || r.load[p]+w > r.caps[0] {
			return 0, 0, 0, false
		}
		to, sum = p, 0
	}
	gain = sum - inner
	if gain > 0 {
		return to, gain, float32(gain) * float32(w), true
	}
	return to, gain, float32(gain) / float32(w), true
}

// lightest is the part with the least weight, for one constraint.
func (r *refiner) lightest() uint16 {
	p := 0
	for q, w := range r.load {
		if w < r.load[p] {
			p = q
		}
	}
	return uint16(p)
}

// outMany is out for several constraints: a move counts if the overload of all parts and constraints together
// decreases, and its key is higher the less the move costs for that decrease.
func (r *refiner) outMany(b *binding, v uint32) (to uint16, gain int64, key float32, ok bool) {
	own := r.part[v]
	relieved := r.relieved(own, v)
	if relieved <= 0 {
		return 0, 0, 0, false // v has no weight in the constraints that are exceeded
	}
	row := r.current(b, v)
	var inner int64
	for _, a := range row {
		if a.part() == own {
			inner = a.weight()
		}
	}
	offer := func(p uint16, sum int64) {
		fall := relieved - r.burdened(p, v)
		if fall <= 0 {
			return
		}
		g := sum - inner
		var k float32
		if g > 0 {
			k = float32(float64(g) * fall)
		} else {
			k = float32(float64(g) / fall)
		}
		if !ok || k > key || k == key && p < to {
			to, gain, key, ok = p, g, k, true
		}
	}
	for _, a := range row {
		if a.part() != own && a.weight() > 0 {
			offer(a.part(), a.weight())
		}
	}
	if !ok {
		for p := range r.parts {
			// Parts in the row were refused: with more affinity, so they are refused again.
			if uint16(p) != own {
				offer(uint16(p), 0)
			}
		}
	}
	return to, gain, key, ok
}

// relieved is the decrease of the overload of p when v leaves it, in shares of the caps.
func (r *refiner) relieved(p uint16, v uint32) float64 {
	C := r.l.constraints
	var fall float64
	for c := range C {
		if over := r.load[int(p)*C+c] - r.caps[c]; over > 0 {
			fall += float64(min(over, r.l.weight(v, c))) / float64(max(r.caps[c], 1))
		}
	}
	return fall
}

// burdened is the increase of the overload of p when v joins it.
func (r *refiner) burdened(p uint16, v uint32) float64 {
	C := r.l.constraints
	var rise float64
	for c := range C {
		w := r.l.weight(v, c)
		if over := r.load[int(p)*C+c] + w - r.caps[c]; over > 0 {
			rise += float64(min(over, w)) / float64(max(r.caps[c], 1))
		}
	}
	return rise
}
