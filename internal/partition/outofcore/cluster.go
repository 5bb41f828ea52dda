package outofcore

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/partition/tally"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

const (
	// A cluster weighs at most a share of a part. Each level that does not make the graph fit the memory is followed by one
	// with a larger share.
	firstShare, shareStep, lastShare = 0.003, 1.5, 0.25
	clusterPasses                    = 2
	leastShrink                      = 0.97 // a level that keeps more of the nodes is not worth its passes
	mostFull                         = 1 << 16
)

// leads marks the label of a leader. The other bits are the size of its cluster: the sum of max(weight, 1) over its
// nodes, or the number of nodes if there are several constraints. The label of another node is its leader.
const (
	leads    = 1 << 31
	sizeMask = leads - 1
)

// clusters is a division of the nodes of a level into clusters. Each has the number of its leader until renumber.
type clusters struct {
	l      *level
	label  []uint32
	loads  []uint32 // of a cluster, at its leader, by constraint; nil: there is one constraint, and the label has the size
	caps   []int64
	most   uint32 // size
	count  int
	seed   uint64
	lonely uint32 // the last cluster of nodes without neighbours
	// full has, in the last pass, by a full cluster the last node alone that wanted to join it.
	full map[uint32]uint32
	// entries counts the neighbours of the nodes by the leader, in ranges of 1 << granule nodes.
	entries []uint64
	granule uint
}

const granules = 1 << 15

// cluster divides the nodes of l into clusters that weigh at most a share of a part. The result must be closed.
func (r *run) cluster(ctx context.Context, l *level, share float64) (_ *clusters, err error) {
	n := l.g.Len()
	k := &clusters{l: l, most: sizeMask, seed: mix(r.Seed + uint64(l.number)), lonely: tally.NoKey}
	for _, total := range l.totals {
		// At least two mean nodes, so that a small graph shrinks too.
		twice := 2 * (total + int64(n) - 1) / int64(n)
		k.caps = append(k.caps, min(max(int64(share*float64(total)/float64(r.Parts)), twice, 1), math.MaxUint32))
	}
	if l.constraints == 1 {
		k.most = uint32(min(k.caps[0], sizeMask))
	}
	for n>>k.granule >= granules {
		k.granule++
	}
	if k.label, err = takeZeros[uint32](n); err != nil {
		return nil, err
	}
	if l.constraints > 1 {
		if k.loads, err = takeZeros[uint32](n * l.constraints); err != nil {
			k.close()
			return nil, err
		}
		copy(k.loads, l.weights)
	}
	for v := range k.label {
		k.label[v] = leads | k.size(uint32(v))
	}
	if r.sums == nil {
		r.sums = tally.New(n)
	}
	s := r.sums
	for pass := range clusterPasses {
		last := pass == clusterPasses-1
		if last {
			k.full, k.entries = map[uint32]uint32{}, make([]uint64, granules)
		}
		k.seed = mix(k.seed)
		if err := r.pass(ctx, l, fmt.Sprintf("cluster, pass %d of %d", pass+1, clusterPasses), func(b *undirected.Block) error {
			for i := range b.Len() {
				v := b.First + uint32(i)
				k.visit(s, b, i, last)
				if last {
					k.entries[k.leader(v)>>k.granule] += uint64(b.Offsets[i+1] - b.Offsets[i])
				}
			}
			return nil
		}); err != nil {
			k.close()
			return nil, err
		}
	}
	for _, x := range k.label {
		k.count += int(x >> 31)
	}
	return k, nil
}

func (k *clusters) close() {
	free(k.label)
	free(k.loads)
	k.label, k.loads = nil, nil
}

// size is what a node adds to the size of its cluster.
func (k *clusters) size(v uint32) uint32 {
	if k.l.weights == nil || k.l.constraints > 1 {
		return 1
	}
	return min(max(k.l.weights[v], 1), sizeMask)
}

// leader is the leader of the cluster of v.
func (k *clusters) leader(v uint32) uint32 {
	if x := k.label[v]; x&leads == 0 {
		return x
	}
	return v
}

