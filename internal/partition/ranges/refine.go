package ranges

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

const (
	// Prices and gains have pointBits bits after the point. They are integers, so that every machine computes the same ones.
	pointBits = 12
	point     = 1 << pointBits
	// A pass makes priceSteps steps of prices: a part that had no room for a node that wanted to join becomes raiseShare % and raiseBy more expensive, one with
	// room cheaper by the same share.
	priceSteps           = 64
	raiseShare, raiseBy  = 3, point / 100
	leastPrice, roomPart = point / 50, 200 // below the least, a price is 0; a part with 1/200 of its cap left has room
	// others is by how much a block multiplies its own moves, because other blocks move too.
	others = 4
	// A key of a move is the bucket of its gain, best first, then hashBits bits of a hash of the node.
	gainBuckets, hashBits = 128, 8
)

// Division is the parts of the nodes. Each worker has one, of all nodes, and all are equal between rounds.
type Division struct {
	p *Plan
	// Part has the part of each node, Loads the weights of the parts, by part and constraint.
	Part  []uint16
	Loads []int64
	// Prices are what a unit of weight costs in a part, by part and constraint, 12 bits after the point.
	Prices []int64
	moved  bitmap // nodes that a round moved, while Gain counts it; else empty
}

// NewDivision makes a division from the parts of all nodes, and the weights and prices of the parts; nil: all prices are 0. These three are all that it holds
// between rounds.
func NewDivision(p *Plan, part []uint16, loads, prices []int64) *Division {
	if prices == nil {
		prices = make([]int64, len(loads))
	}
	return &Division{p: p, Part: part, Loads: loads, Prices: prices, moved: newBitmap(p.Nodes)}
}

// AddLoads adds the weights of consecutive nodes to those of their parts; weights are theirs, nil if all weigh 1.
func (p *Plan) AddLoads(loads []int64, part []uint16, weights []uint32) {
	for i, q := range part {
		if weights == nil {
			loads[q]++
			continue
		}
		for c, w := range weights[i*p.Constraints:][:p.Constraints] {
			loads[int(q)*p.Constraints+c] += int64(w)
		}
	}
}

// Over is the sum of what the parts exceed their caps by, in millionths of the caps.
func (d *Division) Over() (sum int64) {
	for i, load := range d.Loads {
		if most := d.p.Caps[i%d.p.Constraints]; load > most {
			sum += max(1, int64(float64(load-most)/float64(max(most, 1))*1e6))
		}
	}
	return sum
}

// Want is a node that wants to move to a part. Moves with lower keys are better.
type Want struct {
	Node    uint32
	To, Key uint16
}

// Wants are the moves that a range wants in a round. They stay with its worker; one that ended has Want give them
// again. Sizes has the weights of the nodes, if they have weights.
type Wants struct {
	Items []Want
	Sizes []uint32
	// Demand has the parts, by part and constraint, that had no room for a node which wanted to join: a message to every worker, a bit each.
	Demand []bool
}

// wanting is the memory of Want.
type wanting struct {
	own      []uint16 // parts of the nodes of the block, as the visit changes them
	affinity []int64  // of the node at hand, by part
	touched  []uint16
	in, out  []int64 // weights that the block moves into a part and out of it, by part and constraint
	changed  []uint16
	weights  []int64 // of the node at hand
	lightest int
}

// refining is a visit of a block.
type refining struct {
	*wanting
	d      *Division
	b      *undirected.Block
	priced bool
	seed   uint64
	demand []bool
}

