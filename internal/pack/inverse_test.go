package pack

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// After any number of pivots, the inverse times the basis is the identity, by columns and by rows.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "rows")
		pivots := rapid.IntRange(0, 3*maxChanges).Draw(t, "pivots")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		basis, diagonal := make([]column, n), make([]int, n)
		for i := range n {
			diagonal[i] = 1 + random.IntN(9)
			basis[i] = column{[]int32{int32(i)}, []float64{float64(diagonal[i])}}
		}
		v := newInverse(diagonal)
		d, w := make([]float64, v.stride), make([]float64, v.stride)
		for range pivots {
			var c column
			for range 1 + random.IntN(4) {
				c.row, c.copies = append(c.row, int32(random.IntN(n))), append(c.copies, float64(1+random.IntN(5)))
			}
			v.times(c.row, c.copies, d)
			r := random.IntN(n)
			if math.Abs(d[r]) < 0.1 { // such a small pivot would be avoided
				continue
			}
			v.row(r, w)
			for j := range w {
				w[j] /= d[r]
			}
			v.pivot(r, d, w)
			basis[r] = c
		}
		for i := range n {
			v.times(basis[i].row, basis[i].copies, d)
			v.row(i, w)
			for j := range n {
				product := 0.0
				for k, r := range basis[j].row {
					product += w[r] * basis[j].copies[k]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(d[j]-want) > 1e-6 || math.Abs(product-want) > 1e-6 {
					t.Fatalf("found %v and %v at %d, %d, expected %v", d[j], product, i, j, want)
				}
			}
		}
	})
}
