package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/internal/exact"
)

// Numbers that do not fit into the memory have the same places and mode as those that do: of few distinct ones, of many, and of all magnitudes.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, make := range []func() float64{
		func() float64 { return float64(r.IntN(3)) - 1 },
		func() float64 { return 7 },
		r.NormFloat64,
		func() float64 { return math.Float64frombits(r.Uint64() &^ (1 << 62)) },
		func() float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) },
		func() float64 { return 1 + float64(r.IntN(2000))*0x1p-52 },
	} {
		numbers := make()
		values := []float64{numbers}
		for range 20_000 + r.IntN(1000) {
			values = append(values, make())
		}
		values = append(values, math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324)
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		var places []int
		for range 500 {
			places = append(places, r.IntN(len(values)))
		}
		places = append(places, 0, len(values)-1)
		from := func(fn func([]float64) error) error {
			for at := 0; at < len(values); at += 1000 {
				if err := fn(values[at:min(at+1000, len(values))]); err != nil {
					return err
				}
			}
			return nil
		}
		small, err := order(t.Context(), from, len(values), slices.Clone(places), 1, &exact.Sorter{})
		if err != nil {
			t.Fatal(err)
		}
		large, err := order(t.Context(), from, len(values), slices.Clone(places), 1<<30, &exact.Sorter{})
		if err != nil {
			t.Fatal(err)
		}
		if small.sorted != nil || large.sorted == nil {
			t.Fatal("found numbers that fit into no memory, or do not fit into all")
		}
		for _, i := range places {
			if small.at(i) != sorted[i] || large.at(i) != sorted[i] {
				t.Fatalf("place %d: found %g and %g, expected %g", i, small.at(i), large.at(i), sorted[i])
			}
		}
		if small.mode != large.mode {
			t.Errorf("found the modes %g and %g, expected one", small.mode, large.mode)
		}
	}
}