// Want lets the nodes of a block choose their parts, one after the other, and appends what they want to out: each sees the moves of those before it, and
// all other nodes as they were before the round. A node chooses the part with most of its neighbours that has room; if priced, minus what it pays
// there. weights are those of the nodes of the block, nil if all weigh 1.
func (d *Division) Want(m *Visitor, b *undirected.Block, weights []uint32, pass int, priced bool, out *Wants) {
	p, s := d.p, &m.wants
	if s.affinity == nil {
		s.affinity, s.in, s.out, s.weights = make([]int64, p.Parts), make([]int64, len(d.Loads)), make([]int64, len(d.Loads)), make([]int64, p.Constraints)
	}
	if out.Demand == nil {
		out.Demand = make([]bool, len(d.Loads))
	}
	v := &refining{s, d, b, priced, mix(mix(p.Seed+2) + uint64(pass)), out.Demand}
	s.own = append(s.own[:0], d.Part[b.First:int(b.First)+b.Len()]...)
	v.findLightest()
	for i := range b.Len() {
		for c := range s.weights {
			if s.weights[c] = 1; weights != nil {
				s.weights[c] = int64(weights[i*p.Constraints+c])
			}
		}
		own := int(s.own[i])
		to, gain := v.choose(i, own)
		if to != own {
			v.move(i, own, to)
			u := b.First + uint32(i)
			out.Items = append(out.Items, Want{u, uint16(to), keyOf(gain, mix(v.seed+uint64(u)))})
			if weights != nil {
				out.Sizes = append(out.Sizes, weights[i*p.Constraints:][:p.Constraints]...)
			}
		}
		for _, q := range s.touched {
			s.affinity[q] = 0
		}
		s.touched = s.touched[:0]
	}
	for _, q := range s.changed {
		clear(s.in[int(q)*p.Constraints:][:p.Constraints])
		clear(s.out[int(q)*p.Constraints:][:p.Constraints])
	}
	s.changed = s.changed[:0]
}

// keyOf is the key of a move: two buckets of gain for each power of two.
func keyOf(gain int64, hash uint64) uint16 {
	bucket := 0
	if gain > 0 {
		n := bits.Len64(uint64(gain))
		bucket = min(2*n, gainBuckets-1)
		if n > 1 {
			bucket = min(bucket+int(gain>>(n-2)&1), gainBuckets-1)
		}
	}
	return uint16((gainBuckets-1-bucket)<<hashBits | int(hash>>(64-hashBits)))
}

// mostGain is the gain of a node that leaves a part which exceeds its cap.
const mostGain = math.MaxInt64

// choose returns the part that a node should have, and the gain.
func (v *refining) choose(i, own int) (to int, gain int64) {
	from, end := v.b.Row(i)
	for j := from; j < end; j++ {
		u := v.b.Neighbours[j]
		p := v.d.Part[u]
		if at := u - v.b.First; at < uint32(len(v.own)) {
			p = v.own[at]
		}
		if v.affinity[p] == 0 {
			v.touched = append(v.touched, p)
		}
		if v.b.EdgeWeights == nil {
			v.affinity[p]++
		} else {
			v.affinity[p] += int64(v.b.EdgeWeights[j])
		}
	}
	heavy := v.exceeds(own)
	if !v.priced && !heavy && (len(v.touched) == 0 || len(v.touched) == 1 && int(v.touched[0]) == own) {
		return own, 0
	}
	stay := v.score(own)
	best, score := own, stay
	if heavy {
		score = math.MinInt64 // any part with room is better
	}
	// A part that is not among the neighbours is of use for its price alone.
	if p := v.lightest; (v.priced || heavy) && p != own && v.affinity[p] == 0 {
		if x := v.score(p); x > score && v.fits(p, false) {
			best, score = p, x
		}
	}
	for _, q := range v.touched {
		p := int(q)
		if p == own {
			continue
		}
		x := v.score(p)
		if x < score || x == score && (best == own && !v.lighter(p, own) || best != own && p > best) {
			continue
		}
		if v.fits(p, x > score) {
			best, score = p, x
		}
	}
	if heavy && best != own {
		return best, mostGain
	}
	return best, score - stay
}

// lighter reports whether a part is lighter than that of the node at hand after the node has moved there, in its fullest constraint: then the move is worth it
// without a gain, because it leads to others.
func (v *refining) lighter(p, own int) bool {
	var there, here float64
	for c, w := range v.weights {
		most := float64(max(v.d.p.Caps[c], 1))
		i, j := p*len(v.weights)+c, own*len(v.weights)+c
		there = max(there, float64(v.d.Loads[i]+others*v.in[i]+w)/most)
		here = max(here, float64(v.d.Loads[j]-others*v.out[j])/most)
	}
	return there < here
}

// score is the weight of the neighbours in a part minus what the node would pay there.
func (v *refining) score(p int) int64 {
	x := v.affinity[p] << pointBits
	if v.priced {
		for c, w := range v.weights {
			x -= v.d.Prices[p*len(v.weights)+c] * w
		}
	}
	return x
}

