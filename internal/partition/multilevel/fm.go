package multilevel

// search improves the parts by moving one node at a time, the best first, each at most once per pass, even if
// that worsens the cut for a while (k-way Fiduccia and Mattheyses).
type search struct {
	r     *refiner
	heap  *heap
	to    []uint16 // the best move of each node in the heap
	done  []bool   // moved in this pass
	moved []step
}

const (
	searchPasses = 4
	searchStall  = 100 // a pass ends after this many moves without gain, and n/searchShare more
	searchShare  = 30
)

// search improves the parts as long as a pass gains. The parts are within their caps before and after it. The data on nodes must
// be up to date; it leaves them out of date.
func (r *refiner) search() {
	s := &search{r: r, heap: newHeap(r.l.n), to: make([]uint16, r.l.n), done: make([]bool, r.l.n)}
	for range searchPasses {
		if r.stopped() || !s.pass() {
			break
		}
	}
	r.journal = r.journal[:0]
}

// pass makes one pass and reports whether it gained.
func (s *search) pass() bool {
	r := s.r
	r.boundary.each(0, len(r.boundary), s.offer)
	// The second pass begins with boundary out of date, and offers the nodes beside moves.
	r.dirty.each(0, len(r.dirty), s.offer)
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
		r.move(m.node, m.from, 0)
	}
	r.cut = best
	s.moved = s.moved[:0]
	clear(s.done)
	return best < began
}

// best is the part within its caps to which a move of v gains most: v's own part if no other part has
// neighbours of v.
func (s *search) best(v uint32) (to uint16, gain int64) {
	r := s.r
	own := r.part[v]
	to = own
	var most, inner int64
	for _, a := range r.row(&r.scratch[0], r.l, r.part, v) {
		p, w := a.part(), a.weight()
		switch {
		case p == own:
			inner = w
		case (w > most || w == most && w > 0 && p < to) && r.fits(v, p):
			to, most = p, w
		}
	}
	return to, most - inner
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
	r := s.r
	from := r.part[v]
	s.moved = append(s.moved, step{v, from})
	r.move(v, to, gain)
	for i := r.l.offsets[v]; i < r.l.offsets[v+1]; i++ {
		u := r.l.neighbours[i]
		if s.done[u] {
			continue
		}
		if !s.heap.has(u) || s.to[u] == from || r.part[u] != to && s.to[u] != to {
			s.offer(u)
			continue
		}
		// The target of u stays: u is bound to it more, or to its own part more.
		g, w := s.heap.gain[u], r.l.edge(i)
		switch r.part[u] {
		case to:
			g -= w
		case from:
			g += 2 * w
		default:
			g += w
		}
		s.heap.put(u, g)
	}
}
