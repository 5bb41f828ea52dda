package sample

import (
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Layered says whether ops of a strategy choose the nodes that they reach for all the nodes that they expand together, so that
// Take is a budget of nodes. The ops of a hop that have the same strategy and reach the same node type share one budget.
func (h How) Layered() bool { return h == Ladies || h == FastGCN || h == HGT }

// Layered says whether the plan has an op with a budget of nodes, whose strategy is Layered.
func (p *Plan) Layered() bool {
	return slices.ContainsFunc(p.Ops, func(o Op) bool { return o.How.Layered() })
}

// layer is the ops that share a budget.
type layer struct {
	ops  []int // places in Sampler.ops
	how  How
	far  int    // node type
	take uint32 // nodes, or takeAll
	// weights holds, with FastGCN, the weights of the nodes of the type, and sums their sums up to each, inclusive. last is the last
	// node with a weight, -1 for none.
	weights, sums []float64
	last          int
}

// checkLayers refuses ops that would share a budget and do not agree on it.
func (p *Plan) checkLayers(reaches [][]string) error {
	if !p.Layered() {
		return nil
	}
	hops := p.OpHops()
	for i, op := range p.Ops {
		if !op.How.Layered() {
			continue
		}
		for j, other := range p.Ops[:i] {
			if hops[j+1] == hops[i+1] && other.How == op.How && reaches[j+1][0] == reaches[i+1][0] && other.Take != op.Take {
				return tagged.Errorf(ErrPlan, "op %d: found take %d where op %d has %d, expected the same: both choose nodes of type %q for hop %d; give both the same take", i+1, op.Take, j+1, other.Take, reaches[i+1][0], hops[i+1])
			}
		}
	}
	return nil
}

// compileLayers finds the ops that share budgets.
func (s *Sampler) compileLayers() {
	for i := range s.ops {
		o := &s.ops[i]
		if o.rounds > 0 {
			// It takes more edges than its take of some nodes.
			o.each, o.take = o.take, takeAll
			o.choice = s.choices
			s.choices++
		}
		if !o.how.Layered() {
			continue
		}
		for j := range s.ops[:i] {
			if first := &s.ops[j]; first.how == o.how && first.far == o.far && s.opHop[first.number] == s.opHop[o.number] {
				o.layer, o.choice = first.layer, first.choice
				break
			}
		}
		if o.layer == nil {
			o.layer = &layer{how: o.how, far: o.far, take: o.take, last: -1}
			o.choice = s.choices
			s.choices++
		}
		o.layer.ops = append(o.layer.ops, i)
		// An op takes every edge to the nodes of its layer.
		o.take = takeAll
	}
	if s.opt.Given {
		return
	}
	for i := range s.ops {
		if l := s.ops[i].layer; l != nil && l.how == FastGCN && l.sums == nil {
			s.weigh(l)
		}
	}
}

// weigh sets the sums of the weights of FastGCN: the weight of a node is the sum of 1/degree² of the nodes that have it as a
// neighbour.
func (s *Sampler) weigh(l *layer) {
	w := make([]float64, s.g.Nodes[l.far].Count)
	for _, i := range l.ops {
		a := s.ops[i].adj
		for v := range uint32(a.nodes()) {
			from, to := a.span(v)
			add := 1 / float64(to-from)
			add = float64(add * add) // rounded, so that no machine fuses it with the sum
			for _, u := range a.far[from:to] {
				w[u] += add
			}
		}
	}
	l.weights, l.sums = w, make([]float64, len(w))
	sum := 0.0
	for u, x := range w {
		if x > 0 {
			l.last = u
		}
		sum += x
		l.sums[u] = sum
	}
}

// chosen is the nodes that the ops of a layer or an op with LABOR-i may reach, and those that a layer chose.
type chosen struct {
	nodes  localIDs // numbers the candidates
	weight []float64
	next   []float64 // with LABOR-i: the weights of the next round
	// inverse is the inverse of the chance of each candidate that was chosen, or 1 where it is not wanted; 0 for the others.
	inverse []float64
	far     []uint32
	heap    laborHeap
}

// choose chooses the nodes of a layer, before its first op. prefix is the key without the op.
func (c *Context) choose(l *layer, prefix uint64) error {
	x := c.candidates(&c.s.ops[l.ops[0]])
	h := draw.Absorb(prefix, c.s.ops[l.ops[0]].number)
	if l.how == FastGCN && l.take != takeAll {
		l.independent(h, x)
		return nil
	}
	for _, i := range l.ops {
		o := &c.s.ops[i]
		if err := c.blocks(o, func(m uint32) error { return c.weigh(o, x, c.block(0, m)) }); err != nil {
			return err
		}
	}
	n := int(x.nodes.n)
	x.inverse = slices.Grow(x.inverse[:0], n)[:n]
	if l.take >= uint32(n) {
		for i := range x.inverse {
			x.inverse[i] = 1
		}
		return nil
	}
	clear(x.inverse)
	if l.how == HGT {
		for i, w := range x.weight {
			x.weight[i] = w * w
		}
	}
	f := math.Inf(1)
	if l.how == Ladies && c.s.opt.Weights && l.take > 0 {
		f = filled(x.weight, l.take)
	}
	for _, i := range x.race(h, int(l.take)) {
		x.inverse[i] = 1 / min(1, f*x.weight[i])
	}
	return nil
}

// filled is the c by which the chances min(1, c * weight) of more than k candidates add up to k.
func filled(weight []float64, k uint32) float64 {
	c := 0.0
	for saturated := -1; ; {
		full, rest := 0, 0.0
		for _, w := range weight {
			if c*w >= 1 {
				full++
			} else {
				rest += w
			}
		}
		if full <= saturated {
			return c
		}
		saturated, c = full, (float64(k)-float64(full))/rest
	}
}

// candidates is the empty candidates of an op, which it shares with the ops of its layer.
func (c *Context) candidates(o *op) *chosen {
	if c.chosen == nil {
		c.chosen = make([]chosen, c.s.choices)
	}
	x := &c.chosen[o.choice]
	x.nodes.count, x.nodes.forced = c.local[o.far].count, relabelWide
	x.nodes.begin()
	x.weight, x.next = x.weight[:0], x.next[:0]
	return x
}

// independent draws the nodes of a layer of FastGCN, with replacement and in proportion to their weights.
func (l *layer) independent(h uint64, x *chosen) {
	x.far, x.inverse = x.far[:0], x.inverse[:0]
	if l.last < 0 {
		return
	}
	total := l.sums[len(l.sums)-1]
	for i := range uint64(l.take) {
		y := draw.Unit(draw.At(h, i)) * total
		u := sort.Search(len(l.sums), func(u int) bool { return l.sums[u] > y })
		if u == len(l.sums) {
			u = l.last
		}
		x.far = append(x.far, uint32(u))
	}
	x.nodes.visit(x.far)
	x.inverse = slices.Grow(x.inverse, int(x.nodes.n))[:x.nodes.n]
	clear(x.inverse)
	for _, at := range x.far {
		x.inverse[at]++
	}
	for at, u := range x.nodes.nodes[:x.nodes.n] {
		x.inverse[at] /= l.weights[u]
	}
}

// weigh adds the edges of a block of an op to the weights of the candidates: 1/degree² of the near end of each, or 1/degree with HGT.
func (c *Context) weigh(o *op, x *chosen, b block) error {
	return c.lists(o, x, b, func(far []uint32, d uint32) {
		add := 1 / float64(d)
		if o.how != HGT {
			add = float64(add * add)
		}
		for _, u := range far {
			x.weight[u] += add
		}
	})
}

// lists numbers the far ends of the edges that an op may take of the nodes of a block, and calls fn for each node that has
// any, with the numbers of its far ends. d is the number of edges. HGT leaves out far ends that the subgraph has.
func (c *Context) lists(o *op, x *chosen, b block, fn func(far []uint32, d uint32)) error {
	c.locate(o, b)
	c.measure(o, b)
	if o.excluded != [2]bool{} {
		c.meets(o, b)
	}
	bounds := c.bounds(o)
	for i := range b.local {
		r := c.allowed(o, &bounds, i, b.base[i], b.start[i], b.degree[i])
		if r.n == 0 {
			continue
		}
		far := slices.Grow(x.far[:0], int(r.n))
		for j := range r.n {
			u := o.adj.far[r.position(j)]
			if o.how == HGT {
				if _, has := c.local[o.far].find(u); has {
					continue
				}
			}
			far = append(far, u)
		}
		x.far = far
		if int64(x.nodes.n)+int64(len(far)) > maxLocal {
			return c.errSubgraph(o.far)
		}
		x.nodes.visit(far)
		for _, w := range []*[]float64{&x.weight, &x.next} {
			if at, need := len(*w), int(x.nodes.n); need > at {
				*w = slices.Grow(*w, need-at)[:need]
				clear((*w)[at:])
			}
		}
		fn(far, r.n)
	}
	return nil
}

// weighShared finds the weights by which the far ends of an op with LABOR-i are drawn: in each round the weight of a far end is
// multiplied by the largest factor that one of the nodes needs, so that the far ends that many nodes share are taken more often.
func (c *Context) weighShared(o *op) error {
	x := c.candidates(o)
	for round := range o.rounds {
		err := c.blocks(o, func(m uint32) error {
			return c.lists(o, x, c.block(0, m), func(far []uint32, d uint32) {
				if round == 0 {
					for _, u := range far {
						x.weight[u] = 1
					}
				}
				f := x.factor(far, o.each)
				for _, u := range far {
					x.next[u] = max(x.next[u], f)
				}
			})
		})
		if err != nil {
			return err
		}
		for u := range x.weight {
			x.weight[u] *= x.next[u]
		}
		clear(x.next)
	}
	return nil
}

// laborShared picks the edges of a run whose far ends have numbers below their chances, by index, for an op with LABOR-i. It returns how
// many it picked.
func (c *Context) laborShared(key uint64, o *op, r *run, dst []uint32) int {
	if r.n <= o.each {
		for i := range r.n {
			dst[i] = i
			c.share = append(c.share, 1)
		}
		return int(r.n)
	}
	if o.each == 0 {
		return 0
	}
	x := &c.chosen[o.choice]
	far := slices.Grow(x.far[:0], int(r.n))
	for i := range r.n {
		at, _ := x.nodes.find(o.adj.far[r.position(i)])
		far = append(far, at)
	}
	x.far = far
	f, n := x.factor(far, o.each), 0
	for i, at := range far {
		if draw.Unit(draw.At(key, uint64(x.nodes.nodes[at]))) <= f*x.weight[at] {
			dst[n] = uint32(i)
			n++
			c.share = append(c.share, 1/min(1, f*x.weight[at]))
		}
	}
	c.shareOut(n)
	return n
}

// shareOut turns the last n shares, which are inverse chances of the edges of a node, into weights of a mean of 1.
func (c *Context) shareOut(n int) {
	total, of := 0.0, c.share[len(c.share)-n:]
	for _, x := range of {
		total += x
	}
	for i, x := range of {
		of[i] = x * float64(n) / total
	}
}

// Weighs says whether the edges of a subgraph have weights (Options.Weights): all ops choose far ends by known chances that are not
// alike.
func (p *Plan) Weighs() bool {
	return len(p.Ops) > 0 && p.Kind == Directional && !slices.ContainsFunc(p.Ops, func(o Op) bool {
		return o.How != Ladies && o.How != FastGCN && o.Importance == 0
	})
}

// factor is the c by which the chances min(1, c * weight) of d far ends fill a take of k: the sum of their inverses is d²/k, so that a
// sum over the far ends, divided by d, has the variance of k uniform draws, and k far ends or more are taken on average. Where d is at most k, all
// chances are 1.
func (x *chosen) factor(far []uint32, k uint32) float64 {
	d := len(far)
	if uint32(d) <= k {
		most := 0.0
		for _, u := range far {
			most = max(most, 1/x.weight[u])
		}
		return most
	}
	target, c := float64(d)*float64(d)/float64(k), 0.0
	for saturated := -1; ; {
		full, rest := 0, 0.0
		for _, u := range far {
			if w := x.weight[u]; c*w >= 1 {
				full++
			} else {
				rest += 1 / w
			}
		}
		if full <= saturated {
			return c
		}
		saturated, c = full, rest/(target-float64(full))
	}
}

// position is the position of edge i of a run that leaves no edge out (left is nil).
func (r *run) position(i uint32) uint64 {
	if r.at != nil {
		return r.base + uint64(r.at[i])
	}
	return r.base + uint64(r.start) + uint64(i)
}

// race is the k candidates with the smallest numbers: exponentially distributed ones, drawn by node, over the weight. So the
// candidates are drawn one after the other, each in proportion to its weight among those that are left.
func (x *chosen) race(h uint64, k int) []uint32 {
	q := &x.heap
	q.item, q.x = q.item[:0], q.x[:0]
	if k == 0 {
		return nil
	}
	for i, w := range x.weight {
		bits := draw.At(h, uint64(x.nodes.nodes[i]))
		if len(q.item) < k {
			q.item, q.x = append(q.item, uint32(i)), append(q.x, exponential(bits)/w)
			q.up(len(q.item) - 1)
			continue
		}
		// 1 - u is below -ln(u), and saves most of the logarithms.
		if 1-draw.Unit(bits) > q.x[0]*w*(1+1e-9) {
			continue
		}
		if y := exponential(bits) / w; y < q.x[0] { // of equal numbers the earlier candidate is chosen
			q.replace(uint32(i), y)
		}
	}
	return q.item
}

// exponential is a number with the exponential distribution of mean 1 out of 64 random bits: -ln(u).
func exponential(bits uint64) float64 { return -logarithm(draw.Unit(bits)) }

// logarithm is ln(x) of a positive number, as a series whose steps round one by one, so that it is the same on every machine: with
// x = m * 2^e and s = (m - 1) / (m + 1), ln(x) is e * ln(2) + 2 (s + s³/3 + s⁵/5 + ...).
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 1.0 / 21
	for i := 19; i > 0; i -= 2 {
		sum = float64(sum*z) + 1/float64(i)
	}
	return float64(float64(e)*math.Ln2) + float64(float64(2*s)*sum)
}

// toChosen picks the edges of a run whose far ends are chosen, by index, and returns their number.
func (c *Context) toChosen(o *op, r *run, dst []uint32) int {
	x, n := &c.chosen[o.choice], 0
	for i := range r.n {
		if at, ok := x.nodes.find(o.adj.far[r.position(i)]); ok && x.inverse[at] > 0 {
			dst[n] = i
			n++
			c.share = append(c.share, x.inverse[at])
		}
	}
	c.shareOut(n)
	return n
}
