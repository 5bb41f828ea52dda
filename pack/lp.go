package pack

import (
	"cmp"
	"math"
	"slices"
)

// program is the linear program over patterns: the fewest packs, in fractions, of
// which each row (a shape) gets at least its count,
//
//	min sum x_p   with   sum_p copies_ip x_p >= count_i,  x >= 0,
//
// solved by a revised simplex with a dense inverse. Columns come and go: column
// generation adds patterns that the duals make worth it.
type program struct {
	rows int
	rhs  []float64
	cols []column
	// The basis: the column of each row (surplus of row i is ^i), the inverse by
	// columns, the values, the duals.
	basis   []int
	inverse []float64
	value   []float64
	dual    []float64
	inBasis []bool // of cols
	work    []float64
	pivots  int64
}

// column is a pattern: rows and copies.
type column struct {
	row    []int32
	copies []float64
}

// newProgram begins with the basis of the first rows columns, column i being
// copies of row i alone.
func newProgram(counts []int64, singles []int) *program {
	n := len(counts)
	p := &program{rows: n, rhs: make([]float64, n), basis: make([]int, n), inverse: make([]float64, n*n),
		value: make([]float64, n), dual: make([]float64, n), work: make([]float64, n)}
	for i, c := range counts {
		// A little more of each, all different, so that no pivot stands still.
		p.rhs[i] = float64(c) * (1 + 1e-7*float64(1+i*7919%997)/997)
		p.add(column{[]int32{int32(i)}, []float64{float64(singles[i])}})
		p.basis[i], p.inBasis[i] = i, true
		p.inverse[i*n+i] = 1 / float64(singles[i])
		p.value[i] = p.rhs[i] / float64(singles[i])
		p.dual[i] = 1 / float64(singles[i])
	}
	return p
}

func (p *program) add(c column) {
	p.cols, p.inBasis = append(p.cols, c), append(p.inBasis, false)
}

// objective is the packs of the solution at hand.
func (p *program) objective() float64 {
	sum := 0.0
	for i, b := range p.basis {
		if b >= 0 {
			sum += p.value[i]
		}
	}
	return sum
}

const epsilon = 1e-9

// enter is the column with the most to gain, and its gain; a surplus is ^row.
func (p *program) enter() (int, float64) {
	best, gain := -1, epsilon
	found := false
	for c := range p.cols {
		if p.inBasis[c] {
			continue
		}
		g := -1.0
		for k, r := range p.cols[c].row {
			g += p.dual[r] * p.cols[c].copies[k]
		}
		if g > gain {
			best, gain, found = c, g, true
		}
	}
	for i, y := range p.dual {
		if -y > gain {
			best, gain, found = ^i, -y, true
		}
	}
	if !found {
		return 0, 0
	}
	return best, gain
}

// optimise pivots until no column gains, at most limit times. It says whether it
// got to the end.
func (p *program) optimise(limit int) bool {
	for range limit {
		c, gain := p.enter()
		if gain == 0 {
			return true
		}
		if !p.pivot(c, gain) {
			return true
		}
	}
	return false
}

// pivot takes column c into the basis. It reports false if nothing bounds it,
// which rounding alone can bring about.
func (p *program) pivot(c int, gain float64) bool {
	n := p.rows
	d := p.work
	clear(d)
	if c >= 0 {
		for k, r := range p.cols[c].row {
			col, x := p.inverse[int(r)*n:int(r)*n+n], p.cols[c].copies[k]
			for i, v := range col {
				d[i] += float64(v * x)
			}
		}
	} else {
		for i, v := range p.inverse[^c*n : ^c*n+n] {
			d[i] = -v
		}
	}
	leave, step := -1, math.Inf(1)
	for i, v := range d {
		if v > epsilon {
			if s := max(p.value[i], 0) / v; s < step || s == step && v > d[leave] {
				leave, step = i, s
			}
		}
	}
	if leave < 0 {
		return false
	}
	p.pivots++
	for i, v := range d {
		p.value[i] -= float64(step * v)
	}
	p.value[leave] = step
	if b := p.basis[leave]; b >= 0 {
		p.inBasis[b] = false
	}
	if p.basis[leave] = c; c >= 0 {
		p.inBasis[c] = true
	}
	inv := 1 / d[leave]
	for j := range n {
		col := p.inverse[j*n : j*n+n]
		t := col[leave]
		if t == 0 {
			continue
		}
		t *= inv
		// The gain of a column is dual*column - cost, and falls to 0.
		p.dual[j] -= float64(gain * t)
		axpy(-t, d, col)
		col[leave] = t
	}
	return true
}

// purge forgets the columns with the least to gain, outside of the basis, until
// keep are left.
func (p *program) purge(keep int) {
	type rated struct {
		col  int
		gain float64
	}
	var rest []rated
	for c := range p.cols {
		if !p.inBasis[c] {
			g := 0.0
			for k, r := range p.cols[c].row {
				g += p.dual[r] * p.cols[c].copies[k]
			}
			rest = append(rest, rated{c, g})
		}
	}
	keepCol := slices.Clone(p.inBasis)
	slices.SortFunc(rest, func(a, b rated) int { return cmp.Or(cmp.Compare(b.gain, a.gain), a.col-b.col) })
	for _, r := range rest[:min(len(rest), keep)] {
		keepCol[r.col] = true
	}
	to := make([]int, len(p.cols))
	n := 0
	for c, k := range keepCol {
		if k {
			p.cols[n], p.inBasis[n], to[c] = p.cols[c], p.inBasis[c], n
			n++
		}
	}
	p.cols, p.inBasis = p.cols[:n], p.inBasis[:n]
	for i, b := range p.basis {
		if b >= 0 {
			p.basis[i] = to[b]
		}
	}
}

// axpy adds a times x to y.
func axpy(a float64, x, y []float64) {
	for len(x) >= 8 && len(y) >= 8 {
		y0, x0 := (*[8]float64)(y), (*[8]float64)(x)
		y0[0] += float64(a * x0[0])
		y0[1] += float64(a * x0[1])
		y0[2] += float64(a * x0[2])
		y0[3] += float64(a * x0[3])
		y0[4] += float64(a * x0[4])
		y0[5] += float64(a * x0[5])
		y0[6] += float64(a * x0[6])
		y0[7] += float64(a * x0[7])
		x, y = x[8:], y[8:]
	}
	for i, v := range x {
		y[i] += float64(a * v)
	}
}
