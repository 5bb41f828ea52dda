package structure

import "github.com/graphmill/graphmill/internal/vector"

// sumLanes sets y to f times the sum of the rows of x that are named, len(y) numbers each and at most lanes, as vector.SumRows32 does.
func sumLanes(y, x []float32, rows []uint32, f float64) {
	if len(y) == lanes {
		vector.SumRows32((*[lanes]float32)(y), x, rows, f)
		return
	}
	var total [lanes]float64
	for _, v := range rows {
		for i, a := range x[int(v)*len(y):][:len(y)] {
			total[i] += float64(a)
		}
	}
	for i := range y {
		y[i] = float32(f * total[i])
	}
}
