//go:build !purego

package vector

import "golang.org/x/sys/cpu"

func sumRows(y *[Lanes]float64, x []float64, rows []uint32, f float64) {
	if !cpu.X86.HasAVX2 {
		sumPlain(y, x, rows, f)
		return
	}
	if !sumAVX2(y, x, rows, f) {
		panic("vector: a row beyond the vectors")
	}
}

func addProducts(total *[Lanes]float64, x, y, w []float64) {
	if !cpu.X86.HasAVX2 {
		addProductsPlain(total, x, y, w)
		return
	}
	addProductsAVX2(total, x, y, w)
}

// sumAVX2 is sumRows. It reports false, with y as it was, at a row that x is too short for.
//
//go:noescape
func sumAVX2(y *[Lanes]float64, x []float64, rows []uint32, f float64) bool

// addProductsAVX2 is addProducts for x and y of len(w) rows.
//
//go:noescape
func addProductsAVX2(total *[Lanes]float64, x, y, w []float64)
