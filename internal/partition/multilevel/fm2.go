package multilevel

// halving divides a level in two by moving one node at a time (Fiduccia and Mattheyses). The level has one
// constraint.
type halving struct {
	team
	l      *level
	side   []uint8
	load   [2]int64
	want   [2]int64 // the target weights
	caps   [2]int64
	cut    int64
	heaps  [2]*heap // nodes of each side that may move, by gain
	done   []bool   // moved in this pass
	moved  []uint32 // in the order of the moves
	random random
}

const (
	halvingPasses = 6
	halvingStall  = 60 // a pass ends after this many moves without gain, and n/50 more
)

func newHalving(t team, l *level, want, caps [2]int64, r random) *halving {
	return &halving{
		team: t, l: l, side: make([]uint8, l.n), want: want, caps: caps,
		heaps: [2]*heap{newHeap(l.n), newHeap(l.n)}, done: make([]bool, l.n), random: r,
	}
}

// reset puts every node on side 1.
func (h *halving) reset() {
	for v := range h.side {
		h.side[v] = 1
	}
	h.load = [2]int64{0, h.l.totals[0]}
	h.cut = 0
}

// adopt copies a division.
func (h *halving) adopt(side []uint8) {
	copy(h.side, side)
	h.load = [2]int64{}
	h.cut = 0
	for v := range uint32(h.l.n) {
		h.load[h.side[v]] += h.l.weight(v, 0)
		for i := h.l.offsets[v]; i < h.l.offsets[v+1]; i++ {
			if h.side[v] != h.side[h.l.neighbours[i]] {
				h.cut += h.l.edge(i)
			}
		}
	}
	h.cut /= 2
}

// gain is the decrease of the cut when v changes sides.
func (h *halving) gain(v uint32) (gain int64, boundary bool) {
	for i := h.l.offsets[v]; i < h.l.offsets[v+1]; i++ {
		if h.side[h.l.neighbours[i]] != h.side[v] {
			gain += h.l.edge(i)
			boundary = true
		} else {
			gain -= h.l.edge(i)
		}
	}
	return gain, boundary
}

// flip moves v, whose gain is given, to the other side and calls f for each neighbour.
func (h *halving) flip(v uint32, gain int64) {
	from := h.side[v]
	w := h.l.weight(v, 0)
	h.load[from] -= w
	h.load[1-from] += w
	h.side[v] = 1 - from
	h.cut -= gain
}

// touch updates the heaps after the move of v.
func (h *halving) touch(v uint32) {
	for i := h.l.offsets[v]; i < h.l.offsets[v+1]; i++ {
		u := h.l.neighbours[i]
		if h.done[u] {
			continue
		}
		side := h.side[u]
		heap := h.heaps[side]
		if !heap.has(u) {
			gain, _ := h.gain(u)
			heap.put(u, gain)
			continue
		}
		if w := 2 * h.l.edge(i); side == h.side[v] {
			heap.put(u, heap.gain[u]-w)
		} else {
			heap.put(u, heap.gain[u]+w)
		}
	}
}

// grow moves nodes from side 1 to side 0 until that has its weight. It begins at a random node and then moves
// the neighbour of moved nodes that costs least.
func (h *halving) grow() {
	h.reset()
	heap := h.heaps[1]
	next := h.random.below(h.l.n)
	for h.load[0] < h.want[0] {
		if heap.len() == 0 {
			for h.side[next] == 0 || h.done[next] {
				next = (next + 1) % h.l.n
			}
			gain, _ := h.gain(uint32(next))
			heap.put(uint32(next), gain)
		}
		v := heap.pop()
		h.done[v] = true
		h.moved = append(h.moved, v)
		if h.load[0]+h.l.weight(v, 0) > h.caps[0] && len(h.moved) < h.l.n {
			continue
		}
		if len(h.moved) == h.l.n {
			break
		}
		h.flip(v, heap.gain[v])
		h.touch(v)
	}
	h.clear()
}

// scatter moves random nodes to side 0 until that has its weight.
func (h *halving) scatter() {
	side := make([]uint8, h.l.n)
	order := make([]uint32, h.l.n)
	for v := range order {
		j := h.random.below(v + 1)
		order[v] = order[j]
		order[j] = uint32(v)
		side[v] = 1
	}
	var load int64
	for _, v := range order {
		if load >= h.want[0] {
			break
		}
		side[v] = 0
		load += h.l.weight(v, 0)
	}
	h.adopt(side)
}

func (h *halving) clear() {
	h.heaps[0].clear()
	h.heaps[1].clear()
	clear(h.done)
	h.moved = h.moved[:0]
}

// over is the weight by which the sides exceed their caps.
func (h *halving) over() int64 {
	return max(h.load[0]-h.caps[0], 0) + max(h.load[1]-h.caps[1], 0)
}

// refine makes passes until one gains nothing.
func (h *halving) refine() {
	for range halvingPasses {
		if h.stopped() || !h.pass() {
			return
		}
	}
}

// pass moves nodes one by one, each once, the best first, and returns to the best division on the way. It
// reports whether that is better than the initial one.
func (h *halving) pass() bool {
	for v := range uint32(h.l.n) {
		if gain, boundary := h.gain(v); boundary || h.over() > 0 {
			h.heaps[h.side[v]].put(v, gain)
		}
	}
	cut, over := h.cut, h.over()
	bestCut, bestOver, best := cut, over, 0
	for len(h.moved)-best < halvingStall+h.l.n/50 {
		v, gain, ok := h.choose()
		if !ok || len(h.moved)&0xfff == 0xfff && h.stopped() {
			break
		}
		h.done[v] = true
		h.flip(v, gain)
		h.touch(v)
		h.moved = append(h.moved, v)
		if o := h.over(); o < bestOver || o == bestOver && h.cut < bestCut {
			bestCut, bestOver, best = h.cut, o, len(h.moved)
		}
	}
	for i := len(h.moved) - 1; i >= best; i-- {
		h.flip(h.moved[i], 0)
	}
	h.cut = bestCut
	h.clear()
	return bestOver < over || bestOver == over && bestCut < cut
}

// choose returns the next node to move: from the side that is too heavy if one is, else the best of both sides
// that leaves the other side within its cap.
func (h *halving) choose() (v uint32, gain int64, ok bool) {
	for {
		var side int
		switch {
		case h.load[0] > h.caps[0]:
			side = 0
		case h.load[1] > h.caps[1]:
			side = 1
		case h.heaps[0].len() == 0:
			side = 1
		case h.heaps[1].len() == 0:
			side = 0
		default:
			a, b := h.heaps[0].nodes[0], h.heaps[1].nodes[0]
			ga, gb := h.heaps[0].gain[a], h.heaps[1].gain[b]
			if gb > ga || gb == ga && h.load[1]-h.want[1] > h.load[0]-h.want[0] {
				side = 1
			}
		}
		heap := h.heaps[side]
		if heap.len() == 0 {
			return 0, 0, false
		}
		v = heap.pop()
		to := 1 - side
		if h.load[to]+h.l.weight(v, 0) > h.caps[to] && h.load[side] <= h.caps[side] {
			continue
		}
		return v, heap.gain[v], true
	}
}
