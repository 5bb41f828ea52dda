package multilevel

import "slices"

// candidate is a division of one level.
type candidate struct {
	at       int // index of the level
	part     []uint16
	boundary bitmap // the nodes that may have a neighbour in another part
	cut      int64
	over     float64 // overload
}

// compare orders candidates, the better one first.
func (c candidate) compare(d candidate) int {
	switch {
	case c.over < d.over || c.over == d.over && c.cut < d.cut:
		return -1
	case c.over == d.over && c.cut == d.cut:
		return 0
	}
	return 1
}

func (c candidate) free(m *memory) {
	give(m, c.part)
	give(m, c.boundary)
}

const (
	startWork  = 0.25 // most edges of all candidates of a level, as a share of the edges of the graph
	startParts = 16   // with more parts there are fewer candidates, as they differ less
	startFew   = 2    // candidates of the last level, however many edges it has
	crossNodes = 120  // nodes per part from which on candidates are crossed
	crossShare = 8    // levels with more than 1/crossShare of the edges do not cross candidates
	crossParts = 255  // with more parts candidates are not crossed, because pairs of parts are 16 bits
	startsMany = 4    // the most starts with several constraints, because boundaries are then long; large graphs are exempt, as starts cost them little
)

// start divides the last level several times. The candidates descend, refined on each level, until one is left. Where crossing
// costs little, the better half is crossed with the worse half before it descends. On other levels, as many candidates stay
// as the level's edges allow.
func (r *run) start(levels []*level) candidate {
	at := len(levels) - 1
	count := max(r.affordable(levels, at), min(startFew, r.starts))
	if levels[0].constraints > 1 && !r.large {
		count = min(count, startsMany)
	}
	starts := make([]candidate, count)
	r.blocks(count, func(_, i int) { starts[i] = r.divide(levels, mix(r.seed+1000+uint64(i))) })
	for ; len(starts) > 1 && !r.stopped(); at-- {
		if levels[at].n > crossNodes*r.parts && r.crossable(levels, at) {
			starts = r.pair(levels[at], starts)
		}
		if at == 0 {
			break
		}
		starts = r.keep(starts, min(len(starts), r.affordable(levels, at-1)))
		if len(starts) > 1 {
			r.blocks(len(starts), func(_, i int) { starts[i] = r.descend(r.alone(), levels, starts[i]) })
		}
	}
	return r.keep(starts, 1)[0]
}

// affordable is the number of candidates that may be refined on a level.
func (r *run) affordable(levels []*level, at int) int {
	share := startWork * float64(len(levels[0].neighbours)) / float64(max(len(levels[at].neighbours), 1))
	return int(min(max(share, 1), float64(r.starts), max(float64(r.starts*startParts)/float64(r.parts), startFew)))
}

// crossable reports whether crossing starts on a level costs little.
func (r *run) crossable(levels []*level, at int) bool {
	return len(levels[at].neighbours) <= len(levels[0].neighbours)/crossShare && r.parts <= crossParts
}

// pair crosses the best start with the worst, the second best with the second worst, and so on, and returns
// the better half.
func (r *run) pair(l *level, starts []candidate) []candidate {
	slices.SortStableFunc(starts, candidate.compare)
	half := (len(starts) + 1) / 2
	r.blocks(half, func(_, i int) {
		if j := len(starts) - 1 - i; j > i {
			starts[i] = r.cross(l, starts[i], starts[j].part, i+1)
		}
	})
	return r.keep(starts, half)
}

// cross improves c over new levels above l, on which the parts of c and of other both stay separate. Where the
// two agree, nodes move together; where they differ, a single move does what other does better (after KaFFPaE,
// Sanders and Schulz 2012).
func (r *run) cross(l *level, c candidate, other []uint16, number int) candidate {
	one := *r
	one.team, one.progress = r.alone(), nil
	own := *l
	own.coarse = nil
	within := takeZeros[uint16](r.m, l.n)
	defer give(r.m, within)
	for v := range within {
		within[v] = c.part[v]*uint16(r.parts) + other[v]
	}
	levels, pairs := one.coarsen(&own, within, number)
	last := len(levels) - 1
	if last == 0 || r.stopped() {
		return c
	}
	top := levels[last]
	again := candidate{at: last, part: takeZeros[uint16](r.m, top.n), boundary: bitmapOf(r.m, top.n), cut: c.cut}
	again.boundary.fill(top.n)
	for v, p := range pairs {
		again.part[v] = p / uint16(r.parts)
	}
	give(r.m, pairs)
	at := c.at
	c.free(r.m)
	c = one.finish(levels, one.refine(one.team, top, again, nil))
	c.at = at
	return c
}

