package multilevel

import "math/bits"

// contractEntries is the number of neighbours in a block of parallel work.
const contractEntries = 1 << 16

// contract makes the next level: a node for each cluster, numbered by first appearance, and an edge for each
// pair of clusters that have edges between them, with the sum of their weights. It consumes the clustering.
func contract(t team, m *memory, l *level, k *clustering) *level {
	next := &level{n: k.count, constraints: l.constraints, totals: l.totals}
	number := takeZeros[uint32](m, l.n) // 1 + the number of a cluster, by its name
	n := uint32(0)
	for v, name := range k.label {
		if number[name] == 0 {
			n++
			number[name] = n
		}
		k.label[v] = number[name] - 1
	}
	// The count excludes clusters without weight.
	next.n = int(n)
	next.weights = takeZeros[uint32](m, next.n*l.constraints)
	for name, i := range number {
		if i > 0 {
			copy(next.weights[int(i-1)*l.constraints:], k.weight[name*l.constraints:][:l.constraints])
		}
	}
	give(m, k.weight)
	l.coarse = k.label
	start := takeZeros[uint32](m, next.n+1)
	defer give(m, start)
	for _, c := range l.coarse {
		start[c+1]++
	}
	for c := range next.n {
		start[c+1] += start[c]
	}
	// number has room for one entry per node; it is reused for the nodes by cluster.
	members := number
	defer give(m, members)
	for v, c := range l.coarse {
		members[start[c]] = uint32(v)
		start[c]++
	}
	copy(start[1:], start[:next.n])
	start[0] = 0

	next.offsets = takeZeros[uint32](m, next.n+1)
	room := len(l.neighbours)
	neighbours, edges := takeZeros[uint32](m, room), takeZeros[uint32](m, room)
	blocks := contractBlocks(l, start, members)
	wave := 4 * t.threads
	gatherers := make([]gatherer, t.threads)
	outs, places := make([]block, wave), make([]int, wave)
	at := 0
	for from := 0; from+1 < len(blocks) && !t.stopped(); from += wave {
		count := min(wave, len(blocks)-1-from)
		t.blocks(count, func(worker, i int) {
			gatherers[worker].gather(l, start, members, blocks[from+i], blocks[from+i+1], &outs[i], next.offsets)
		})
		if t.stopped() {
			break
		}
		for i := range count {
			places[i] = at
			at += len(outs[i].neighbours)
		}
		// The first copy into a page waits for the system to clear it.
		t.blocks(count, func(_, i int) {
			copy(neighbours[places[i]:], outs[i].neighbours)
			copy(edges[places[i]:], outs[i].edges)
		})
	}
	if t.stopped() {
		// The call was cancelled, and edges are missing. The level must be valid, but its content is not used.
		clear(next.offsets)
		at = 0
	}
	for c := range next.n {
		next.offsets[c+1] += next.offsets[c]
	}
	if room*4 >= slabFrom {
		// The unused ends were never touched, so they take no memory.
		next.neighbours, next.edges = neighbours[:at], edges[:at]
	} else {
		next.neighbours, next.edges = append([]uint32(nil), neighbours[:at]...), append([]uint32(nil), edges[:at]...)
	}
	return next
}

// contractBlocks are the borders of blocks of clusters with about equal numbers of neighbours.
func contractBlocks(l *level, start, members []uint32) []uint32 {
	borders := []uint32{0}
	entries := 0
	for c := range uint32(len(start) - 1) {
		for _, v := range members[start[c]:start[c+1]] {
			entries += l.degree(v) + 1
		}
		if entries >= contractEntries {
			borders = append(borders, c+1)
			entries = 0
		}
	}
	if last := uint32(len(start) - 1); borders[len(borders)-1] != last {
		borders = append(borders, last)
	}
	return borders
}

// block has the edges of a run of clusters.
type block struct{ neighbours, edges []uint32 }

// gatherer collects the edges of clusters.
type gatherer struct {
	slots []uint32 // hash table: 1 + index in the block's neighbours
	used  []uint32
}

// gather writes the edges of the clusters from..to-1 to out, and their numbers to degrees, shifted by one.
func (g *gatherer) gather(l *level, start, members []uint32, from, to uint32, out *block, degrees []uint32) {
	out.neighbours, out.edges = out.neighbours[:0], out.edges[:0]
	for c := from; c < to; c++ {
		nodes := members[start[c]:start[c+1]]
		entries := 0
		for _, v := range nodes {
			entries += l.degree(v)
		}
		first := len(out.neighbours)
		if entries > 0 {
			g.sum(l, nodes, c, entries, out)
		}
		degrees[c+1] = uint32(len(out.neighbours) - first)
	}
}

func (g *gatherer) sum(l *level, nodes []uint32, c uint32, entries int, out *block) {
	size := 1 << bits.Len32(2*uint32(min(entries, len(l.coarse)))-1)
	if len(g.slots) < size {
		g.slots = make([]uint32, size)
	}
	mask := uint32(size - 1)
	g.used = g.used[:0]
	var clusters [64]uint32
	for _, v := range nodes {
		end := int(l.offsets[v+1])
		for from := int(l.offsets[v]); from < end; from += len(clusters) {
			// A loop of its own, in which the processor waits for the memory of many clusters together.
			near := l.neighbours[from:min(from+len(clusters), end)]
			for i, u := range near {
				clusters[i] = l.coarse[u]
			}
			for i, to := range clusters[:len(near)] {
				if to == c {
					continue
				}
				w := uint32(1)
				if l.edges != nil {
					w = min(l.edges[from+i], maxEdgeWeight)
				}
				h := to * 0x9e3779b1 >> 7 & mask
				for g.slots[h] != 0 && out.neighbours[g.slots[h]-1] != to {
					h = (h + 1) & mask
				}
				if p := g.slots[h]; p != 0 {
					out.edges[p-1] = min(out.edges[p-1]+w, maxEdgeWeight)
					continue
				}
				out.neighbours = append(out.neighbours, to)
				out.edges = append(out.edges, w)
				g.slots[h] = uint32(len(out.neighbours))
				g.used = append(g.used, h)
			}
		}
	}
	for _, h := range g.used {
		g.slots[h] = 0
	}
}
