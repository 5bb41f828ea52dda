package multilevel

import (
	"math"
	"math/bits"
	"slices"
)

// clustering maps each node to a cluster, which has the name of one of its nodes.
type clustering struct {
	label  []uint32
	weight []uint32 // of each cluster, by name, stride constraints
	count  int      // number of clusters
}

// clusterRule has the rules for making clusters.
type clusterRule struct {
	caps   []int64  // the heaviest allowed cluster, by constraint
	least  int      // the number of clusters below which none are joined
	rounds int      // number of rounds in which each node may choose
	within []uint16 // nodes of different values are never joined; nil: no restriction
	seed   uint64
}

const (
	clusterBatches = 64   // per round; labels are frozen during a batch
	clusterBlock   = 1024 // nodes, the unit of parallel work
	shuffledRun    = 16   // consecutive nodes that stay together in the order
	shuffleAll     = 20_000
)

// stay is the target of a node that does not move.
const stay = ^uint32(0)

// cluster groups nodes by label propagation under a size constraint: each node joins the neighbouring cluster
// with which it shares the heaviest edges, if it fits. Nodes are taken by ascending degree, in an order
// shuffled within powers of two. The targets of a batch are computed in parallel with frozen labels and
// applied one by one.
func cluster(t team, m *memory, l *level, rule clusterRule) *clustering {
	// The weight of a cluster is a node's weight on the next level, so it must fit 32 bits.
	rule.caps = slices.Clone(rule.caps)
	for c, heaviest := range rule.caps {
		rule.caps[c] = min(heaviest, math.MaxUint32)
	}
	k := &clustering{label: takeZeros[uint32](m, l.n), weight: takeZeros[uint32](m, l.n*l.constraints), count: l.n}
	for v := range k.label {
		k.label[v] = uint32(v)
	}
	if l.weights == nil {
		for i := range k.weight {
			k.weight[i] = 1
		}
	} else {
		copy(k.weight, l.weights)
	}
	order := shuffled(m, l, rule.seed)
	defer give(m, order)
	size := max((l.n+clusterBatches-1)/clusterBatches, 1)
	target := make([]uint32, size)
	alone := make([]bool, size)
	raters := make([]rater, t.threads)
	for round := range rule.rounds {
		salt := uint32(mix(rule.seed + uint64(round)))
		for from := 0; from < l.n && k.count > rule.least; from += size {
			batch := order[from:min(from+size, l.n)]
			t.blocks((len(batch)+clusterBlock-1)/clusterBlock, func(worker, block int) {
				r := &raters[worker]
				for i := block * clusterBlock; i < min((block+1)*clusterBlock, len(batch)); i++ {
					v := batch[i]
					alone[i] = k.alone(l, v)
					target[i] = r.favourite(l, k, &rule, v, salt, true)
				}
			})
			if t.stopped() {
				return k
			}
			for i, v := range batch {
				if target[i] == stay || k.count <= rule.least {
					continue
				}
				if alone[i] && !k.alone(l, v) {
					continue // another node joined it in the meantime
				}
				k.move(l, v, target[i], rule.caps)
			}
		}
	}
	if k.count > l.n/2 && k.count > rule.least {
		k.twoHop(t, m, l, raters, &rule)
	}
	return k
}

// free releases the arrays.
func (k *clustering) free(m *memory) {
	give(m, k.label)
	give(m, k.weight)
}

// alone reports whether v is a cluster by itself.
func (k *clustering) alone(l *level, v uint32) bool {
	if k.label[v] != v {
		return false
	}
	for c := range l.constraints {
		if int64(k.weight[int(v)*l.constraints+c]) != l.weight(v, c) {
			return false
		}
	}
	return true
}

// fits reports whether cluster to has room for v.
func (k *clustering) fits(l *level, v, to uint32, caps []int64) bool {
	if l.constraints == 1 {
		w := k.weight[to]
		return w > 0 && int64(w)+l.weight(v, 0) <= caps[0]
	}
	alive := uint32(0)
	for c := range l.constraints {
		w := k.weight[int(to)*l.constraints+c]
		alive |= w
		if int64(w)+l.weight(v, c) > caps[c] && l.weight(v, c) > 0 {
			return false
		}
	}
	return alive > 0
}

// move moves v to cluster to, if that still exists and has room.
func (k *clustering) move(l *level, v, to uint32, caps []int64) {
	from := k.label[v]
	if from == to || !k.fits(l, v, to, caps) {
		return
	}
	left := uint32(0)
	for c := range l.constraints {
		w := uint32(l.weight(v, c))
		k.weight[int(to)*l.constraints+c] += w
		k.weight[int(from)*l.constraints+c] -= w
		left |= k.weight[int(from)*l.constraints+c]
	}
	if left == 0 {
		k.count--
	}
	k.label[v] = to
}

