package sample

import (
	"math"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/prefetch"
	"github.com/graphmill/graphmill/internal/tagged"
)

// weights is a column of weights along an adjacency.
type weights struct {
	*values
	// prefix holds, by position, the sum of the weights of the node's edges up to this one, inclusive.
	prefix []float64
	poor   []uint64 // a bit per node: it has a weight that is 0, negative or NaN. nil where no node has one.
	// guide holds, for equal parts of the total of a node, the position in its sums where the part begins: degree/guideEdges + 1
	// entries from guideAt on. A search starts there and is still exact, so the guide only changes its speed. It is nil
	// where its places do not fit 32 bits, and for a wide edge type.
	guide []uint32
}

// guideEdges is the number of edges per entry of the guide.
const guideEdges = 2

// guideParts is the number of entries of a node in the guide.
func guideParts(degree uint32) uint32 { return degree/guideEdges + 1 }

// guideAt is the place of the first entry of node v. It is at least the number of entries of all nodes before it.
func guideAt(start, v uint32) uint32 { return start/guideEdges + v }

// columnCache holds the columns that several ops share.
type columnCache struct {
	byName   map[string]*values
	byWeight map[string]*weights
	byTime   map[timeOrder]bool // ascends
}

func newColumnCache() *columnCache {
	return &columnCache{map[string]*values{}, map[string]*weights{}, map[timeOrder]bool{}}
}

// timeOrder is a column of times in the order of an adjacency.
type timeOrder struct {
	adj   *adjacency
	times *values
}

func (c *columnCache) ascending(a *adjacency, times *values) bool {
	order := timeOrder{a, times}
	up, known := c.byTime[order]
	if !known {
		up = ascends(a, times)
		c.byTime[order] = up
	}
	return up
}

func (c *columnCache) values(e *graph.Edges, name string) (*values, error) {
	key := e.Type.String() + "\x00" + name
	if v := c.byName[key]; v != nil {
		return v, nil
	}
	v, err := readValues(e, name)
	c.byName[key] = v
	return v, err
}

// nodeValues is values for a column of nodes.
func (c *columnCache) nodeValues(n *graph.Nodes, name string) (*values, error) {
	key := "\x00" + n.Type + "\x00" + name
	if v := c.byName[key]; v != nil {
		return v, nil
	}
	v, err := readNodeValues(n, name)
	c.byName[key] = v
	return v, err
}

func (c *columnCache) weights(e *graph.Edges, name string, dir graph.Direction, a *adjacency) (*weights, error) {
	key := e.Type.String() + "\x00" + name + "\x00" + dir.String()
	if w := c.byWeight[key]; w != nil {
		return w, nil
	}
	v, err := c.values(e, name)
	if err != nil {
		return nil, err
	}
	w := &weights{values: v, prefix: makeTable[float64](a.count())}
	nodes := a.nodes()
	if size := a.count()/guideEdges + nodes; size < math.MaxUint32 && !a.wide() {
		w.guide = makeTable[uint32](size)
	}
	for n := range nodes {
		sum := 0.0
		start, end := a.span(uint32(n))
		for p := start; p < end; p++ {
			x := v.weight(a.edge(p))
			if !(x > 0) {
				w.setPoor(uint32(n), nodes)
			}
			sum += x
			w.prefix[p] = sum
		}
		if math.IsInf(sum, 1) {
			return nil, tagged.Errorf(errWeight, "%s: found an infinite sum of column %q over the %s-edges of node %d, expected finite weights and sums; replace infinite weights, or divide all of them by one number",
				e.Type, name, dir, a.first+uint32(n))
		}
		if w.guide != nil {
			fillGuide(w.guide[guideAt(uint32(start), uint32(n)):][:guideParts(uint32(end-start))], w.prefix[start:end])
		}
	}
	c.byWeight[key] = w
	return w, nil
}

// setPoor notes that node v of a number of nodes has a weight that is never drawn.
func (w *weights) setPoor(v uint32, nodes int) {
	if w.poor == nil {
		w.poor = make([]uint64, (nodes+63)/64)
	}
	w.poor[v/64] |= 1 << (v % 64)
}

// isPoor says whether node v has a weight that is never drawn.
func (w *weights) isPoor(v uint32) bool {
	return w.poor != nil && w.poor[v/64]>>(v%64)&1 == 1
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

// fillGuide sets, for each equal part of the total, the position in the sums of a node where the part begins.
func fillGuide(guide []uint32, prefix []float64) {
	p := 0
	for g := range guide {
		if len(prefix) > 0 {
			bound := prefix[len(prefix)-1] * float64(g) / float64(len(guide))
			for p < len(prefix)-1 && prefix[p] <= bound {
				p++
			}
		}
		guide[g] = uint32(p)
	}
}

// seek is the first index with a sum above x, or len(prefix) if there is none. The search starts from a guess.
func seek(prefix []float64, guess uint32, x float64) uint32 {
	p := int(guess)
	for p > 0 && prefix[p-1] > x {
		p--
	}
	for end := min(p+8, len(prefix)); p < end; p++ {
		if prefix[p] > x {
			return uint32(p)
		}
	}
	rest := prefix[p:]
	return uint32(p + sort.Search(len(rest), func(i int) bool { return rest[i] > x }))
}

// stagedTake is the largest take that is drawn in stages.
const stagedTake = 64

// pickWeighted is pickAny for weights where every edge may be taken. The data that a draw reads (the total of
// the node, the guide, the sums) is prefetched for the whole block before it is used.
func (c *Context) pickWeighted(o *op, key uint64, b block, pos, near []uint32) int {
	w, k := o.weights, int(o.take)
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
			c.resolve(o, s.key[j], start, b.node[i], s.x[j*k:(j+1)*k], s.guess[j*k:(j+1)*k], w.prefix[start:start+d], out)
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
func (c *Context) resolve(o *op, h uint64, start, node uint32, x []float64, guess []uint32, prefix []float64, out []uint32) {
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
			y, p = u*total, o.weights.guide[guideAt(start, node)+min(uint32(u*float64(parts)), parts-1)]
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
		weight := func(i int) float64 { return o.weights.weight(o.adj.edge(uint64(start) + uint64(i))) }
		c.walk(h, uint64(number), int(n), uint32(len(out)), uint32(took), weight, out)
	}
	for i := range out {
		out[i] += start
	}
}

// maxMisses is the number of draws in a row that may hit edges that are taken already, before walk takes over.
const maxMisses = 16

// weighted picks k of the edges of a run without left, by index. It returns how many it took: fewer than k only where
// fewer have a positive weight.
func (c *Context) weighted(h uint64, o *op, r *run, k uint32, dst []uint32) int {
	w, n := o.weights, int(r.n)
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
