package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// number is a random number of 32 bits, or of 64.
func number[T float32 | float64](r *rand.Rand) T {
	return T(math.Ldexp(r.Float64()-0.5, r.IntN(60)-30))
}

func numbers[T float32 | float64](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = number[T](r)
	}
	return x
}

// someRows is a list of rows of n, whose capacity goes beyond it.
func someRows(r *rand.Rand, n int) []uint32 {
	list := make([]uint32, r.IntN(60))
	for i := range list {
		list[i] = uint32(r.IntN(n))
	}
	return list[:r.IntN(len(list)+1)]
}

// checkSums compares sums of rows with a loop over single numbers.
func checkSums[T float32 | float64](t *rapid.T, r *rand.Rand, n int, sum func(y *[Lanes]T, x []T, rows []uint32, f float64)) {
	x, rows, f := numbers[T](r, n*Lanes), someRows(r, n), number[float64](r)
	var want, got, plain [Lanes]T
	for k := range want {
		total := 0.0
		for _, v := range rows {
			total += float64(x[int(v)*Lanes+k])
		}
		want[k], got[k], plain[k] = T(f*total), 1, 1
	}
	sum(&got, x, rows, f)
	sumPlain(&plain, x, rows, f)
	if got != want || plain != want {
		t.Fatalf("found %v and %v, expected %v", got, plain, want)
	}
}

// All functions give, to the bit, the results of loops over single numbers.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		checkSums(t, r, n, SumRows)
		checkSums(t, r, n, SumRows32)
		x, y, w := numbers[float32](r, n*Lanes), numbers[float32](r, n*Lanes), numbers[float64](r, n)
		var want [Lanes]float64
		for i, f := range w {
			for k := range want {
				product := float64(x[i*Lanes+k]) * float64(y[i*Lanes+k])
				product = float64(product) * f
				want[k] += float64(product)
			}
		}
		var got, plain [Lanes]float64
		AddProducts32(&got, x, y, w)
		addProducts32Plain(&plain, x, y, w)
		if got != want || plain != want {
			t.Fatalf("found %v and %v, expected %v", got, plain, want)
		}
	})
}

func TestRowsRefuse(t *testing.T) {
	var y [Lanes]float64
	var z [Lanes]float32
	for name, f := range map[string]func(){
		"a row beyond":            func() { SumRows(&y, make([]float64, 32), []uint32{0, 2}, 1) },
		"a row far beyond":        func() { SumRows(&y, make([]float64, 32), []uint32{1<<32 - 1}, 1) },
		"half a row":              func() { SumRows(&y, make([]float64, 40), []uint32{2}, 1) },
		"a row of 32 bits beyond": func() { SumRows32(&z, make([]float32, 40), []uint32{2}, 1) },
		"more weights":            func() { AddProducts32(&y, make([]float32, 32), make([]float32, 32), make([]float64, 3)) },
		"fewer products":          func() { AddProducts32(&y, make([]float32, 32), make([]float32, 16), make([]float64, 2)) },
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
