package structure

import (
	"cmp"
	"math"
	"slices"
)

// eigen returns the eigenvalues of a symmetric matrix of n x n, row-major, in descending order, and their vectors as the columns of
// another. It uses the method of Jacobi, and overwrites a.
func eigen(a []float64, n int) (values, vectors []float64) {
	v := make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 60 {
		off, all := 0.0, 0.0
		for i := range n {
			for k := range n {
				x := float64(a[i*n+k] * a[i*n+k])
				all += x
				if i != k {
					off += x
				}
			}
		}
		if off <= 1e-34*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, v, n, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a[y*n+y], a[x*n+x]) })
	values, vectors = make([]float64, n), make([]float64, n*n)
	for to, from := range order {
		values[to] = a[from*n+from]
		for i := range n {
			vectors[i*n+to] = v[i*n+from]
		}
	}
	return values, vectors
}

// rotate makes a[p][q] zero by a rotation, and applies it to the vectors.
func rotate(a, v []float64, n, p, q int) {
	apq := a[p*n+q]
	if apq == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * apq)
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := float64(t * c)
	turn := func(m []float64, x, y int) {
		m[x], m[y] = float64(c*m[x])-float64(s*m[y]), float64(s*m[x])+float64(c*m[y])
	}
	for i := range n {
		turn(a, i*n+p, i*n+q)
	}
	for i := range n {
		turn(a, p*n+i, q*n+i)
		turn(v, i*n+p, i*n+q)
	}
	a[p*n+q], a[q*n+p] = 0, 0
}
