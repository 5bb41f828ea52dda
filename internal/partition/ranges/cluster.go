package ranges

import (
	"cmp"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/tally"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// leads marks the label of a leader. The other bits are the size of its cluster: the sum of max(weight, 1) over its
// nodes, or the number of nodes if there are several constraints. The label of another node is its leader.
const (
	leads    = 1 << 31
	sizeMask = leads - 1
)

// Clusters is a division of the nodes into clusters. Each worker has one, of all nodes, and all are equal between rounds. A cluster has the number
// of its leader, which is one of its nodes, until Number.
type Clusters struct {
	p     *Plan
	label []uint32
	loads []uint32 // of a cluster, at its leader, by constraint; nil: there is one constraint, and the label has the size
	most  uint32   // size
	// leaving and hosting are the leaders that a round moves, and those of them that others join; both are empty between rounds.
	leaving, hosting bitmap
}

// NewClusters makes a cluster of each node. weights are those of all nodes, nil if all weigh 1; they are not kept.
func NewClusters(p *Plan, weights []uint32) *Clusters {
	var loads []uint32
	if p.Constraints > 1 {
		loads = slices.Clone(weights)
	}
	k := RestoreClusters(p, make([]uint32, p.Nodes), loads)
	for v := range k.label {
		k.label[v] = leads | k.size(weights, v)
	}
	return k
}

// State is all that Clusters hold between rounds, for a worker that ends there: 4 bytes per node, and 4 more per node and constraint if there are
// several. RestoreClusters takes it.
func (k *Clusters) State() (label, loads []uint32) { return k.label, k.loads }

// RestoreClusters makes Clusters that have a state, which they keep.
func RestoreClusters(p *Plan, label, loads []uint32) *Clusters {
	k := &Clusters{p: p, label: label, loads: loads, most: sizeMask, leaving: newBitmap(p.Nodes), hosting: newBitmap(p.Nodes)}
	if p.Constraints == 1 {
		k.most = uint32(min(p.ClusterCaps[0], sizeMask))
	}
	return k
}

// size is what a node adds to the size of its cluster; weights are those of some nodes, and i is its place among them.
func (k *Clusters) size(weights []uint32, i int) uint32 {
	if weights == nil || k.loads != nil {
		return 1
	}
	return min(max(weights[i], 1), sizeMask)
}

// leader is the leader of the cluster of v.
func (k *Clusters) leader(v uint32) uint32 {
	if x := k.label[v]; x&leads == 0 {
		return x
	}
	return v
}

// Proposal is a node that wants to join the cluster of a target.
type Proposal struct {
	Target, Node uint32
	// Weight is the weight of the edges between the node and the cluster.
	Weight uint32
}

// Proposals are messages to the owners of their targets, 12 bytes each. Sizes has the weights of their nodes, 4 bytes per constraint, if nodes
// have weights.
type Proposals struct {
	Items []Proposal
	Sizes []uint32
}

// Join is a node that joins the cluster of a leader.
type Join struct{ Node, To uint32 }

// Joins are messages to every worker, 8 bytes each. Sizes is as in Proposals.
type Joins struct {
	Items []Join
	Sizes []uint32
}

// Visitor has the memory of a visit of a block. One goroutine uses it at a time.
type Visitor struct {
	p   *Plan
	own []uint32 // labels of the nodes of the block, as the visit changes them
	// added is what the visit adds to clusters.
	added  additions
	sums   *tally.Table
	lonely uint32 // the last cluster of nodes of the block that have no neighbours
	rows   undirected.Buffer
	wants  wanting
}

// NewVisitor makes a Visitor.
func NewVisitor(p *Plan) *Visitor { return &Visitor{p: p, sums: tally.New(p.Nodes)} }

// additions has what is added to clusters: their sizes, then the loads if there are several constraints.
type additions struct {
	stride int
	slots  *tally.Table // the place of a cluster in amounts, plus 1
	places []uint64
}

func (a *additions) reset(nodes, stride int) {
	if a.slots == nil {
		a.slots = tally.New(nodes)
	}
	a.slots.Reset(nodes)
	a.stride, a.places = stride, a.places[:0]
}

// amounts are those of a cluster; nil: nothing was added.
func (a *additions) amounts(cluster uint32) []uint64 {
	if len(a.slots.Slots) == 0 {
		return nil
	}
	at := a.slots.Sum(cluster)
	if at == 0 {
		return nil
	}
	return a.places[int(at-1)*a.stride:][:a.stride]
}

// amountsOf is amounts, with zeros where nothing was added.
func (a *additions) amountsOf(cluster uint32) []uint64 {
	if s := a.amounts(cluster); s != nil {
		return s
	}
	at := len(a.places)
	for range a.stride {
		a.places = append(a.places, 0)
	}
	a.slots.Add(cluster, uint32(at/a.stride)+1)
	return a.places[at:]
}

// visit is a visit of a block.
type visit struct {
	*Visitor
	k       *Clusters
	b       *undirected.Block
	weights []uint32
	seed    uint64
	out     *Proposals
}

// Propose lets the nodes of a block choose their clusters, one after the other, and appends what they want to out: each sees the choices of those before
// it, and the clusters of all other nodes as they were before the round. A node chooses the neighbouring cluster with the heaviest edges
// that has room. A leader of others stays. weights are those of the nodes of the block, nil if all weigh 1.
//
// In the last pass favourites, an entry for each node of the block, receives the cluster that a node alone would choose if it had room, or
// tally.NoKey.
func (k *Clusters) Propose(m *Visitor, b *undirected.Block, weights []uint32, pass int, favourites []uint32, out *Proposals) {
	n := b.Len()
	m.own = append(m.own[:0], k.label[b.First:int(b.First)+n]...)
	stride := 1
	if k.loads != nil {
		stride += k.p.Constraints
	}
	m.added.reset(k.p.Block, stride)
	m.lonely = tally.NoKey
	v := &visit{m, k, b, weights, mix(mix(k.p.Seed) + uint64(pass)), out}
	for i := range n {
		favourite := v.node(i)
		if favourites != nil {
			favourites[i] = favourite
		}
	}
}

// leader is the leader of a node in the course of the visit.
func (v *visit) leader(u uint32) uint32 {
	x := v.k.label[u]
	if i := u - v.b.First; i < uint32(len(v.own)) {
		x = v.own[i]
	}
	if x&leads == 0 {
		return x
	}
	return u
}

// node lets a node choose, and returns its favourite if it stays alone.
func (v *visit) node(i int) uint32 {
	k, own := v.k, v.own[i]
	u := v.b.First + uint32(i)
	alone := own&leads != 0
	if alone && (own&sizeMask != k.size(v.weights, i) || v.added.amounts(u) != nil) {
		return tally.NoKey
	}
	from, to := v.b.Row(i)
	if from == to {
		if alone {
			v.gather(i)
		}
		return tally.NoKey
	}
	s := v.sums
	s.Reset(int(to - from))
	for j := from; j < to; j++ {
		w := uint32(1)
		if v.b.EdgeWeights != nil {
			w = v.b.EdgeWeights[j]
		}
		// Where a row has neighbours in too many clusters, the first ones count.
		s.Add(v.leader(v.b.Neighbours[j]), w)
	}
	best, favourite := tally.NoKey, tally.NoKey
	var most, mostOf, tie, tieOf uint64
	for _, slot := range s.Slots {
		c, w := s.Keys[slot], s.Sums[slot]
		if w < most && w < mostOf {
			continue
		}
		h := mix(v.seed + uint64(c)<<32 + uint64(u))
		if w > mostOf || w == mostOf && h > tieOf {
			favourite, mostOf, tieOf = c, w, h
		}
		if (w > most || w == most && h > tie) && (c == own || v.fits(c, i)) {
			best, most, tie = c, w, h
		}
	}
	switch {
	case best != tally.NoKey:
		if best != own {
			v.join(i, best, most)
		}
	case alone:
		return favourite
	}
	return tally.NoKey
}

// gather puts a node without neighbours into the open cluster of such nodes.
func (v *visit) gather(i int) {
	if v.lonely != tally.NoKey && v.fits(v.lonely, i) {
		v.join(i, v.lonely, 0)
	} else {
		v.lonely = v.b.First + uint32(i)
	}
}

// fits reports whether a cluster has room for a node, beside what the visit added to it.
func (v *visit) fits(c uint32, i int) bool {
	var weights []uint32
	if v.weights != nil {
		weights = v.weights[i*v.k.p.Constraints:][:v.k.p.Constraints]
	}
	return v.k.fits(c, v.k.size(v.weights, i), weights, v.added.amounts(c))
}

// fits reports whether a cluster has room for a node of a size and weights, beside amounts that were added: the size, then the loads.
func (k *Clusters) fits(c, size uint32, weights []uint32, added []uint64) bool {
	x := uint64(k.label[c]&sizeMask) + uint64(size)
	if added != nil {
		x += added[0]
	}
	if x > uint64(k.most) {
		return false
	}
	if k.loads == nil {
		return true
	}
	loads := k.loads[int(c)*len(weights):]
	for i, w := range weights {
		if w == 0 {
			continue
		}
		x := int64(loads[i]) + int64(w)
		if added != nil {
			x += int64(added[1+i])
		}
		if x > k.p.ClusterCaps[i] {
			return false
		}
	}
	return true
}

// join has a node propose to join a cluster.
func (v *visit) join(i int, c uint32, weight uint64) {
	v.own[i] = c
	amounts := v.added.amountsOf(c)
	amounts[0] += uint64(v.k.size(v.weights, i))
	v.out.Items = append(v.out.Items, Proposal{c, v.b.First + uint32(i), uint32(min(weight, 1<<32-1))})
	if n := v.k.p.stride(); n > 0 {
		own := v.weights[i*n:][:n]
		v.out.Sizes = append(v.out.Sizes, own...)
		for j := range amounts[1:] {
			amounts[1+j] += uint64(own[j])
		}
	}
}

// Accept returns which proposals to the leaders of a range are accepted: those of the heaviest edges while they fit, of equal ones by a hash of the node.
// Only room from before the round counts, so that no cluster exceeds its cap. It takes all proposals to these leaders in a round, in any order.
func (k *Clusters) Accept(in *Proposals, pass int) (out Joins) {
	seed := mix(mix(k.p.Seed+1) + uint64(pass))
	order := sortedOrder(len(in.Items), func(a, b int32) int {
		x, y := &in.Items[a], &in.Items[b]
		if x.Target != y.Target {
			return cmp.Compare(x.Target, y.Target)
		}
		if x.Weight != y.Weight {
			return cmp.Compare(y.Weight, x.Weight)
		}
		return cmp.Compare(mix(seed+uint64(x.Node)), mix(seed+uint64(y.Node)))
	})
	return k.fill(in, order, false)
}

// fill lets nodes join their targets in an order while they fit. As pairs, they join the first node with the same target instead, and where one does not fit, those after
// it join that one: a node that others join is then in one list alone, whoever else has it as target.
func (k *Clusters) fill(in *Proposals, order []int32, pairs bool) (out Joins) {
	n := k.p.stride()
	added := make([]uint64, 1+k.p.Constraints)
	last, to := tally.NoKey, tally.NoKey
	for _, at := range order {
		x := in.Items[at]
		var weights []uint32
		if n > 0 {
			weights = in.Sizes[int(at)*n:][:n]
		}
		if x.Target != last {
			clear(added)
			last, to = x.Target, x.Target
			if pairs {
				to = x.Node
			}
		}
		size := k.size(weights, 0)
		if to == x.Node {
			continue
		}
		if !k.fits(to, size, weights, added) {
			if pairs {
				clear(added)
				to = x.Node
			}
			continue
		}
		added[0] += uint64(size)
		for j, w := range weights {
			added[1+j] += uint64(w)
		}
		out.Items = append(out.Items, Join{x.Node, to})
		out.Sizes = append(out.Sizes, weights...)
	}
	return out
}

// Lonely returns the proposals with which nodes of a range that are still alone look for each other: to the leader of their favourite, which has no
// room. favourites has an entry for each node of the range from first on, weights are theirs.
func (k *Clusters) Lonely(first int, favourites, weights []uint32) (out Proposals) {
	n := k.p.stride()
	for i, c := range favourites {
		v := uint32(first + i)
		if c == tally.NoKey || k.label[v]&leads == 0 || k.label[v]&sizeMask != k.size(weights, i) {
			continue
		}
		if c = k.leader(c); c == v {
			continue
		}
		out.Items = append(out.Items, Proposal{Target: c, Node: v})
		if n > 0 {
			out.Sizes = append(out.Sizes, weights[i*n:][:n]...)
		}
	}
	return out
}

// Pair joins lonely nodes beside the same full clusters of a range: the first one leads the next ones while they fit. It takes all of their
// proposals, in any order.
func (k *Clusters) Pair(in *Proposals) Joins {
	order := sortedOrder(len(in.Items), func(a, b int32) int {
		x, y := &in.Items[a], &in.Items[b]
		return cmp.Or(cmp.Compare(x.Target, y.Target), cmp.Compare(x.Node, y.Node))
	})
	return k.fill(in, order, true)
}

// Apply makes the joins of a round, which are those of all ranges, in any order. Of a leader that joins another cluster and is joined itself, a coin
// decides which of both happens.
func (k *Clusters) Apply(in *Joins) {
	for _, j := range in.Items {
		if k.label[j.Node]&leads != 0 {
			k.leaving.include(j.Node)
		}
	}
	leaves := func(v uint32) bool { return mix(k.p.Seed+uint64(v)<<20)>>63 == 0 }
	for _, j := range in.Items {
		if k.leaving.has(j.To) {
			k.hosting.include(j.To)
		}
	}
	n := k.p.stride()
	for i, j := range in.Items {
		if k.leaving.has(j.To) && leaves(j.To) || k.hosting.has(j.Node) && !leaves(j.Node) {
			continue
		}
		var weights []uint32
		if n > 0 {
			weights = in.Sizes[i*n:][:n]
		}
		k.move(j, weights)
	}
	for _, j := range in.Items {
		k.leaving.exclude(j.Node)
		k.hosting.exclude(j.To)
	}
}

func (k *Clusters) move(j Join, weights []uint32) {
	from, size := k.leader(j.Node), k.size(weights, 0)
	k.label[j.To] += size
	if from != j.Node {
		k.label[from] -= size
	}
	if k.loads != nil {
		for i, w := range weights {
			k.loads[int(j.To)*len(weights)+i] += w
			if from != j.Node {
				k.loads[int(from)*len(weights)+i] -= w
			}
		}
	}
	k.label[j.Node] = j.To
}

// Number numbers the clusters in the order of their leaders, and returns how many there are and the number of the cluster of each node. The Clusters are of no use
// afterwards.
func (k *Clusters) Number() (count int, coarse []uint32) {
	for v, x := range k.label {
		if x&leads != 0 {
			k.label[v] = leads | uint32(count)
			count++
		}
	}
	for v, x := range k.label {
		if x&leads == 0 {
			k.label[v] = k.label[x] & sizeMask
		}
	}
	for v := range k.label {
		k.label[v] &= sizeMask
	}
	coarse, k.label, k.loads = k.label, nil, nil
	return count, coarse
}
