package vector

// Lanes is the number of vectors that lie beside each other in a row.
const Lanes = 16

// SumRows sets y to f times the sum of rows of x, Lanes numbers each, in the order of rows. It panics if x is too short for a row. It may read
// the elements of rows from its length to its capacity, to fetch what is likely to be summed next.
func SumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumRows(y, x, rows, f) }

// SumRows32 is SumRows of numbers of 32 bits. It sums and multiplies in 64 bits, and rounds the results.
func SumRows32(y *[Lanes]float32, x []float32, rows []uint32, f float64) { sumRows32(y, x, rows, f) }

// AddProducts32 adds, for each i in order, w[i] times the product of row i of x and row i of y to total, lane by lane, in 64 bits. It panics
// if x and y are not of len(w) rows.
func AddProducts32(total *[Lanes]float64, x, y []float32, w []float64) {
	if len(x) != len(w)*Lanes || len(y) != len(x) {
		panic("vector: as many rows as weights")
	}
	addProducts32(total, x, y, w)
}

// sumPlain is sumRows and sumRows32 in Go. Half of the lanes at a time stay in registers.
func sumPlain[T float32 | float64](y *[Lanes]T, x []T, rows []uint32, f float64) {
	for half := 0; half < Lanes; half += Lanes / 2 {
		var a0, a1, a2, a3, a4, a5, a6, a7 float64
		for _, v := range rows {
			r := (*[Lanes / 2]T)(x[int(v)*Lanes+half:])
			a0 += float64(r[0])
			a1 += float64(r[1])
			a2 += float64(r[2])
			a3 += float64(r[3])
			a4 += float64(r[4])
			a5 += float64(r[5])
			a6 += float64(r[6])
			a7 += float64(r[7])
		}
		*(*[Lanes / 2]T)(y[half:]) = [Lanes / 2]T{T(f * a0), T(f * a1), T(f * a2), T(f * a3), T(f * a4), T(f * a5), T(f * a6), T(f * a7)}
	}
}

// addProducts32Plain is addProducts32 in Go.
func addProducts32Plain(total *[Lanes]float64, x, y []float32, w []float64) {
	for i, f := range w {
		a, b := (*[Lanes]float32)(x[i*Lanes:]), (*[Lanes]float32)(y[i*Lanes:])
		for k := range total {
			total[k] += float64(f * float64(float64(a[k])*float64(b[k])))
		}
	}
}