// exceeds reports whether a part is above a cap that the node at hand counts for, also when other blocks have moved as many nodes out of it as this one.
func (v *refining) exceeds(p int) bool {
	for c, w := range v.weights {
		if i := p*len(v.weights) + c; w > 0 && v.d.Loads[i]-others*v.out[i] > v.d.p.Caps[c] {
			return true
		}
	}
	return false
}

// fits reports whether a part has room for the node at hand, also when other blocks move as much into it as this one. It remembers which parts lack
// room although they are wanted.
func (v *refining) fits(p int, wanted bool) bool {
	room := true
	for c, w := range v.weights {
		i := p*len(v.weights) + c
		if w > 0 && v.d.Loads[i]+others*v.in[i]+w > v.d.p.Caps[c] {
			room = false
			if wanted {
				v.demand[i] = true
			}
		}
	}
	return room
}

func (v *refining) move(i, from, to int) {
	v.own[i] = uint16(to)
	for c, w := range v.weights {
		v.out[from*len(v.weights)+c] += w
		v.in[to*len(v.weights)+c] += w
	}
	v.changed = append(v.changed, uint16(from), uint16(to))
}

// findLightest finds the part with the most room of its fullest constraint.
func (v *refining) findLightest() {
	least := math.Inf(1)
	for p := range v.d.p.Parts {
		x := 0.0
		for c, most := range v.d.p.Caps {
			x = max(x, float64(v.d.Loads[p*len(v.d.p.Caps)+c])/float64(max(most, 1)))
		}
		if x < least {
			least, v.lightest = x, p
		}
	}
}

// Bin is the moves to a part that have a key.
type Bin struct{ Part, Key uint16 }

func (b Bin) number() uint32 { return uint32(b.Part)<<16 | uint32(b.Key) }

// Histogram has, for each part and key, the weights of the moves that a range wants: a message to every worker, 4 bytes per bin and 8 per
// constraint. Bins ascend.
type Histogram struct {
	Bins    []Bin
	Weights []int64
}

// Count adds up the wanted moves of a range.
func (p *Plan) Count(w *Wants) (h Histogram) {
	order := sortedOrder(len(w.Items), func(a, b int32) int {
		x, y := w.Items[a], w.Items[b]
		return cmp.Or(cmp.Compare(x.To, y.To), cmp.Compare(x.Key, y.Key))
	})
	for _, at := range order {
		x := w.Items[at]
		h.take(p, Bin{x.To, x.Key}, func(c int) int64 {
			if w.Sizes == nil {
				return 1
			}
			return int64(w.Sizes[int(at)*p.Constraints+c])
		})
	}
	return h
}

// take adds weights to a bin, which is not below the last one.
func (h *Histogram) take(p *Plan, b Bin, weight func(c int) int64) {
	if n := len(h.Bins); n == 0 || h.Bins[n-1] != b {
		h.Bins = append(h.Bins, b)
		h.Weights = append(h.Weights, make([]int64, p.Constraints)...)
	}
	last := h.Weights[len(h.Weights)-p.Constraints:]
	for c := range last {
		last[c] += weight(c)
	}
}

// Choose returns the bins that are refused, as ascending numbers. Of each part the best bins are accepted while their moves fit all together; only room from before the round
// counts, so that no part exceeds its cap. hs are the histograms of all ranges.
func (d *Division) Choose(hs []Histogram) (refused []uint32) {
	p := d.p
	var all Histogram
	for i := range hs {
		all.Bins, all.Weights = append(all.Bins, hs[i].Bins...), append(all.Weights, hs[i].Weights...)
	}
	order := sortedOrder(len(all.Bins), func(a, b int32) int { return cmp.Compare(all.Bins[a].number(), all.Bins[b].number()) })
	var h Histogram
	for _, at := range order {
		h.take(p, all.Bins[at], func(c int) int64 { return all.Weights[int(at)*p.Constraints+c] })
	}
	in := make([]int64, p.Constraints)
	for i, b := range h.Bins {
		if i == 0 || h.Bins[i-1].Part != b.Part {
			clear(in)
		}
		weights, fits := h.Weights[i*p.Constraints:][:p.Constraints], true
		for c, w := range weights {
			fits = fits && (w == 0 || d.Loads[int(b.Part)*p.Constraints+c]+in[c]+w <= p.Caps[c])
		}
		if !fits {
			refused = append(refused, b.number())
			continue
		}
		for c, w := range weights {
			in[c] += w
		}
	}
	return refused
}

