package vector

// Lanes is the number of vectors that lie beside each other in a row.
const Lanes = 16

// SumRows sets y to f times the sum of rows of x, Lanes numbers each, in the order of rows. It panics if x is too short for a row. It may read
// the elements of rows from its length to its capacity, to fetch what is likely to be summed next.
func SumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumRows(y, x, rows, f) }

// SumRows32 is SumRows of numbers of 32 bits. It sums and multiplies in 64 bits, and rounds the results.
func SumRows32(y *[Lanes]float32, x []float32, rows []uint32, f float64) { sumRows32(y, x, rows, f) }

// StepRows32 sets each row u of y to f[u] times the sum of the rows columns[offsets[u]:offsets[u+1]] of x, as SumRows32 does. For each u in order it
// adds the sum times row u of with to totals[0], and the sum times row u of y to totals[1], lane by lane, in 64 bits. y and with are of len(f)
// rows, and y overlaps neither x nor with. It panics, with y and totals in any state, at offsets beyond columns or a column beyond x.
func StepRows32(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	if len(y) != len(f)*Lanes || len(with) != len(y) || len(offsets) != len(f)+1 {
		panic("vector: as many rows as factors")
	}
	if len(f) > 0 {
		stepRows32(y, x, with, columns, offsets, f, totals)
	}
}

// sumPlain is sumRows and sumRows32 in Go.
func sumPlain[T float32 | float64](y *[Lanes]T, x []T, rows []uint32, f float64) {
	for half := 0; half < Lanes; half += Lanes / 2 {
		for i, sum := range sumHalf(x, rows, half) {
			y[half+i] = T(f * sum)
		}
	}
}

// sumHalf sums half of the lanes, from the given one on: as many sums stay in registers.
func sumHalf[T float32 | float64](x []T, rows []uint32, half int) [Lanes / 2]float64 {
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
	return [Lanes / 2]float64{a0, a1, a2, a3, a4, a5, a6, a7}
}

// stepRows32Plain is stepRows32 in Go.
func stepRows32Plain(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	for u, factor := range f {
		row := columns[offsets[u]:offsets[u+1]]
		next, other := (*[Lanes]float32)(y[u*Lanes:]), (*[Lanes]float32)(with[u*Lanes:])
		for half := 0; half < Lanes; half += Lanes / 2 {
			for i, sum := range sumHalf(x, row, half) {
				k := half + i
				next[k] = float32(factor * sum)
				totals[0][k] += float64(sum * float64(other[k]))
				totals[1][k] += float64(sum * float64(next[k]))
			}
		}
	}
}
