package undirected_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The rows that a SpillWriter took come back from Scan in pieces, whatever their lengths, and Degrees tells their lengths.
func TestRowsFromSpillWriter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		weighted := rapid.Bool().Draw(rt, "weighted")
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 1000, 40_000, 70_000}), 0, 12).Draw(rt, "lengths")
		var rows, weights [][]uint32
		w, err := undirected.NewSpillWriter(vfs.OS, t.TempDir(), weighted)
		if err != nil {
			rt.Fatal(err)
		}
		entries := int64(0)
		for i, n := range lengths {
			row, edges := make([]uint32, n), make([]uint32, n)
			for j := range row {
				row[j], edges[j] = uint32(i+j), uint32(1+i*j)
			}
			if !weighted {
				edges = nil
			}
			if err := w.Row(row, edges); err != nil {
				rt.Fatal(err)
			}
			rows, weights, entries = append(rows, row), append(weights, edges), entries+int64(n)
		}
		g, err := w.Done()
		if err != nil {
			rt.Fatal(err)
		}
		defer g.Close()
		if g.Len() != len(rows) || g.Entries() != entries || g.Weighted() != weighted {
			rt.Errorf("%d rows, %d entries, weighted %v", g.Len(), g.Entries(), g.Weighted())
		}
		next := 0
		if err := g.Scan(t.Context(), 1, func(_ int, b *undirected.Block) error {
			if int(b.First) != next {
				rt.Errorf("found node %d, expected %d", b.First, next)
			}
			for i := range b.Len() {
				from, to := b.Row(i)
				if !slices.Equal(b.Neighbours[from:to], rows[next]) || weighted && !slices.Equal(b.EdgeWeights[from:to], weights[next]) || !weighted && b.EdgeWeights != nil {
					rt.Errorf("row %d differs", next)
				}
				next++
			}
			return nil
		}); err != nil || next != len(rows) {
			rt.Errorf("%d rows, %v", next, err)
		}
		found := []int{}
		if err := g.Degrees(t.Context(), func(first uint32, ends []uint32) error {
			for i := range len(ends) - 1 {
				found = append(found, int(ends[i+1]-ends[i]))
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(append([]int{}, lengths...), found); d != "" {
			rt.Error(d)
		}
	})
}
