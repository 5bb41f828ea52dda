//go:build !amd64 || purego

package vector

func sumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumPlain(y, x, rows, f) }

func sumRows32(y *[Lanes]float32, x []float32, rows []uint32, f float64) { sumPlain(y, x, rows, f) }

func addProducts32(total *[Lanes]float64, x, y []float32, w []float64) {
	addProducts32Plain(total, x, y, w)
}
