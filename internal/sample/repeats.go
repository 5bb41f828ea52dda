package sample

// repeats notes which edges each op drew of each near node, so that an op that expands a node again can drop what it draws
// again. It serves an edge type that all ops walk in one direction: an edge is then drawn again only at the same node.
// Nearly all nodes have one short run, so this is much cheaper than a set of all edges.
//
// Slots of last hold base + the number of a run. A value below base belongs to an earlier subgraph, so a new subgraph starts
// without clearing the list.
type repeats struct {
	last []uint32 // by local id of the near node: its latest run
	base uint32
	list []drawnRun

	few  [fewSlots]uint32 // the tick of the last call that noted an edge there
	tick uint32
	many *idSet // the edges of a node with many
}

// drawnRun is edges of one near node, which stand together in an edgeBuffer.
type drawnRun struct {
	first, n uint32
	earlier  uint32 // 1 + the number of the run of the same node before this one; 0 for none
}

const (
	fewSlots = 1 << 10
	fewEdges = 128 // edges that are looked up in few: two edges then seldom have the same slot
)

// begin forgets all runs.
func (r *repeats) begin() {
	r.base += uint32(len(r.list))
	r.list = r.list[:0]
	if r.base >= maxBase || r.base == 0 {
		clear(r.last)
		r.base = 1
	}
}

// keep drops, of the n edges that an op drew after the last one of e, those that an earlier op drew, and returns the number
// of the others. The edges of a node stand together in near, whose ids are below nodes. With always it drops none.
func (r *repeats) keep(e *edgeBuffer, near []uint32, nodes uint32, always bool) int {
	if int(nodes) > len(r.last) {
		last := make([]uint32, max(2*len(r.last), int(nodes)))
		copy(last, r.last)
		r.last = last
	}
	to := e.n
	for at := 0; at < len(near); {
		l, end := near[at], at+1
		for end < len(near) && near[end] == l {
			end++
		}
		first, from := to, e.n+at
		this := drawnRun{first: uint32(first)}
		if known := r.last[l]; known >= r.base {
			this.earlier = known - r.base + 1
		}
		if this.earlier > 0 && !always {
			to = r.fresh(e, this.earlier, from, e.n+end, to)
		} else {
			to = e.move(from, e.n+end, to)
		}
		this.n = uint32(to - first)
		r.last[l] = r.base + uint32(len(r.list))
		r.list = append(r.list, this)
		at = end
	}
	return to - e.n
}

// fresh moves the edges from..end of a node that are in none of its runs to the places from to on. It returns the
// place after them.
func (r *repeats) fresh(e *edgeBuffer, earlier uint32, from, end, to int) int {
	count := end - from
	for at := earlier; at > 0; at = r.list[at-1].earlier {
		count += int(r.list[at-1].n)
	}
	if count > fewEdges {
		return r.freshOfMany(e, earlier, from, end, to, count)
	}
	r.tick++
	if r.tick == 0 {
		clear(r.few[:])
		r.tick = 1
	}
	for at := earlier; at > 0; at = r.list[at-1].earlier {
		x := &r.list[at-1]
		for i := x.first; i < x.first+x.n; i++ {
			r.few[fewSlot(e.edge(int(i)))] = r.tick
		}
	}
	for i := from; i < end; i++ {
		id := e.edge(i)
		if r.few[fewSlot(id)] == r.tick && r.holds(e, earlier, id) {
			continue
		}
		e.move(i, i+1, to)
		to++
	}
	return to
}

func fewSlot(id uint64) uint64 { return id * hashMul >> (64 - 10) }

// holds says whether a run of a node has an edge.
func (r *repeats) holds(e *edgeBuffer, earlier uint32, id uint64) bool {
	for at := earlier; at > 0; at = r.list[at-1].earlier {
		x := &r.list[at-1]
		for i := x.first; i < x.first+x.n; i++ {
			if e.edge(int(i)) == id {
				return true
			}
		}
	}
	return false
}

func (r *repeats) freshOfMany(e *edgeBuffer, earlier uint32, from, end, to, count int) int {
	if r.many == nil {
		r.many = &idSet{wide: e.isWide}
	}
	r.many.begin()
	r.many.reserve(count)
	for at := earlier; at > 0; at = r.list[at-1].earlier {
		x := &r.list[at-1]
		for i := x.first; i < x.first+x.n; i++ {
			r.many.add(e.edge(int(i)))
		}
	}
	for i := from; i < end; i++ {
		if r.many.add(e.edge(i)) {
			e.move(i, i+1, to)
			to++
		}
	}
	return to
}

// move moves the edges from..end to an earlier place, and returns the place after them there.
func (e *edgeBuffer) move(from, end, to int) int {
	if from != to {
		copy(e.src[to:], e.src[from:end])
		copy(e.dst[to:], e.dst[from:end])
		if e.isWide {
			copy(e.wide[to:], e.wide[from:end])
		} else {
			copy(e.id[to:], e.id[from:end])
		}
		if e.weighs {
			copy(e.weight[to:], e.weight[from:end])
		}
	}
	return to + end - from
}
