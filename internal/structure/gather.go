package structure

// gatherRows sets y to the sum of the rows of x that are named, lanes numbers each, in their order.
func gatherRows(y *[lanes]float64, x []float64, rows []uint32) {
	var a0, a1, a2, a3, a4, a5, a6, a7 float64
	for _, v := range rows {
		r := (*[lanes]float64)(x[int(v)*lanes:])
		a0 += r[0]
		a1 += r[1]
		a2 += r[2]
		a3 += r[3]
		a4 += r[4]
		a5 += r[5]
		a6 += r[6]
		a7 += r[7]
	}
	y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7] = a0, a1, a2, a3, a4, a5, a6, a7
	a0, a1, a2, a3, a4, a5, a6, a7 = 0, 0, 0, 0, 0, 0, 0, 0
	for _, v := range rows {
		r := (*[lanes]float64)(x[int(v)*lanes:])
		a0 += r[8]
		a1 += r[9]
		a2 += r[10]
		a3 += r[11]
		a4 += r[12]
		a5 += r[13]
		a6 += r[14]
		a7 += r[15]
	}
	y[8], y[9], y[10], y[11], y[12], y[13], y[14], y[15] = a0, a1, a2, a3, a4, a5, a6, a7
}

// gatherLanes sets y to the sum of the rows of x that are named, len(y) numbers each, in their order.
func gatherLanes(y, x []float64, rows []uint32) {
	switch len(y) {
	case lanes:
		gatherRows((*[lanes]float64)(y), x, rows)
	case 1:
		total := 0.0
		for _, v := range rows {
			total += x[v]
		}
		y[0] = total
	default:
		clear(y)
		for _, v := range rows {
			for i, a := range x[int(v)*len(y):][:len(y)] {
				y[i] += a
			}
		}
	}
}