// Move is a node that moves to a part.
type Move struct {
	Node uint32
	To   uint16
}

// Moves are those of a range in a round: messages to every worker, 6 bytes each, ascending by node. Shift is what they add to the weights of the parts, 8
// bytes per part and constraint.
type Moves struct {
	Items []Move
	Shift []int64
}

// Take returns the accepted moves of a range.
func (d *Division) Take(w *Wants, refused []uint32) (out Moves) {
	p := d.p
	out.Shift = make([]int64, len(d.Loads))
	for i, x := range w.Items {
		if _, found := slices.BinarySearch(refused, Bin{x.To, x.Key}.number()); found {
			continue
		}
		out.Items = append(out.Items, Move{x.Node, x.To})
		from := int(d.Part[x.Node])
		for c := range p.Constraints {
			weight := int64(1)
			if w.Sizes != nil {
				weight = int64(w.Sizes[i*p.Constraints+c])
			}
			out.Shift[from*p.Constraints+c] -= weight
			out.Shift[int(x.To)*p.Constraints+c] += weight
		}
	}
	slices.SortFunc(out.Items, func(a, b Move) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// Applied is a move that was made: From is the part before it.
type Applied struct {
	Node     uint32
	From, To uint16
}

// Apply makes the moves of a round, which are those of all ranges in the order of the ranges, and steps the prices if priced. demand is that of all ranges.
// It returns the moves, ascending by node, for Gain.
func (d *Division) Apply(all []Moves, priced bool, demand []bool) (applied []Applied) {
	for i := range all {
		for _, x := range all[i].Items {
			applied = append(applied, Applied{x.Node, d.Part[x.Node], x.To})
			d.Part[x.Node] = x.To
		}
		for j, w := range all[i].Shift {
			d.Loads[j] += w
		}
	}
	if priced {
		for range priceSteps / Rounds {
			d.step(demand)
		}
	}
	return applied
}

// step makes a step of prices.
func (d *Division) step(demand []bool) {
	for i, wanted := range demand {
		most := d.p.Caps[i%d.p.Constraints]
		switch {
		case wanted:
			d.Prices[i] += d.Prices[i]*raiseShare/100 + raiseBy
		case (most-d.Loads[i])*roomPart > most:
			if d.Prices[i] = d.Prices[i] * 100 / (100 + raiseShare); d.Prices[i] < leastPrice {
				d.Prices[i] = 0
			}
		}
	}
}

// Mark has Gain see which nodes moved in a round (on), and forgets them afterwards.
func (d *Division) Mark(applied []Applied, on bool) {
	for _, x := range applied {
		if on {
			d.moved.include(x.Node)
		} else {
			d.moved.exclude(x.Node)
		}
	}
}

// Gain is what the moves of the nodes of a block take off the cut, as if all moves of a round were made in the order of the nodes. own are the moves of the
// block's nodes, among all of the round. Several goroutines may call it.
func (d *Division) Gain(b *undirected.Block, own, all []Applied) (gain int64) {
	for _, x := range own {
		from, to := b.Row(int(x.Node - b.First))
		for j := from; j < to; j++ {
			u := b.Neighbours[j]
			part := d.Part[u]
			if u > x.Node && d.moved.has(u) {
				at, _ := slices.BinarySearchFunc(all, u, func(y Applied, u uint32) int { return cmp.Compare(y.Node, u) })
				part = all[at].From
			}
			w := int64(1)
			if b.EdgeWeights != nil {
				w = int64(b.EdgeWeights[j])
			}
			if part == x.To {
				gain += w
			}
			if part == x.From {
				gain -= w
			}
		}
	}
	return gain
}

// Cut is the weight of the pairs of a block that are cut, each counted at its lower end.
func (d *Division) Cut(b *undirected.Block) (cut int64) {
	for i := range b.Len() {
		v := b.First + uint32(i)
		from, to := b.Row(i)
		for j := from; j < to; j++ {
			if u := b.Neighbours[j]; u > v && d.Part[u] != d.Part[v] {
				if b.EdgeWeights == nil {
					cut++
				} else {
					cut += int64(b.EdgeWeights[j])
				}
			}
		}
	}
	return cut
}
