package multilevel

import (
	"math"
	"math/bits"
)

const (
	bisectLeast  = 30 // number of nodes below which a graph is bisected without further coarsening
	bisectShrink = 2.2
	bisectTries  = 5
	bisectGrown  = 4 // number of tries that begin by growing; the others begin at random
)

// bisector divides small graphs by recursive bisection.
type bisector struct {
	t     team
	m     *memory
	whole int // number of bisections tried at each division
}

// divide sets the part of every node to first..first+parts-1. The level has one constraint; no part should be
// heavier than limit.
func (b *bisector) divide(l *level, parts int, limit float64, seed uint64, nodes []uint32, part []uint16, first int) {
	if parts == 1 || l.n == 0 || b.t.stopped() {
		for _, v := range nodes {
			part[v] = uint16(first)
		}
		return
	}
	left := (parts + 1) / 2
	total := float64(l.totals[0])
	depth := float64(bits.Len(uint(parts - 1)))
	// The slack of all levels of the recursion together, spread evenly over them.
	slack := math.Pow(max(limit*float64(parts)/max(total, 1), 1), 1/depth)
	want := [2]int64{int64(math.Round(total * float64(left) / float64(parts)))}
	want[1] = l.totals[0] - want[0]
	caps := [2]int64{
		int64(math.Ceil(slack * float64(want[0]))),
		int64(math.Ceil(slack * float64(want[1]))),
	}
	side := b.bisect(l, want, caps, seed)
	halves := [2]*level{}
	ids := [2][]uint32{}
	for s := range halves {
		halves[s], ids[s] = l.half(side, uint8(s), nodes)
	}
	b.divide(halves[0], left, limit, mix(seed+1), ids[0], part, first)
	b.divide(halves[1], parts-left, limit, mix(seed+2), ids[1], part, first+left)
}

// half returns the graph of the nodes on side s, and their names in nodes.
func (l *level) half(side []uint8, s uint8, nodes []uint32) (*level, []uint32) {
	number := make([]uint32, l.n)
	h := &level{constraints: 1, totals: []int64{0}, offsets: []uint32{0}}
	var ids []uint32
	for v := range uint32(l.n) {
		if side[v] == s {
			number[v] = uint32(h.n)
			h.n++
			ids = append(ids, nodes[v])
		}
	}
	h.weights = make([]uint32, 0, h.n)
	for v := range uint32(l.n) {
		if side[v] != s {
			continue
		}
		h.weights = append(h.weights, uint32(l.weight(v, 0)))
		h.totals[0] += l.weight(v, 0)
		for i := l.offsets[v]; i < l.offsets[v+1]; i++ {
			if u := l.neighbours[i]; side[u] == s {
				h.neighbours = append(h.neighbours, number[u])
				h.edges = append(h.edges, uint32(l.edge(i)))
			}
		}
		h.offsets = append(h.offsets, uint32(len(h.neighbours)))
	}
	return h, ids
}

// bisect divides a graph in two several times and keeps the best division.
func (b *bisector) bisect(l *level, want, caps [2]int64, seed uint64) []uint8 {
	var best []uint8
	var bestCut, bestOver int64
	for i := range b.whole {
		h := b.once(l, want, caps, mix(seed+uint64(100+i)))
		if o := h.over(); best == nil || o < bestOver || o == bestOver && h.cut < bestCut {
			best, bestCut, bestOver = h.side, h.cut, o
		}
	}
	return best
}

func (b *bisector) once(l *level, want, caps [2]int64, seed uint64) *halving {
	levels := []*level{l}
	for last := l; last.n > bisectLeast && !b.t.stopped(); {
		k := cluster(b.t, b.m, last, clusterRule{
			caps:   []int64{max(min(want[0], want[1])/20, 1)},
			rounds: 2,
			least:  int(float64(last.n) / bisectShrink),
			seed:   mix(seed + uint64(len(levels))),
		})
		if float64(k.count) > 0.95*float64(last.n) {
			k.free(b.m)
			break
		}
		last = contract(b.t, b.m, last, k)
		levels = append(levels, last)
	}
	last := len(levels) - 1
	var side []uint8
	var bestCut, bestOver int64
	h := newHalving(b.t, levels[last], want, caps, stream(seed, 7))
	for try := range bisectTries {
		if try < bisectGrown {
			h.grow()
		} else {
			h.scatter()
		}
		h.refine()
		if o := h.over(); side == nil || o < bestOver || o == bestOver && h.cut < bestCut {
			side = append(side[:0], h.side...)
			bestCut, bestOver = h.cut, o
		}
	}
	h.adopt(side)
	for i := last - 1; i >= 0; i-- {
		l := levels[i]
		up := make([]uint8, l.n)
		for v := range up {
			up[v] = h.side[l.coarse[v]]
		}
		levels[i+1].free(b.m)
		give(b.m, l.coarse)
		l.coarse = nil
		h = newHalving(b.t, l, want, caps, random(0))
		h.adopt(up)
		h.refine()
	}
	return h
}
