package pack

import (
	"cmp"
	"math"
	"slices"
)

// program is the linear program over patterns: the fewest packs, in fractions, in which each row (a shape)
// gets at least its count,
//
//	min sum x_p   with   sum_p copies_ip x_p >= count_i,  x >= 0,
//
// It is solved by a revised simplex. Column generation adds the patterns that the duals make worthwhile, and
// purge removes others.
type program struct {
	rows int
	rhs  []float64
	cols []column
	// The basis: the column of each row (the surplus of row i is ^i), the inverse, the values and the duals.
	basis   []int
	inverse *inverse
	value   []float64
	dual    []float64
	inBasis []bool // by column
	// The entering column and the leaving row, in terms of the basis.
	column, row []float64
	candidates  []candidate
	pivots      int64
	steps       int64 // one is about a nanosecond
}

// column is a pattern, as rows and copies.
type column struct {
	row    []int32
	copies []float64
}

// candidate is a column outside the basis, with its gain; ^row is a surplus.
type candidate struct {
	col  int
	gain float64
}

// newProgram begins with the first columns as the basis: column i has copies of row i only.
func newProgram(counts []float64, singles []int) *program {
	n := len(counts)
	p := &program{rows: n, rhs: make([]float64, n), basis: make([]int, n), inverse: newInverse(singles)}
	p.value, p.dual = make([]float64, n), make([]float64, n)
	p.column, p.row = make([]float64, p.inverse.stride), make([]float64, p.inverse.stride)
	for i, c := range counts {
		// The counts are perturbed, each differently, so that no pivot stalls.
		p.rhs[i] = c + float64((1e-7*c+1e-4)*float64(1+i*7919%997)/997)
		p.add(column{[]int32{int32(i)}, []float64{float64(singles[i])}})
		p.basis[i], p.inBasis[i] = i, true
		p.value[i] = p.rhs[i] / float64(singles[i])
		p.dual[i] = 1 / float64(singles[i])
	}
	return p
}

func (p *program) add(c column) {
	p.cols, p.inBasis = append(p.cols, c), append(p.inBasis, false)
}

// objective is the number of packs of the current solution.
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

// gain is the gain of column c per unit.
func (p *program) gain(c int) float64 {
	if c < 0 {
		return -p.dual[^c]
	}
	g := -1.0
	x := &p.cols[c]
	for k, r := range x.row {
		g += float64(p.dual[r] * x.copies[k])
	}
	return g
}

// Candidates are the columns that gained most when all were computed. Pivots choose among them until the best
// of them gains less than a share of the best at that time.
const (
	maxCandidates = 64
	worthwhile    = 0.5
)

// gather computes the candidates.
func (p *program) gather() {
	p.steps += int64(10 * len(p.cols))
	p.candidates = p.candidates[:0]
	least := epsilon
	try := func(c int, g float64) {
		if g <= least {
			return
		}
		p.candidates = append(p.candidates, candidate{c, g})
		if len(p.candidates) == 4*maxCandidates {
			p.keepBest()
			least = p.candidates[maxCandidates-1].gain
		}
	}
	for c := range p.cols {
		if !p.inBasis[c] {
			try(c, p.gain(c))
		}
	}
	for i := range p.rows {
		try(^i, -p.dual[i])
	}
	p.keepBest()
}

func (p *program) keepBest() {
	slices.SortFunc(p.candidates, func(a, b candidate) int {
		if a.gain != b.gain {
			return cmp.Compare(b.gain, a.gain)
		}
		return a.col - b.col
	})
	p.candidates = p.candidates[:min(len(p.candidates), maxCandidates)]
}

// optimise pivots until no column gains, at most limit times. It reports whether no column gains.
func (p *program) optimise(limit int) bool {
	for limit > 0 {
		p.gather()
		if len(p.candidates) == 0 {
			return true
		}
		enough := p.candidates[0].gain * worthwhile
		for at := 0; at >= 0 && limit > 0; limit-- {
			c := p.candidates[at]
			if !p.pivot(c.col, c.gain) {
				return true
			}
			p.candidates = slices.Delete(p.candidates, at, at+1)
			at = -1
			most := enough
			for i := range p.candidates {
				x := &p.candidates[i]
				if x.gain = p.gain(x.col); x.gain > most {
					at, most = i, x.gain
				}
			}
		}
	}
	return false
}

// pivot takes column c into the basis. It returns false if nothing bounds the column, which only rounding can
// cause.
func (p *program) pivot(c int, gain float64) bool {
	d, t := p.column, p.row
	if c >= 0 {
		p.inverse.times(p.cols[c].row, p.cols[c].copies, d)
	} else {
		p.inverse.times([]int32{int32(^c)}, []float64{-1}, d)
	}
	leave, step := -1, math.Inf(1)
	for i, v := range d[:p.rows] {
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
	p.steps += int64(p.rows*p.rows/10 + 12*p.rows)
	for i, v := range d[:p.rows] {
		p.value[i] -= float64(step * v)
	}
	p.value[leave] = step
	if b := p.basis[leave]; b >= 0 {
		p.inBasis[b] = false
	}
	if p.basis[leave] = c; c >= 0 {
		p.inBasis[c] = true
	}
	p.inverse.row(leave, t)
	inv := 1 / d[leave]
	for j := range p.dual {
		t[j] *= inv
		// The gain of the column is dual*column - cost, and becomes 0.
		p.dual[j] -= float64(gain * t[j])
	}
	p.inverse.pivot(leave, d, t)
	return true
}

// purge removes the columns outside the basis with the least gain until keep are left.
func (p *program) purge(keep int) {
	var rest []candidate
	for c := range p.cols {
		if !p.inBasis[c] {
			rest = append(rest, candidate{c, p.gain(c)})
		}
	}
	keepCol := slices.Clone(p.inBasis)
	slices.SortFunc(rest, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.gain, a.gain), a.col-b.col) })
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
