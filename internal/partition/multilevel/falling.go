package multilevel

// In graphs with hubs and without communities, most edges join a hub. The best parts then have all hubs in one part, together
// with the nodes beside them, and coarsening does not find them, because hubs exceed the weight of a cluster. Filling the parts in
// the order of falling degree does.

const (
	fillShare  = 0.5  // of the room between the mean and the cap: the rest is for refinement
	fallSkewed = 0.4  // least share of the edge ends at the nodes that fill the first part, for the start to be tried
	fallWorth  = 1.25 // most cut of the filled parts, as a share of the other start's, for them to be refined
	fallAlone  = 0.9  // the same, for the other start not to be refined
	fallGain   = 0.97 // most cut of the refined parts, as a share of the other's, for them to be taken, as their edges are uneven
)

// withFalling refines a start down to the first level, or takes the start by falling degree, if that cuts less. It releases the
// other levels.
func (r *run) withFalling(levels []*level, c candidate) (best candidate, falling bool) {
	filled, ok := r.falling(levels[0])
	if !ok || float64(filled.cut) > fallWorth*float64(c.cut) {
		filled.free(r.m)
		return r.finish(levels, c), false
	}
	if float64(filled.cut) <= fallAlone*float64(c.cut) {
		c.free(r.m)
		for _, l := range levels[1:] {
			r.progress.refined(l)
		}
		r.release(levels)
		filled = r.refine(r.team, levels[0], filled, r.progress)
		r.progress.refined(levels[0])
		return filled, true
	}
	best = r.finish(levels, c)
	filled = r.refine(r.team, levels[0], filled, nil)
	if filled.over > best.over || filled.over == best.over && float64(filled.cut) > fallGain*float64(best.cut) {
		filled.free(r.m)
		return best, false
	}
	best.free(r.m)
	return filled, true
}

// falling fills the parts one after the other with the nodes in the order of falling degree, ties by node. ok is false if that
// cannot win: if nodes have weights, or if their degrees are too even.
func (r *run) falling(l *level) (c candidate, ok bool) {
	if l.weights != nil {
		return candidate{}, false
	}
	most := 0
	for v := range uint32(l.n) {
		most = max(most, l.degree(v))
	}
	nodes := make([]uint32, most+2) // by degree: the number of nodes, then the place of the first of them in the order
	for v := range uint32(l.n) {
		nodes[l.degree(v)]++
	}
	mean := float64(l.n) / float64(r.parts)
	each := max(int(mean+fillShare*(float64(r.caps[0])-mean)), (l.n+r.parts-1)/r.parts)
	ends, at := 0, uint32(0)
	for d := most; d >= 0; d-- {
		ends += d * min(int(nodes[d]), max(each-int(at), 0))
		nodes[d], at = at, at+nodes[d]
	}
	if float64(ends) < fallSkewed*float64(len(l.neighbours)) {
		return candidate{}, false
	}
	c = candidate{part: takeZeros[uint16](r.m, l.n), boundary: bitmapOf(r.m, l.n)}
	for v := range uint32(l.n) {
		d := l.degree(v)
		c.part[v] = uint16(int(nodes[d]) / each)
		nodes[d]++
	}
	c.boundary.fill(l.n)
	c.cut = l.cut(c.part)
	return c, true
}
