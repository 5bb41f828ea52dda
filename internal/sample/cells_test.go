package sample

import (
	"math"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
)

// A cell that is sure names the edge that a search in the sums finds, for draws anywhere and for those next to the bounds.
func TestCells(t *testing.T) {
	weight := rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.SampledFrom([]float64{0, 0, 1, 1, 3, 1e-300, 5e-324, 1e-17, 1e17, 1e300}),
		rapid.Map(rapid.IntRange(-60, 60), func(e int) float64 { return math.Ldexp(1, e) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(weight, 1, 400).Draw(t, "weights")
		sums := make([]float64, len(weights))
		sum := 0.0
		for i, x := range weights {
			sum += x
			sums[i] = sum
		}
		if math.IsInf(sum, 1) {
			t.Skip("no finite sum")
		}
		checkCells(t, sums, rapid.Uint64().Draw(t, "key"))
	})
}

// Nodes of many edges, whose cells are as narrow as the numbers of draws allow.
func TestCellsOfHubs(t *testing.T) {
	sums := make([]float64, 1<<22)
	sum := 0.0
	for i := range sums {
		sum += draw.Unit(draw.At(1, uint64(i)))
		sums[i] = sum
	}
	if sure := checkCells(t, sums, 2); sure < 0.75 {
		t.Errorf("random weights: found cells that tell %.2f of the draws, expected three quarters", sure)
	}
	for _, n := range []int{1, 2, 3, 7, 1000, len(sums)} {
		for i := range sums[:n] {
			sums[i] = 0.7 * float64(i+1)
		}
		if sure := checkCells(t, sums[:n], 3); sure < 0.99 {
			t.Errorf("%d equal weights: found cells that tell %.2f of the draws, expected nearly all", n, sure)
		}
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkCells checks the cells of a node with the sums, and returns the share of random draws that they tell.
func checkCells(t failer, sums []float64, key uint64) float64 {
	t.Helper()
	n := len(sums)
	w := weights{cells: make([]cell, n)}
	fillCells(w.cells, sums)
	total := sums[n-1]
	check := func(unit uint64) bool {
		r := min(unit, allUnits-1)<<11 | unit&drawMask
		x := draw.Unit(r) * total
		want := sort.Search(n, func(i int) bool { return sums[i] > x })
		got, sure := w.cellEdge(r, 0, uint32(n))
		if sure && int(got) != want {
			t.Fatalf("found edge %d of draw %#x of %d edges, expected %d", got, r, n, want)
		}
		return sure
	}
	sure, draws := 0, 2000
	for i := range uint64(draws) {
		if check(draw.At(key, i) >> 11) {
			sure++
		}
	}
	for i := range uint64(200) {
		at := sums[draw.Below(draw.At(key, i), uint64(n))] / total * float64(allUnits)
		for near := range uint64(41) {
			check(uint64(at) + near - min(20, uint64(at)+near))
		}
	}
	return float64(sure) / float64(draws)
}
