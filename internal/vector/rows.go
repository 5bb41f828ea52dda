package vector

// Lanes is the number of vectors that lie beside each other in a row.
const Lanes = 16

// SumRows sets y to f times the sum of rows of x, Lanes numbers each, in the order of rows. It panics if x is too short for a row. It may read
// the elements of rows from its length to its capacity, to fetch what is likely to be summed next.
func SumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumRows(y, x, rows, f) }

// AddProducts adds, for each i in order, w[i] times the product of row i of x and row i of y to total, lane by lane. It panics if x and y are
// not of len(w) rows.
func AddProducts(total *[Lanes]float64, x, y, w []float64) {
	if len(x) != len(w)*Lanes || len(y) != len(x) {
		panic("vector: as many rows as weights")
	}
	addProducts(total, x, y, w)
}

// sumPlain is sumRows in Go. Half of the lanes at a time stay in registers.
func sumPlain(y *[Lanes]float64, x []float64, rows []uint32, f float64) {
	for half := 0; half < Lanes; half += Lanes / 2 {
		var a0, a1, a2, a3, a4, a5, a6, a7 float64
		for _, v := range rows {
			r := (*[Lanes / 2]float64)(x[int(v)*Lanes+half:])
			a0 += r[0]
			a1 += r[1]
			a2 += r[2]
			a3 += r[3]
			a4 += r[4]
			a5 += r[5]
			a6 += r[6]
			a7 += r[7]
		}
		*(*[Lanes / 2]float64)(y[half:]) = [Lanes / 2]float64{f * a0, f * a1, f * a2, f * a3, f * a4, f * a5, f * a6, f * a7}
	}
}

// addProductsPlain is addProducts in Go.
func addProductsPlain(total *[Lanes]float64, x, y, w []float64) {
	for i, f := range w {
		a, b := (*[Lanes]float64)(x[i*Lanes:]), (*[Lanes]float64)(y[i*Lanes:])
		for k := range total {
			total[k] += float64(f * float64(a[k]*b[k]))
		}
	}
}
