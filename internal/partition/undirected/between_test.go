package undirected

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Between gives the rows of any range, from memory and from a file, with and without weights.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "nodes")
		var src, dst []uint32
		for range rapid.IntRange(0, 200).Draw(rt, "pairs") {
			src, dst = append(src, uint32(rapid.IntRange(0, n-1).Draw(rt, "u"))), append(dst, uint32(rapid.IntRange(0, n-1).Draw(rt, "v")))
		}
		g := FromPairs(n, src, dst)
		weighted := rapid.Bool().Draw(rt, "weighted")
		if weighted {
			g.EdgeWeights = make([]uint32, len(g.Neighbours))
			for i := range g.EdgeWeights {
				g.EdgeWeights[i] = uint32(i + 1)
			}
		}
		w, err := NewSpillWriter(vfs.OS, t.TempDir(), weighted)
		if err != nil {
			rt.Fatal(err)
		}
		for v := range n {
			b, _ := g.Between(v, v+1, nil)
			if err := w.Row(b.Neighbours, b.EdgeWeights); err != nil {
				rt.Fatal(err)
			}
			if rapid.IntRange(0, 9).Draw(rt, "new block") == 0 {
				if err := w.flush(); err != nil {
					rt.Fatal(err)
				}
			}
		}
		s, err := w.Done()
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		var m Buffer
		for range 20 {
			from := rapid.IntRange(0, n).Draw(rt, "from")
			to := rapid.IntRange(from, n).Draw(rt, "to")
			a, _ := g.Between(from, to, nil)
			b, err := s.Between(from, to, &m)
			if err != nil {
				rt.Fatal(err)
			}
			if a.First != b.First || a.Len() != b.Len() || !slices.Equal(a.Neighbours, b.Neighbours) || !slices.Equal(a.EdgeWeights, b.EdgeWeights) {
				rt.Fatalf("nodes %d to %d: found %v, expected %v", from, to, b, a)
			}
			ends, err := s.EndsBetween(from, to, &Buffer{})
			if err != nil || ends.Len() != a.Len() {
				rt.Fatalf("%d ends, %v", ends.Len(), err)
			}
			for i := range a.Len() {
				if p, q := ends.Row(i); q-p != a.Offsets[i+1]-a.Offsets[i] {
					rt.Fatalf("row %d: found %d neighbours", i, q-p)
				}
				x, y := a.Row(i)
				if p, q := b.Row(i); p != x || q != y {
					rt.Fatalf("row %d: found %d to %d, expected %d to %d", i, p, q, x, y)
				}
			}
		}
	})
}
