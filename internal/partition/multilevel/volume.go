package multilevel

// volume counts the neighbours of each node in each part, while the communication volume is reduced.
type volume struct {
	l     *level
	part  []uint16
	parts []uint16 // the parts with neighbours of node v, from offsets[v] on
	count []uint32 // the number of neighbours in each of these parts
	used  []uint32 // by node: the number of these parts
	// Of one node at a time, by part.
	known   []uint32 // the number of its neighbours that already have another neighbour in the part
	touched []uint16
}

const (
	volumePasses = 10
	volumeEnough = 0.001 // least gain of a pass, as a share of the volume, for another pass
)

// reduceVolume moves nodes of the finest level, one by one, as long as that reduces the communication volume.
// No move makes a part exceed its caps.
func (r *run) reduceVolume(l *level, c candidate) candidate {
	v := &volume{
		l: l, part: c.part,
		parts: takeZeros[uint16](r.m, len(l.neighbours)), count: takeZeros[uint32](r.m, len(l.neighbours)), used: takeZeros[uint32](r.m, l.n),
		known: make([]uint32, r.parts),
	}
	defer func() {
		give(r.m, v.parts)
		give(r.m, v.count)
		give(r.m, v.used)
	}()
	var total int64
	for u := range uint32(l.n) {
		if u&0xffff == 0 && r.stopped() {
			return c
		}
		for _, w := range l.neighbours[l.offsets[u]:l.offsets[u+1]] {
			v.add(u, c.part[w])
		}
		total += int64(v.outside(u))
	}
	f := newRefiner(r.alone(), r.m, l, r.parts, r.caps, c.part, bitmapOf(r.m, l.n), r.seed)
	defer f.free()
	defer give(r.m, f.boundary)
	for range volumePasses {
		before := total
		for u := range uint32(l.n) {
			if u&0xfff == 0 && r.stopped() {
				return c
			}
			if v.outside(u) == 0 {
				continue
			}
			if to, gain, ok := v.best(f, u); ok {
				v.move(u, to)
				f.assign(u, to)
				total -= gain
			}
		}
		f.journal = f.journal[:0]
		if float64(before-total) < volumeEnough*float64(before) || total == before {
			break
		}
	}
	c.cut = l.cut(c.part)
	return c
}

// row is the range of u's entries in parts and count.
func (v *volume) row(u uint32) (from, to uint32) {
	from = v.l.offsets[u]
	return from, from + v.used[u]
}

// outside is the number of other parts with neighbours of u: its share of the volume.
func (v *volume) outside(u uint32) int {
	n := int(v.used[u])
	if v.find(u, v.part[u]) != stay {
		n--
	}
	return n
}

// find is the index of part p in the row of u, or stay.
func (v *volume) find(u uint32, p uint16) uint32 {
	from, to := v.row(u)
	for i := from; i < to; i++ {
		if v.parts[i] == p {
			return i
		}
	}
	return stay
}

// add counts one more neighbour of u in p.
func (v *volume) add(u uint32, p uint16) {
	i := v.find(u, p)
	if i == stay {
		_, i = v.row(u)
		v.parts[i], v.count[i] = p, 0
		v.used[u]++
	}
	v.count[i]++
}

// drop counts one neighbour of u in p less.
func (v *volume) drop(u uint32, p uint16) {
	i := v.find(u, p)
	if v.count[i]--; v.count[i] == 0 {
		_, to := v.row(u)
		v.parts[i], v.count[i] = v.parts[to-1], v.count[to-1]
		v.used[u]--
	}
}

// best is the move of u that reduces the volume most; ok if it does reduce it.
func (v *volume) best(f *refiner, u uint32) (to uint16, gain int64, ok bool) {
	own := v.part[u]
	neighbours := v.l.neighbours[v.l.offsets[u]:v.l.offsets[u+1]]
	var freed int64 // neighbours that no longer need the part of u
	for _, w := range neighbours {
		pw := v.part[w]
		from, end := v.row(w)
		seen := false
		for i := from; i < end; i++ {
			p := v.parts[i]
			if p == own && v.count[i] == 1 && own != pw {
				freed++
			}
			seen = seen || p == pw
			v.learn(p)
		}
		if !seen {
			v.learn(pw)
		}
	}
	inner := int64(0)
	if v.find(u, own) != stay {
		inner = 1
	}
	from, end := v.row(u)
	for i := from; i < end; i++ {
		p := v.parts[i]
		if p == own || !f.fits(u, p) {
			continue
		}
		// After the move, u needs its old part, if it has neighbours there, and no longer its new one.
		g := freed + 1 - inner - int64(len(neighbours)-int(v.known[p]))
		if g > gain || g == gain && ok && p < to {
			to, gain, ok = p, g, true
		}
	}
	for _, p := range v.touched {
		v.known[p] = 0
	}
	v.touched = v.touched[:0]
	return to, gain, ok
}

func (v *volume) learn(p uint16) {
	if v.known[p] == 0 {
		v.touched = append(v.touched, p)
	}
	v.known[p]++
}

// move updates the neighbours of u when it moves to another part.
func (v *volume) move(u uint32, to uint16) {
	for _, w := range v.l.neighbours[v.l.offsets[u]:v.l.offsets[u+1]] {
		v.drop(w, v.part[u])
		v.add(w, to)
	}
}
