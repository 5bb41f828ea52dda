package multilevel_test

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTypesBalance divides graphs whose nodes weigh 1 in the constraint of their type. Each type can be divided alone, so parts within the
// caps exist for every graph, and Partition must find some.
func TestTypesBalance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.IntRange(1, 4).Draw(t, "types")
		var typeOf []int
		for c := range types {
			for range rapid.IntRange(1, 40).Draw(t, "nodes") {
				typeOf = append(typeOf, c)
			}
		}
		n := len(typeOf)
		id := rapid.IntRange(0, n-1)
		hubs := rapid.IntRange(1, n).Draw(t, "hubs") // few: most pairs have a hub
		pairs := make([][2]int, rapid.IntRange(0, 3*n).Draw(t, "pairs"))
		for i := range pairs {
			pairs[i] = [2]int{id.Draw(t, "src") % hubs, id.Draw(t, "dst")}
		}
		g := graph(n, pairs)
		g.Constraints = types
		g.Weights = make([]uint32, n*types)
		for v, c := range typeOf {
			g.Weights[v*types+c] = 1
		}
		o := options(rapid.IntRange(2, 8).Draw(t, "parts"), rapid.Uint64Range(0, 9).Draw(t, "seed"))
		o.Imbalance = []float64{rapid.SampledFrom([]float64{1, 1.03, 1.1, 1.5}).Draw(t, "imbalance")}
		if _, stats := partition(t, g, o); !stats.Balanced {
			t.Fatalf("found the loads %d, expected at most %d", stats.Loads, g.Caps(o.Parts, o.Imbalance))
		}
	})
}
