package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Add gives, to the bit, the result of a loop over single numbers.
func TestAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(t, "length")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		number := func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(60)-30) }
		x, y := make([]float64, n+r.IntN(500)), make([]float64, n)
		for i := range x {
			x[i] = number()
		}
		for i := range y {
			y[i] = number()
		}
		at, a := make([]uint32, r.IntN(40)), make([]float64, 0)
		for i := range at {
			at[i] = uint32(r.IntN(len(x) - n + 1))
			a = append(a, number())
		}
		want := slices.Clone(y)
		for i, f := range a {
			for k := range want {
				product := f * x[int(at[i])+k]
				want[k] += float64(product)
			}
		}
		plain := slices.Clone(y)
		addPlain(plain, x, at, a)
		Add(y, x, at, a)
		if !slices.Equal(y, want) || !slices.Equal(plain, want) {
			t.Fatalf("found %v and %v, expected %v", y, plain, want)
		}
	})
}

func TestAddRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"an offset beyond":     func() { Add(make([]float64, 32), make([]float64, 40), []uint32{0, 9}, []float64{1, 1}) },
		"an offset far beyond": func() { Add(make([]float64, 8), make([]float64, 40), []uint32{1<<32 - 1}, []float64{1}) },
		"an odd offset beyond": func() { Add(make([]float64, 9), make([]float64, 40), []uint32{32}, []float64{1}) },
		"a short x":            func() { Add(make([]float64, 9), make([]float64, 8), []uint32{0}, []float64{1}) },
		"more factors":         func() { Add(make([]float64, 8), make([]float64, 8), []uint32{0}, []float64{1, 2}) },
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

func BenchmarkAdd(b *testing.B) {
	const n, vectors = 576, 32
	x, y := make([]float64, vectors*(n+8)), make([]float64, n)
	at, a := make([]uint32, vectors), make([]float64, vectors)
	for i := range at {
		at[i], a[i] = uint32(i*(n+8)), 1e-9
	}
	for b.Loop() {
		Add(y, x, at, a)
	}
	b.ReportMetric(n*vectors*float64(b.N)/b.Elapsed().Seconds()/1e9, "G/s")
}
