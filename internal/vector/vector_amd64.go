//go:build !purego

package vector

import "golang.org/x/sys/cpu"

func addRows(y, x []float64, at []uint32, a []float64) {
	if !cpu.X86.HasAVX2 {
		addPlain(y, x, at, a)
		return
	}
	n := len(y) &^ 7
	if len(x) < len(y) || !addAVX2(y[:n], x[:len(x)-len(y)+n], at, a) {
		panic("vector: an offset beyond the vectors")
	}
	if n < len(y) {
		addPlain(y[n:], x[n:], at, a)
	}
}

// addAVX2 is addRows for a y of a multiple of 8 numbers, and an x of at least as many.
// It reports false, with y in any state, at an offset that x is too short for.
//
//go:noescape
func addAVX2(y, x []float64, at []uint32, a []float64) bool
