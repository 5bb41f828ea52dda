package undirected

// FromPairs builds the graph of n nodes in which src[i] and dst[i] are neighbours. The pairs may come in any
// order, in either direction and repeatedly. Pairs of a node with itself are left out. It is meant for small
// graphs; Build is for stores.
func FromPairs(n int, src, dst []uint32) *Graph {
	m := rowMaker{degrees: make([]uint32, n), ends: make([]uint32, n), neighbours: make([]uint32, 2*len(src))}
	for i, u := range src {
		m.degrees[u]++
		m.degrees[dst[i]]++
	}
	at := uint32(0)
	for v, d := range m.degrees {
		m.ends[v] = at
		at += d
	}
	for i, u := range src {
		v := dst[i]
		m.neighbours[m.ends[u]] = v
		m.ends[u]++
		m.neighbours[m.ends[v]] = u
		m.ends[v]++
	}
	m.tidy(0)
	g := &Graph{Offsets: make([]uint32, n+1), Neighbours: m.neighbours, Constraints: 1}
	for v, d := range m.degrees {
		g.Offsets[v+1] = g.Offsets[v] + d
	}
	return g
}