// fits reports whether a cluster has room for a node.
func (k *clusters) fits(c, v uint32) bool {
	if k.label[c]&sizeMask+k.size(v) > k.most { // both are below 2^31
		return false
	}
	if k.loads == nil {
		return true
	}
	count := uint32(k.l.constraints)
	for i := range count {
		if w := k.loads[v*count+i]; w > 0 && int64(k.loads[c*count+i])+int64(k.l.weights[v*count+i]) > k.caps[i] {
			return false
		}
	}
	return true
}

// move puts v, which leads nobody else, into the cluster of another leader.
func (k *clusters) move(v, to uint32) {
	from := k.leader(v)
	k.label[to] += k.size(v)
	if from != v {
		k.label[from] -= k.size(v)
	}
	if k.loads != nil {
		count := uint32(k.l.constraints)
		for i := range count {
			w := k.l.weights[v*count+i]
			k.loads[to*count+i] += w
			if from != v {
				k.loads[from*count+i] -= w
			}
		}
	}
	k.label[v] = to
}

// visit lets node b.First+i choose its cluster: the neighbouring one with the heaviest edges that has room. A leader of
// others stays.
func (k *clusters) visit(s *tally.Table, b *undirected.Block, i int, last bool) {
	v := b.First + uint32(i)
	x := k.label[v]
	alone := x&leads != 0
	if alone && x&sizeMask != k.size(v) {
		return
	}
	from, to := b.Row(i)
	if from == to {
		if alone {
			k.gather(v)
		}
		return
	}
	s.Reset(int(to - from))
	for j := from; j < to; j++ {
		w := uint32(1)
		if b.EdgeWeights != nil {
			w = b.EdgeWeights[j]
		}
		// Where a row has neighbours in too many clusters, the first ones count.
		s.Add(k.leader(b.Neighbours[j]), w)
	}
	best, favourite := tally.NoKey, tally.NoKey
	var most, mostOf, tie, tieOf uint64
	for _, slot := range s.Slots {
		c, w := s.Keys[slot], s.Sums[slot]
		if w < most && w < mostOf {
			continue
		}
		h := mix(k.seed + uint64(c)<<32 + uint64(v))
		if w > mostOf || w == mostOf && h > tieOf {
			favourite, mostOf, tieOf = c, w, h
		}
		if (w > most || w == most && h > tie) && (c == x || k.fits(c, v)) {
			best, most, tie = c, w, h
		}
	}
	switch {
	case best != tally.NoKey:
		if best != x {
			k.move(v, best)
		}
	case last && alone:
		// The nodes around a full cluster join each other.
		other, there := k.full[favourite]
		if there && k.fits(other, v) {
			k.move(v, other)
		} else if there || len(k.full) < mostFull {
			k.full[favourite] = v
		}
	}
}

// gather puts a node without neighbours into the open cluster of such nodes.
func (k *clusters) gather(v uint32) {
	if k.lonely != tally.NoKey && k.lonely != v && k.fits(k.lonely, v) {
		k.move(v, k.lonely)
	} else if k.lonely == tally.NoKey || k.lonely != v {
		k.lonely = v
	}
}

// renumber numbers the clusters in the order of their leaders: label has the number of each node's cluster afterwards. It
// returns the number of the first cluster of each granule.
func (k *clusters) renumber() []uint32 {
	starts := make([]uint32, granules+1)
	next := uint32(0)
	for v, x := range k.label {
		if v&(1<<k.granule-1) == 0 {
			starts[v>>k.granule] = next
		}
		if x&leads != 0 {
			k.label[v] = leads | next
			next++
		}
	}
	for g := (len(k.label) + 1<<k.granule - 1) >> k.granule; g <= granules; g++ {
		starts[g] = next
	}
	for v, x := range k.label {
		if x&leads == 0 {
			k.label[v] = k.label[x] & sizeMask
		}
	}
	for v := range k.label {
		k.label[v] &= sizeMask
	}
	return starts
}

// mix is splitmix64's finisher: a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// saturated is a weight of an edge of a coarse level: multilevel takes at most 2^31 - 1.
func saturated(w uint64) uint32 { return uint32(min(w, math.MaxInt32)) }
