package multilevel

// affinity is a part and the weight of the edges from a node to it.
type affinity uint64

// weightBits is the room for a weight. Partition refuses graphs whose edges weigh more together.
const weightBits = 48

func affinityOf(p uint16, weight uint64) affinity { return affinity(p)<<weightBits | affinity(weight) }

func (a affinity) part() uint16  { return uint16(a >> weightBits) }
func (a affinity) weight() int64 { return int64(a & (1<<weightBits - 1)) }

const (
	rowLeast = 5  // degree from which a row is kept: fewer neighbours are summed as fast as a row is read, and take no memory
	rowMost  = 64 // length up to which a kept row is searched for a part; longer ones are summed again on each use
)

// affinities keeps the affinities of nodes to parts: a row for each node that was asked for and has enough neighbours. The row of a node
// with as many neighbours as there are parts has every part in order. Other rows have the parts with neighbours of the node, in no
// order. A row lies where the node's neighbours lie in the level, which are at least as many.
type affinities struct {
	rows  []affinity
	used  []uint16 // by node: the length of its row; 0: not summed yet
	parts int
}

func newAffinities(m *memory, l *level, parts int) affinities {
	return affinities{parts: parts, rows: takeZeros[affinity](m, len(l.neighbours)), used: takeZeros[uint16](m, l.n)}
}

func (t *affinities) free(m *memory) {
	give(m, t.rows)
	give(m, t.used)
}

// binding is room for summing one row. sum is zero between rows.
type binding struct {
	sum   []uint64 // by part
	parts []uint16 // with a sum
	row   []affinity
}

// add sums the affinities of v.
func (b *binding) add(l *level, part []uint16, v uint32) {
	from, to := l.offsets[v], l.offsets[v+1]
	b.parts = b.parts[:0]
	if l.edges == nil {
		for _, u := range l.neighbours[from:to] {
			p := part[u]
			if b.sum[p] == 0 {
				b.parts = append(b.parts, p)
			}
			b.sum[p]++
		}
	} else {
		edges := l.edges[from:to]
		for i, u := range l.neighbours[from:to] {
			p := part[u]
			if b.sum[p] == 0 {
				b.parts = append(b.parts, p)
			}
			b.sum[p] += uint64(edges[i])
		}
	}
}

// sums returns the affinities that add has summed, until b is used again.
func (b *binding) sums() []affinity {
	b.row = b.row[:0]
	for _, p := range b.parts {
		b.row = append(b.row, affinityOf(p, b.sum[p]))
		b.sum[p] = 0
	}
	return b.row
}

// row returns the affinities of v, until a neighbour of v moves or b is used again.
func (t *affinities) row(b *binding, l *level, part []uint16, v uint32) []affinity {
	from, to := l.offsets[v], l.offsets[v+1]
	if n := t.used[v]; n > 0 {
		return t.rows[from:][:n]
	}
	b.add(l, part, v)
	switch degree := int(to - from); {
	case degree >= t.parts && degree >= rowLeast:
		row := t.rows[from:][:t.parts]
		for p, sum := range b.sum {
			row[p] = affinityOf(uint16(p), sum)
			b.sum[p] = 0
		}
		t.used[v] = uint16(t.parts)
		return row
	case degree > rowMost || degree < rowLeast:
		return b.sums()
	}
	row := t.rows[from:][:len(b.parts)]
	for i, p := range b.parts {
		row[i] = affinityOf(p, b.sum[p])
		b.sum[p] = 0
	}
	t.used[v] = uint16(len(row))
	return row
}

// shift updates the row of u, if it is kept, when a neighbour moves from a part to another. The edge to it weighs w.
func (t *affinities) shift(l *level, u uint32, from, to uint16, w int64) {
	n := int(t.used[u])
	if n == 0 {
		return
	}
	row := t.rows[l.offsets[u]:][:n]
	if l.degree(u) >= t.parts {
		row[from] -= affinity(w)
		row[to] += affinity(w)
		return
	}
	i, j := 0, -1
	for k, a := range row {
		if p := a.part(); p == from {
			i = k
		} else if p == to {
			j = k
		}
	}
	row[i] -= affinity(w)
	empty := row[i].weight() == 0
	switch {
	case j >= 0:
		row[j] += affinity(w)
		if empty {
			row[i] = row[n-1]
			t.used[u]--
		}
	case empty:
		row[i] = affinityOf(to, uint64(w))
	default:
		t.rows[int(l.offsets[u])+n] = affinityOf(to, uint64(w))
		t.used[u]++
	}
}
