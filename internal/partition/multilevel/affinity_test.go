package multilevel

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Rows that are kept while nodes move equal the sums over the neighbours.
func TestAffinities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, parts := rapid.IntRange(2, 30).Draw(t, "nodes"), rapid.SampledFrom([]int{2, 3, 8, rowMost, rowMost + 9}).Draw(t, "parts")
		weights := map[[2]uint32]uint32{}
		node := rapid.Uint32Range(0, uint32(n-1))
		for range rapid.IntRange(0, 200).Draw(t, "pairs") {
			if a, b := node.Draw(t, "a"), node.Draw(t, "b"); a != b {
				weights[[2]uint32{min(a, b), max(a, b)}] = rapid.Uint32Range(1, 9).Draw(t, "weight")
			}
		}
		l := &level{n: n, offsets: []uint32{0}, constraints: 1}
		for v := range uint32(n) {
			for u := range uint32(n) {
				if w := weights[[2]uint32{min(u, v), max(u, v)}]; w > 0 && u != v {
					l.neighbours, l.edges = append(l.neighbours, u), append(l.edges, w)
				}
			}
			l.offsets = append(l.offsets, uint32(len(l.neighbours)))
		}
		part := make([]uint16, n)
		anyPart := rapid.Uint16Range(0, uint16(parts-1))
		for v := range part {
			part[v] = anyPart.Draw(t, "part")
		}
		m := &memory{}
		defer m.close()
		kept, b := newAffinities(m, l, parts), &binding{sum: make([]uint64, parts)}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			v := node.Draw(t, "node")
			want, got := map[uint16]int64{}, map[uint16]int64{}
			for i := l.offsets[v]; i < l.offsets[v+1]; i++ {
				want[part[l.neighbours[i]]] += l.edge(i)
			}
			for _, a := range kept.row(b, l, part, v) {
				if a.weight() > 0 {
					got[a.part()] += a.weight()
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("node %d: found %v, expected %v", v, got, want)
			}
			u, to := node.Draw(t, "mover"), anyPart.Draw(t, "to")
			for i := l.offsets[u]; to != part[u] && i < l.offsets[u+1]; i++ {
				kept.shift(l, l.neighbours[i], part[u], to, l.edge(i))
			}
			part[u] = to
		}
	})
}
