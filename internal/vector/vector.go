package vector

// Add adds a[i] times the len(y) numbers of x from at[i] on to y, for each i in order. It panics if a and at differ in
// length, or if x is too short for an offset. x and y must not overlap.
func Add(y, x []float64, at []uint32, a []float64) {
	if len(a) != len(at) {
		panic("vector: as many offsets as factors")
	}
	if len(y) > 0 && len(a) > 0 {
		addRows(y, x, at, a)
	}
}

// addPlain is addRows in Go.
func addPlain(y, x []float64, at []uint32, a []float64) {
	for i, f := range a {
		v, to := x[at[i]:][:len(y)], y
		for len(v) >= 8 && len(to) >= 8 {
			p, q := (*[8]float64)(to), (*[8]float64)(v)
			p[0] += float64(f * q[0])
			p[1] += float64(f * q[1])
			p[2] += float64(f * q[2])
			p[3] += float64(f * q[3])
			p[4] += float64(f * q[4])
			p[5] += float64(f * q[5])
			p[6] += float64(f * q[6])
			p[7] += float64(f * q[7])
			v, to = v[8:], to[8:]
		}
		for k, x := range v {
			to[k] += float64(f * x)
		}
	}
}
