//go:build !amd64 || purego

package vector

func sumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumPlain(y, x, rows, f) }

func sumRows32(y *[Lanes]float32, x []float32, rows []uint32, f float64) { sumPlain(y, x, rows, f) }

func stepRows32(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	stepRows32Plain(y, x, with, columns, offsets, f, totals)
}
