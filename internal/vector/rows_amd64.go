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

func stepRows32(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	switch {
	case cpu.X86.HasAVX512F:
		stepAVX512(y, x, with, columns, offsets, f, totals)
	case cpu.X86.HasAVX2:
		stepAVX2(y, x, with, columns, offsets, f, totals)
	default:
		stepRows32Plain(y, x, with, columns, offsets, f, totals)
	}
}

func stepAVX512(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	if !step32AVX512(&y[0], x, &with[0], columns, &offsets[0], f, &totals[0], &totals[1]) {
		panic("vector: a row beyond the vectors")
	}
}

func stepAVX2(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64) {
	if !step32AVX2(&y[0], x, &with[0], columns, &offsets[0], f, &totals[0], &totals[1]) {
		panic("vector: a row beyond the vectors")
	}
}

// sumAVX2 is sumRows. It reports false, with y as it was, at a row that x is too short for.
//
//go:noescape
func sumAVX2(y *[Lanes]float64, x []float64, rows []uint32, f float64) bool

// sum32AVX2 is sumRows32, and reports as sumAVX2 does.
//
//go:noescape
func sum32AVX2(y *[Lanes]float32, x []float32, rows []uint32, f float64) bool

// step32AVX2 is stepRows32 of at least one row. It reports false at offsets or a column beyond.
//
//go:noescape
func step32AVX2(y *float32, x []float32, with *float32, columns []uint32, offsets *int64, f []float64, byWith, byY *[Lanes]float64) bool

// step32AVX512 is step32AVX2 on registers of 512 bits.
//
//go:noescape
func step32AVX512(y *float32, x []float32, with *float32, columns []uint32, offsets *int64, f []float64, byWith, byY *[Lanes]float64) bool
