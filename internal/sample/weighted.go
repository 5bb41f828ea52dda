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

// drawBlock draws a block in stages: what a draw reads (its cell and, where that cannot tell, the sums of the node) is prefetched for the whole
// block before it is used.
func (w weightedDraws) drawBlock(c *Context, o *op, key uint64, b block, pos, near []uint32) int {
	if w.cells == nil || o.take > stagedTake || len(b.node) > blockNodes {
		return c.pickEach(o, key, b, pos, near)
	}
	k := int(o.take)
	if c.staged == nil {
		c.staged = &staged{}
	}
	s := c.staged
	drawing := s.place(w, o, key, b)
	prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(w.cells))), s.at[:drawing*k])
	w.settle(s, b, drawing, k)
	n, j := 0, 0
	for i, l := range b.local {
		start, d := b.start[i], b.degree[i]
		out := pos[n:]
		switch {
		case s.live[i] > o.take:
			out = out[:k]
			w.resolve(c, o, s.key[j], start, d, s.edge[j*k:(j+1)*k], out)
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
	live [blockNodes]uint32              // edges with a positive weight, as far as they are counted
	few  [blockNodes * stagedTake]uint32 // the first of them, of nodes that have others

	// Of each node with more such edges than are taken: its place in the block, and its key.
	node [blockNodes]uint32
	key  [blockNodes]uint64
	// Of each draw of these nodes: the place of its cell, its fraction of the cell, and the edge that it takes.
	at, fraction, edge [blockNodes * stagedTake]uint32

	doubtful [blockNodes*stagedTake + 1]uint32  // the draws that cells cannot tell
	sums     [2][blockNodes * stagedTake]uint32 // where their searches read
}

// place finds the cells of the draws of a block, and returns the number of nodes that draw.
func (s *staged) place(w weightedDraws, o *op, key uint64, b block) int {
	k, drawing := int(o.take), 0
	for i, d := range b.degree {
		s.live[i] = d
		if w.isPoor(b.node[i]) {
			s.live[i] = w.live(o, &run{start: b.start[i], n: d}, o.take, s.few[i*k:(i+1)*k])
		}
		if s.live[i] <= o.take {
			continue
		}
		h := draw.Absorb(key, uint64(b.node[i]+o.adj.first))
		start := b.start[i]
		at, fraction := s.at[drawing*k:(drawing+1)*k], s.fraction[drawing*k:(drawing+1)*k]
		for number := range at {
			g, f := cellAt(draw.At(h, uint64(number)), d)
			at[number], fraction[number] = start+g, f
		}
		s.node[drawing], s.key[drawing] = uint32(i), h
		drawing++
	}
	return drawing
}

// settle finds the edges of the first k draws of each drawing node of a block.
func (w weightedDraws) settle(s *staged, b block, drawing, k int) {
	doubtful := 0
	for j, i := range s.node[:drawing] {
		slack := cellSlack(b.degree[i])
		for at := j * k; at < (j+1)*k; at++ {
			edge, sure := w.cells[s.at[at]].take(s.fraction[at], slack)
			s.edge[at] = edge
			s.doubtful[doubtful] = uint32(at)
			if !sure {
				doubtful++
			}
		}
	}
	for n, at := range s.doubtful[:doubtful] {
		i := s.node[int(at)/k]
		s.sums[0][n], s.sums[1][n] = b.start[i]+s.edge[at], b.start[i]+b.degree[i]-1
	}
	for _, at := range s.sums {
		prefetch.Wide(unsafe.SliceData(w.prefix), at[:doubtful])
	}
	for _, at := range s.doubtful[:doubtful] {
		j := int(at) / k
		i := s.node[j]
		sums := w.prefix[b.start[i]:][:b.degree[i]]
		x := draw.Unit(draw.At(s.key[j], uint64(int(at)-j*k))) * sums[len(sums)-1]
		s.edge[at] = seek(sums, s.edge[at], x)
	}
}

// resolve turns the draws of a node, of which the first are given as edges, into positions. Draws that replace misses are made here.
func (w weightedDraws) resolve(c *Context, o *op, h uint64, start, degree uint32, edges []uint32, out []uint32) {
	took, misses, number := 0, 0, 0
	for ; took < len(out) && misses < maxMisses; number++ {
		var p uint32
		if number < len(edges) {
			p = edges[number]
		} else {
			r := draw.At(h, uint64(number))
			var sure bool
			if p, sure = w.cellEdge(r, start, degree); !sure {
				sums := w.prefix[start:][:degree]
				p = seek(sums, p, draw.Unit(r)*sums[degree-1])
			}
		}
		if p >= degree || contains(out[:took], p) {
			misses++
			continue
		}
		out[took] = p
		took++
		misses = 0
	}
	if took < len(out) {
		weight := func(i int) float64 { return w.weight(o.adj.edge(uint64(start) + uint64(i))) }
		c.walk(h, uint64(number), int(degree), uint32(len(out)), uint32(took), weight, out)
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