// twoHop joins nodes that are still alone and prefer the same cluster, which has no room for them. It also
// joins nodes without neighbours.
func (k *clustering) twoHop(t team, m *memory, l *level, raters []rater, rule *clusterRule) {
	likes := takeZeros[uint32](m, l.n)
	defer give(m, likes)
	salt := uint32(mix(rule.seed + uint64(rule.rounds)))
	t.blocks((l.n+clusterBlock-1)/clusterBlock, func(worker, block int) {
		r := &raters[worker]
		for v := uint32(block * clusterBlock); v < uint32(min((block+1)*clusterBlock, l.n)); v++ {
			likes[v] = stay
			if k.alone(l, v) {
				likes[v] = r.favourite(l, k, rule, v, salt, false)
				if likes[v] == stay {
					likes[v] = v
				}
			}
		}
	})
	if t.stopped() {
		return
	}
	open := takeZeros[uint32](m, l.n) // by preferred cluster: 1 + the cluster that accepts more
	defer give(m, open)
	isolated := uint32(0)
	for i := range likes {
		if k.count <= rule.least {
			return
		}
		v := uint32(i)
		if likes[v] == stay || !k.alone(l, v) {
			continue
		}
		slot := &open[likes[v]]
		if likes[v] == v {
			if l.degree(v) > 0 {
				continue
			}
			slot = &isolated
		}
		if rule.within != nil && *slot > 0 && rule.within[*slot-1] != rule.within[v] {
			*slot = 0
		}
		if *slot > 0 {
			k.move(l, v, *slot-1, rule.caps)
		}
		if k.label[v] == v {
			*slot = v + 1
		}
	}
}

// shuffled returns the order in which nodes are taken: by the bit length of the degree; runs of consecutive
// nodes are shuffled among the runs of equal length.
func shuffled(m *memory, l *level, seed uint64) []uint32 {
	var start [34]int
	for v := range uint32(l.n) {
		start[bits.Len32(uint32(l.degree(v)))+1]++
	}
	for b := 1; b < len(start); b++ {
		start[b] += start[b-1]
	}
	order := takeZeros[uint32](m, l.n)
	at := start
	for v := range uint32(l.n) {
		b := bits.Len32(uint32(l.degree(v)))
		order[at[b]] = v
		at[b]++
	}
	run := shuffledRun
	if l.n < shuffleAll {
		run = 1
	}
	r := stream(seed, 1)
	for b := range len(start) - 1 {
		part := order[start[b]:start[b+1]]
		for i := len(part)/run - 1; i > 0; i-- {
			j := r.below(i + 1)
			for o := range run {
				part[i*run+o], part[j*run+o] = part[j*run+o], part[i*run+o]
			}
		}
	}
	return order
}

// rater sums the weight of the edges from a node to each neighbouring cluster.
type rater struct {
	slots []rating // a hash table with room for twice the neighbours; unused slots are zero
	used  []uint32
}

type rating struct {
	sum  uint64
	name uint32
}

// favourite is the cluster with which v shares the heaviest edges. It is stay if that is v's own cluster or if
// there is none. If room is set, only clusters with room for v count.
func (r *rater) favourite(l *level, k *clustering, rule *clusterRule, v, salt uint32, room bool) uint32 {
	from, to := l.offsets[v], l.offsets[v+1]
	if to-from > 8 {
		return r.hashed(l, k, rule, v, salt, room)
	}
	var names [8]uint32
	var sums [8]uint64
	n := 0
next:
	for i := from; i < to; i++ {
		u := l.neighbours[i]
		if rule.within != nil && rule.within[u] != rule.within[v] {
			continue
		}
		w := uint64(1)
		if l.edges != nil {
			w = uint64(l.edges[i])
		}
		name := k.label[u]
		for j := range n {
			if names[j] == name {
				sums[j] += w
				continue next
			}
		}
		names[n], sums[n] = name, w
		n++
	}
	best := choice{name: stay}
	for j := range n {
		best.offer(l, k, rule, v, salt, room, names[j], sums[j])
	}
	return best.result(k, v)
}

func (r *rater) hashed(l *level, k *clustering, rule *clusterRule, v, salt uint32, room bool) uint32 {
	from, to := l.offsets[v], l.offsets[v+1]
	size := 1 << bits.Len32(2*min(to-from, uint32(l.n))-1)
	if len(r.slots) < size {
		r.slots = make([]rating, size)
	}
	mask := uint32(size - 1)
	r.used = r.used[:0]
	for i := from; i < to; i++ {
		u := l.neighbours[i]
		if rule.within != nil && rule.within[u] != rule.within[v] {
			continue
		}
		w := uint64(1)
		if l.edges != nil {
			w = uint64(l.edges[i])
		}
		name := k.label[u]
		h := name * 0x9e3779b1 >> 7 & mask
		for r.slots[h].sum != 0 && r.slots[h].name != name {
			h = (h + 1) & mask
		}
		if r.slots[h].sum == 0 {
			r.slots[h].name = name
			r.used = append(r.used, h)
		}
		r.slots[h].sum += w
	}
	best := choice{name: stay}
	for _, h := range r.used {
		best.offer(l, k, rule, v, salt, room, r.slots[h].name, r.slots[h].sum)
		r.slots[h] = rating{}
	}
	return best.result(k, v)
}

// choice is the best cluster so far.
type choice struct {
	sum  uint64
	tie  uint32
	name uint32
}

func (b *choice) offer(l *level, k *clustering, rule *clusterRule, v, salt uint32, room bool, name uint32, sum uint64) {
	if sum < b.sum {
		return
	}
	tie := spread(name+v*0x85ebca6b, salt)
	if sum == b.sum && tie <= b.tie {
		return
	}
	if room && name != k.label[v] && !k.fits(l, v, name, rule.caps) {
		return
	}
	*b = choice{sum, tie, name}
}

func (b *choice) result(k *clustering, v uint32) uint32 {
	if b.name == k.label[v] {
		return stay
	}
	return b.name
}
