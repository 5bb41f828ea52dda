package sample

import (
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/prefetch"
)

// Weighted takes edges without replacement, in proportion to a column.
const Weighted How = 2

// weighted is the strategy of Weighted.
type weighted struct{ edgewise }

func (weighted) name() string { return "weighted" }

func (weighted) traits(*Op) traits { return traits{column: needsWeights, sums: true} }

func (weighted) need(n *need, op *Op, e *graph.Edges) { n.sums(e, op.Column, op.Dir) }

func (weighted) compile(o *op, from *opSource) (drawer, error) {
	w, err := from.columns.weights(from.edges, from.op.Column, from.op.Dir, o.adj)
	return weightedDraws{w}, err
}

// weightedDraws is the drawer of Weighted.
type weightedDraws struct{ *weights }

// stagedTake is the largest take that is drawn in stages.
const stagedTake = 64

// drawBlock draws a block in stages: the data that a draw reads (the total of the node, the guide, the sums) is prefetched for the whole
// block before it is used.
func (w weightedDraws) drawBlock(c *Context, o *op, key uint64, b block, pos, near []uint32) int {
	if w.guide == nil || o.take > stagedTake || len(b.node) > blockNodes {
		return c.pickEach(o, key, b, pos, near)
	}
	k := int(o.take)
	if c.staged == nil {
		c.staged = &staged{}
	}
	s := c.staged
	drawing := 0 // nodes with more edges of positive weights than are taken
	for i := range b.local {
		s.live[i] = b.degree[i]
		if w.isPoor(b.node[i]) {
			s.live[i] = w.live(o, &run{start: b.start[i], n: b.degree[i]}, o.take, s.few[i*k:(i+1)*k])
		}
		if s.live[i] > o.take {
			s.node[drawing] = uint32(i)
			s.at[drawing] = b.start[i] + b.degree[i] - 1
			drawing++
		}
	}
	prefetch.Wide(unsafe.SliceData(w.prefix), s.at[:drawing])
	n, first := drawing*k, o.adj.first
	for j, i := range s.node[:drawing] {
		start, d := b.start[i], b.degree[i]
		h := draw.Absorb(key, uint64(b.node[i]+first))
		total, parts, base := w.prefix[start+d-1], guideParts(d), guideAt(start, b.node[i])
		s.key[j] = h
		for number := range k {
			u := draw.Unit(draw.At(h, uint64(number)))
			s.x[j*k+number] = u * total
			s.guess[j*k+number] = base + min(uint32(u*float64(parts)), parts-1)
		}
	}
	prefetch.At(unsafe.SliceData(w.guide), s.guess[:n])
	for j, i := range s.node[:drawing] {
		start := b.start[i]
		for at := j * k; at < (j+1)*k; at++ {
			s.guess[at] = start + w.guide[s.guess[at]]
		}
	}
	prefetch.Wide(unsafe.SliceData(w.prefix), s.guess[:n])
	n = 0
	j := 0
	for i, l := range b.local {
		start, d := b.start[i], b.degree[i]
		out := pos[n:]
		switch {
		case s.live[i] > o.take:
			out = out[:k]
			w.resolve(c, o, s.key[j], start, b.node[i], s.x[j*k:(j+1)*k], s.guess[j*k:(j+1)*k], w.prefix[start:start+d], out)
			j++
		case s.live[i] == d:
			out = out[:d]
			for p := range out {
				out[p] = start + uint32(p)
			}
		default:
			out = out[:s.live[i]]
			for p := range out {
				out[p] = start + s.few[i*k+p]
			}
		}
		for p := range out {
			near[n+p] = l
		}
		n += len(out)
	}
	return n
}

// staged is the draws of a block that wait for their data.
type staged struct {
	node, at [blockNodes]uint32
	live     [blockNodes]uint32              // edges with a positive weight, as far as they are counted
	few      [blockNodes * stagedTake]uint32 // the first of them, of nodes that have others
	key      [blockNodes]uint64
	x        [blockNodes * stagedTake]float64
	guess    [blockNodes * stagedTake]uint32
}

