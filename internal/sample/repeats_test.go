package sample

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Draws from one end of edges, by node, keep the same edges as with a set of all edge ids: over several subgraphs, of nodes
// with few edges and with many, with ops that draw with replacement.
func TestRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wide := rapid.Bool().Draw(t, "wide")
		var r repeats
		byNode, bySet := edgeBuffer{isWide: wide}, edgeBuffer{isWide: wide, kept: &idSet{wide: wide}}
		for range rapid.IntRange(1, 3).Draw(t, "subgraphs") {
			r.begin()
			bySet.kept.begin()
			byNode.n, bySet.n = 0, 0
			for range rapid.IntRange(1, 5).Draw(t, "ops") {
				always := rapid.IntRange(0, 3).Draw(t, "replace") == 0
				var near []uint32
				var ids []uint64
				for v := range uint32(rapid.IntRange(0, 6).Draw(t, "nodes")) {
					degree := rapid.SampledFrom([]int{0, 1, 5, 40, 300}).Draw(t, "degree")
					for _, p := range rapid.SliceOfNDistinct(rapid.IntRange(0, max(degree, 1)*2), 0, degree, rapid.ID).Draw(t, "edges") {
						near, ids = append(near, v), append(ids, uint64(v)<<20|uint64(p))
						if wide {
							ids[len(ids)-1] |= uint64(p%3) << 40
						}
					}
				}
				for _, e := range []*edgeBuffer{&byNode, &bySet} {
					e.reserve(len(near))
					for i := range near {
						e.set(e.n+i, uint32(i), near[i], ids[i])
					}
				}
				byNode.n += r.keep(&byNode, byNode.dst[byNode.n:byNode.n+len(near)], 6, always)
				bySet.n += bySet.keep(len(near), always)
				a, b := byNode.lists(), bySet.lists()
				if !slices.Equal(a.Src, b.Src) || !slices.Equal(a.Dst, b.Dst) || !slices.Equal(a.ID.U32, b.ID.U32) || !slices.Equal(a.ID.U64, b.ID.U64) {
					t.Fatalf("found %v, expected %v", a, b)
				}
			}
		}
	})
}
