package multilevel

// search improves the parts by moving one node at a time, the best first, each at most once per pass, even if
// that worsens the cut for a while (k-way Fiduccia and Mattheyses). It keeps the affinity of each node to each
// part (the weight of the edges between them), so it is for levels of few nodes.
type search struct {
	r     *refiner
	heap  *heap
	sum   []int64  // the affinity of each node to each part, stride parts
	to    []uint16 // the best move of each node in the heap
	done  []bool   // moved in this pass
	moved []step
}

const (
	searchPasses = 4
	searchStall  = 100 // a pass ends after this many moves without gain, and n/searchShare more
	searchShare  = 30
)

// search improves the parts as long as a pass gains. The parts are within their caps before and after it.
func (r *refiner) search() {
	s := &search{
		r: r, heap: newHeap(r.l.n), sum: take[int64](r.m, r.l.n*r.parts),
		to: make([]uint16, r.l.n), done: make([]bool, r.l.n),
	}
	defer give(r.m, s.sum)
	for v := range uint32(r.l.n) {
		for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
			s.sum[int(v)*r.parts+int(r.part[r.l.neighbours[i]])] += r.l.edge(i)
		}
	}
	for range searchPasses {
		if r.stopped() || !s.pass() {
			break
		}
	}
	r.journal = r.journal[:0]
	r.dirty.fill(r.l.n)
}

// pass makes one pass and reports whether it gained.
func (s *search) pass() bool {
	r := s.r
	for v := range uint32(r.l.n) {
		s.offer(v)
	}
	began, best, keep := r.cut, r.cut, 0
	stall := searchStall + r.l.n/searchShare
	for s.heap.len() > 0 && len(s.moved)-keep < stall {
		v := s.heap.pop()
		to, gain := s.best(v)
		if to == r.part[v] {
			continue
		}
		if gain < s.heap.gain[v] {
			s.to[v] = to
			s.heap.put(v, gain) // its target is full by now
			continue
		}
		s.move(v, to, gain)
		s.done[v] = true
		if r.cut < best {
			best, keep = r.cut, len(s.moved)
		}
	}
	s.heap.clear()
	for i := len(s.moved) - 1; i >= keep; i-- {
		m := s.moved[i]
		s.rebind(m.node, r.part[m.node], m.from, false)
		r.assign(m.node, m.from)
	}
	r.cut = best
	s.moved = s.moved[:0]
	clear(s.done)
	return best < began
}

// best is the part within its caps to which a move of v gains most: v's own part if no other part has
// neighbours of v.
func (s *search) best(v uint32) (to uint16, gain int64) {
	own := s.r.part[v]
	to = own
	sums := s.sum[int(v)*s.r.parts:][:s.r.parts]
	var most int64
	for p, w := range sums {
		if w > most && uint16(p) != own && s.r.fits(v, uint16(p)) {
			to, most = uint16(p), w
		}
	}
	return to, most - sums[own]
}

// fits reports whether v can join p.
func (r *refiner) fits(v uint32, p uint16) bool {
	C := r.l.constraints
	for c := range C {
		w := r.l.weight(v, c)
		if w > 0 && r.load[int(p)*C+c]+w > r.caps[c] {
			return false
		}
	}
	return true
}

// offer puts v into the heap if it has a target.
func (s *search) offer(v uint32) {
	to, gain := s.best(v)
	if to == s.r.part[v] {
		if s.heap.has(v) {
			s.heap.remove(v)
		}
		return
	}
	s.to[v] = to
	s.heap.put(v, gain)
}

// move moves v and updates the heap.
func (s *search) move(v uint32, to uint16, gain int64) {
	s.moved = append(s.moved, step{v, s.r.part[v]})
	from := s.r.part[v]
	s.r.assign(v, to)
	s.r.cut -= gain
	s.rebind(v, from, to, true)
}

// rebind updates the neighbours of v after its move.
func (s *search) rebind(v uint32, from, to uint16, heap bool) {
	l := s.r.l
	for i := l.offsets[v]; i < l.offsets[v+1]; i++ {
		u, w := l.neighbours[i], l.edge(i)
		sums := s.sum[int(u)*s.r.parts:][:s.r.parts]
		sums[from] -= w
		sums[to] += w
		if !heap || s.done[u] {
			continue
		}
		own := s.r.part[u]
		switch {
		case !s.heap.has(u) || s.to[u] == from:
			s.offer(u)
		case own == to:
			s.heap.put(u, s.heap.gain[u]-w)
		case s.to[u] == to:
			g := s.heap.gain[u] + w
			if own == from {
				g += w
			}
			s.heap.put(u, g)
		default:
			if sums[to] > sums[s.to[u]] && s.r.fits(u, to) {
				s.to[u] = to
			}
			s.heap.put(u, sums[s.to[u]]-sums[own])
		}
	}
}
