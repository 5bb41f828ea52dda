//go:build !amd64 || purego

package vector

func sumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) { sumPlain(y, x, rows, f) }

func addProducts(total *[Lanes]float64, x, y, w []float64) { addProductsPlain(total, x, y, w) }