// keep returns the best n candidates.
func (r *run) keep(c []candidate, n int) []candidate {
	slices.SortStableFunc(c, candidate.compare)
	for _, d := range c[n:] {
		d.free(r.m)
	}
	return c[:n]
}

// divide divides the last level by recursive bisection and refines the result.
func (r *run) divide(levels []*level, seed uint64) candidate {
	at := len(levels) - 1
	l := levels[at]
	c := candidate{at: at, part: takeZeros[uint16](r.m, l.n), boundary: bitmapOf(r.m, l.n)}
	c.boundary.fill(l.n)
	nodes := make([]uint32, l.n)
	for v := range nodes {
		nodes[v] = uint32(v)
	}
	flat := r.flatten(l)
	b := bisector{t: r.alone(), m: r.m, whole: r.whole}
	imbalance := float64(r.caps[0]) / max(float64(l.totals[0]), 1)
	b.divide(flat, r.parts, imbalance*float64(flat.totals[0]), seed, nodes, c.part, 0)
	c.cut = l.cut(c.part)
	return r.refine(r.alone(), l, c, nil)
}

// flatten returns a level with one constraint: the sum of all, each as a share of its total.
func (r *run) flatten(l *level) *level {
	flat := *l
	flat.coarse = nil
	if l.constraints == 1 {
		return &flat
	}
	const whole = 1 << 30
	flat.constraints, flat.weights, flat.totals = 1, make([]uint32, l.n), []int64{0}
	for v := range uint32(l.n) {
		var w float64
		for c := range l.constraints {
			w += float64(l.weight(v, c)) / float64(l.totals[c])
		}
		flat.weights[v] = uint32(w * whole / float64(l.constraints))
		flat.totals[0] += int64(flat.weights[v])
	}
	return &flat
}

// descend projects a candidate to the level below and refines it there.
func (r *run) descend(t team, levels []*level, c candidate) candidate {
	return r.refine(t, levels[c.at-1], r.project(t, levels, c), nil)
}

// project projects a candidate to the level below.
func (r *run) project(t team, levels []*level, c candidate) candidate {
	l := levels[c.at-1]
	below := candidate{at: c.at - 1, part: takeZeros[uint16](r.m, l.n), boundary: bitmapOf(r.m, l.n), cut: c.cut, over: c.over}
	const size = refineWords * 64
	t.blocks((l.n+size-1)/size, func(_, block int) {
		for v := block * size; v < min((block+1)*size, l.n); v++ {
			above := l.coarse[v]
			below.part[v] = c.part[above]
			if c.boundary.has(above) {
				below.boundary.set(uint32(v))
			}
		}
	})
	c.free(r.m)
	return below
}

// finish projects a candidate down to the first of levels, and releases the other levels.
func (r *run) finish(levels []*level, c candidate) candidate {
	for c.at > 0 && !r.stopped() {
		c = r.project(r.team, levels, c)
		levels[c.at+1].free(r.m)
		give(r.m, levels[c.at].coarse)
		levels[c.at].coarse = nil
		c = r.refine(r.team, levels[c.at], c, r.progress)
		r.progress.refined(levels[c.at])
	}
	return c
}

// release releases all levels but the first.
func (r *run) release(levels []*level) {
	for i := len(levels) - 1; i > 0; i-- {
		levels[i].free(r.m)
		give(r.m, levels[i-1].coarse)
		levels[i-1].coarse = nil
	}
}

const (
	share       = 0.5   // share of a node's affinity to its part that a move may lose at first
	shareFinest = 0.25  // on the graph itself
	enough      = 0.001 // least gain of a round, as a share of the cut
	enoughMany  = 0.005 // the same with several constraints
	brief       = 4     // rounds without that gain, on levels of more than briefFrom nodes
	briefFrom   = 100_000
	searchTable = 2_000_000 // nodes times parts up to which a level is searched node by node
)

// refine improves the parts of a level. It tells p, if not nil, of its rounds, but not of the end.
func (r *run) refine(t team, l *level, c candidate, p *progress) candidate {
	f := newRefiner(t, r.m, l, r.parts, r.caps, c.part, c.boundary, r.seed)
	f.cut, f.progress = c.cut, p
	if r.weighted {
		f.cut = l.cut(c.part) // bounded weights of coarse edges make the sum inexact
	}
	e := effort{share: share, rounds: r.rounds, enough: enough}
	if l.constraints > 1 {
		e.enough = enoughMany
	}
	if c.at == 0 {
		e.share = shareFinest
	}
	if l.n > briefFrom {
		e.rounds = min(e.rounds, brief)
	}
	f.jet(e)
	if r.setting.search && l.n*r.parts <= searchTable && f.overload() == 0 {
		f.search()
		f.look(e.share)
	}
	f.free()
	c.boundary, c.cut, c.over = f.boundary, f.cut, f.overload()
	return c
}
