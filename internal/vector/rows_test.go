package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// SumRows and AddProducts give, to the bit, the results of loops over single numbers.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		numbers := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(60)-30)
			}
			return x
		}
		x, y, w := numbers(n*Lanes), numbers(n*Lanes), numbers(n)
		list := make([]uint32, r.IntN(60))
		for i := range list {
			list[i] = uint32(r.IntN(n))
		}
		rows := list[:r.IntN(len(list)+1)]
		var want, got, plain [Lanes]float64
		for i := range got {
			got[i], plain[i] = 1, 1
		}
		for _, v := range rows {
			for k := range want {
				want[k] += x[int(v)*Lanes+k]
			}
		}
		for k := range want {
			want[k] *= w[0]
		}
		SumRows(&got, x, rows, w[0])
		sumPlain(&plain, x, rows, w[0])
		if got != want || plain != want {
			t.Fatalf("SumRows: found %v and %v, expected %v", got, plain, want)
		}
		for i, f := range w {
			for k := range want {
				product := x[i*Lanes+k] * y[i*Lanes+k]
				product = float64(product) * f
				want[k] += float64(product)
			}
		}
		AddProducts(&got, x, y, w)
		addProductsPlain(&plain, x, y, w)
		if got != want || plain != want {
			t.Fatalf("AddProducts: found %v and %v, expected %v", got, plain, want)
		}
	})
}

func TestRowsRefuse(t *testing.T) {
	var y [Lanes]float64
	for name, f := range map[string]func(){
		"a row beyond":     func() { SumRows(&y, make([]float64, 32), []uint32{0, 2}, 1) },
		"a row far beyond": func() { SumRows(&y, make([]float64, 32), []uint32{1<<32 - 1}, 1) },
		"half a row":       func() { SumRows(&y, make([]float64, 40), []uint32{2}, 1) },
		"more weights":     func() { AddProducts(&y, make([]float64, 32), make([]float64, 32), make([]float64, 3)) },
		"fewer products":   func() { AddProducts(&y, make([]float64, 32), make([]float64, 16), make([]float64, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: found no panic, expected one", name)
				}
			}()
			f()
		}()
	}
}