// resolve turns the draws of a node into positions. The first draws are given, by x and a guess each. Draws that
// replace misses are made here.
func (w weightedDraws) resolve(c *Context, o *op, h uint64, start, node uint32, x []float64, guess []uint32, prefix []float64, out []uint32) {
	n := uint32(len(prefix))
	total, parts := prefix[n-1], guideParts(n)
	took, misses, number := 0, 0, 0
	for ; took < len(out) && misses < maxMisses; number++ {
		var y float64
		var p uint32
		if number < len(x) {
			y, p = x[number], guess[number]-start
		} else {
			u := draw.Unit(draw.At(h, uint64(number)))
			y, p = u*total, w.guide[guideAt(start, node)+min(uint32(u*float64(parts)), parts-1)]
		}
		p = seek(prefix, p, y)
		if p >= n || contains(out[:took], p) {
			misses++
			continue
		}
		out[took] = p
		took++
		misses = 0
	}
	if took < len(out) {
		weight := func(i int) float64 { return w.weight(o.adj.edge(uint64(start) + uint64(i))) }
		c.walk(h, uint64(number), int(n), uint32(len(out)), uint32(took), weight, out)
	}
	for i := range out {
		out[i] += start
	}
}

// live is the edges of a run with a positive weight, up to one more than k: their number, and the first k of them in dst.
func (w *weights) live(o *op, r *run, k uint32, dst []uint32) uint32 {
	n := uint32(0)
	for i := uint32(0); i < r.n && n <= k; i++ {
		if w.weight(r.edge(o.adj, int(i))) > 0 {
			if n < k {
				dst[n] = i
			}
			n++
		}
	}
	return n
}

// maxMisses is the number of draws in a row that may hit edges that are taken already, before walk takes over.
const maxMisses = 16

// draw picks fewer edges than the take only where fewer have a positive weight.
func (w weightedDraws) draw(c *Context, o *op, key uint64, r *run, dst []uint32) int {
	h, k, n := draw.Absorb(key, uint64(r.node)), o.take, int(r.n)
	weight := func(i int) float64 { return w.weight(r.edge(o.adj, i)) }
	if w.poor != nil || r.n <= k {
		if live := w.live(o, r, k, dst); live <= k {
			return int(live)
		}
	}
	var prefix []float64
	if r.at == nil {
		prefix = w.prefix[r.base+uint64(r.start):][:n]
	} else {
		prefix = c.prefix[:0]
		sum := 0.0
		for i := range n {
			sum += weight(i)
			prefix = append(prefix, sum)
		}
		c.prefix = prefix
	}
	total := prefix[n-1]
	took, misses, number := uint32(0), 0, uint64(0)
	for ; took < k && misses < maxMisses; number++ {
		x := draw.Unit(draw.At(h, number)) * total
		p := sort.Search(n, func(i int) bool { return prefix[i] > x })
		if p >= n || contains(dst[:took], uint32(p)) {
			misses++
			continue
		}
		dst[took] = uint32(p)
		took++
		misses = 0
	}
	if took < k {
		c.walk(h, number, n, k, took, weight, dst)
	}
	return int(k)
}

// walk makes the draws from number on among the edges that are left, in order. Heavy edges, which a search in the sums
// would hit again and again, are no longer among them.
func (c *Context) walk(h, number uint64, n int, k, took uint32, weight func(int) float64, dst []uint32) {
	if cap(c.rest) < n {
		c.rest = make([]float64, n)
	}
	rest := c.rest[:n] // the weights of the edges that are left, 0 for the others
	for i := range rest {
		rest[i] = weight(i)
	}
	for _, p := range dst[:took] {
		rest[p] = 0
	}
	for ; took < k; took, number = took+1, number+1 {
		total, last := 0.0, 0
		for i, x := range rest {
			total += x
			if x > 0 {
				last = i
			}
		}
		x, sum, p := draw.Unit(draw.At(h, number))*total, 0.0, last
		for i, y := range rest {
			sum += y
			if y > 0 && sum > x {
				p = i
				break
			}
		}
		dst[took] = uint32(p)
		rest[p] = 0
	}
}

func contains(list []uint32, x uint32) bool {
	for _, y := range list {
		if y == x {
			return true
		}
	}
	return false
}
