//go:build !amd64 || purego

package vector

func addRows(y, x []float64, at []uint32, a []float64) { addPlain(y, x, at, a) }
