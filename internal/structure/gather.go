package structure

import "github.com/graphmill/graphmill/internal/vector"

// gatherLanes sets y to f times the sum of the rows of x that are named, len(y) numbers each, in their order.
func gatherLanes(y, x []float64, rows []uint32, f float64) {
	if len(y) == lanes {
		vector.SumRows((*[lanes]float64)(y), x, rows, f)
		return
	}
	clear(y)
	for _, v := range rows {
		for i, a := range x[int(v)*len(y):][:len(y)] {
			y[i] += a
		}
	}
	for i := range y {
		y[i] *= f
	}
}
