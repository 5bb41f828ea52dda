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

func sumRows32(y *[Lanes]float32, x []float32, rows []uint32, f float64) {
	if !cpu.X86.HasAVX2 {
		sumPlain(y, x, rows, f)
		return
	}
	if !sum32AVX2(y, x, rows, f) {
		panic("vector: a row beyond the vectors")
	}
}

func addProducts32(total *[Lanes]float64, x, y []float32, w []float64) {
	if !cpu.X86.HasAVX2 {
		addProducts32Plain(total, x, y, w)
		return
	}
	addProducts32AVX2(total, x, y, w)
}

// sumAVX2 is sumRows. It reports false, with y as it was, at a row that x is too short for.
//
//go:noescape
func sumAVX2(y *[Lanes]float64, x []float64, rows []uint32, f float64) bool

// sum32AVX2 is sumRows32, and reports as sumAVX2 does.
//
//go:noescape
func sum32AVX2(y *[Lanes]float32, x []float32, rows []uint32, f float64) bool

// addProducts32AVX2 is addProducts32 for x and y of len(w) rows.
//
//go:noescape
func addProducts32AVX2(total *[Lanes]float64, x, y []float32, w []float64)
