package structure

import (
	"context"
	"errors"
	"math"
)

// Eigenvectors of the Laplacian.
//
// With P = D^-1 A of the simple graph, P r = m r makes D^1/2 r an eigenvector of the Laplacian of eigenvalue 1 - m. So the solver looks for
// the greatest m below those of the components, on vectors r with the inner product sum d r r'. The vectors of eigenvalue 0 are
// constant on a component, and are taken out by subtracting means.
//
// A block of vectors is multiplied by a Chebyshev polynomial of P that is small on [-1, least m of the block] and grows above; then the
// best vectors of its space (Rayleigh-Ritz) replace it. The block has at least spareVectors more vectors than asked for, so that a
// space of equal eigenvalues is seen as a whole. Few nodes have all their vectors by the method of Jacobi.

const (
	spareVectors  = 8
	residualBound = 1e-10 // of a vector of length 1
	looseBound    = 1e-4  // of one in a space that will be undefined
	equalBound    = 1e-6  // relative distance of eigenvalues that count as equal
	leastGrowth   = 1e2   // of a vector in one polynomial, against those that are kept small
	mostGrowth    = 1e10
	mostDegree    = 400        // of a polynomial
	mostRounds    = 300        // of polynomials
	startWord     = 0x6c61706c // "lapl"
)

// denseNodes is the most nodes with edges whose vectors are found by the method of Jacobi. A test lowers it.
var denseNodes = 96

// spectrum is the search for eigenvectors.
type spectrum struct {
	*job
	m          *matrix
	components *components
	volume     []float64   // by root: the edges of the component, from both ends
	slabs      [][]float64 // lanes vectors each, nodes x lanes
	scratch    []float64
	size       int       // vectors of the block; the last slab may have more
	values     []float64 // m, descending
	undefined  bool      // the last space goes on beyond the block
}

func (j *job) laplacian(ctx context.Context) (err error) {
	n := int64(j.nodes)
	slabs := (j.spec.Dims + spareVectors + lanes - 1) / lanes
	spare, err := j.spare(vectorBytes[float64](lanes*n)*int64(slabs+1) + j.componentsNeed(false) + 16*n + j.matrixNeed())
	if err != nil {
		return err
	}
	s := &spectrum{job: j, volume: make([]float64, n)}
	if s.components, err = j.components(ctx, false); err != nil {
		return err
	}
	if s.m, err = j.newMatrix(ctx, simpleRows, nil, spare+leastRows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.m.close()) }()
	for v, root := range s.components.root {
		s.volume[root] += float64(s.m.degree(uint32(v)))
	}
	joined, spaces := 0, 0
	for v := range j.nodes {
		if s.m.degree(uint32(v)) > 0 {
			joined++
		}
		if s.volume[v] > 0 {
			spaces++
		}
	}
	exist := joined - spaces
	if s.size = min(exist, slabs*lanes); s.size > 0 {
		for range slabs + 1 {
			slab, err := newVector[float64](&j.vectors, j.nodes*lanes)
			if err != nil {
				return err
			}
			s.slabs = append(s.slabs, slab)
		}
		s.slabs, s.scratch = s.slabs[:slabs], s.slabs[slabs]
		if joined <= denseNodes {
			s.solveDense(joined, spaces)
		} else if err := s.iterate(ctx, exist); err != nil {
			return err
		}
	}
	s.noteSpaces(exist, spaces)
	if err := s.normalForm(ctx); err != nil {
		return err
	}
	return j.writeRows(ctx, j.spec.Dims, func(row, p int) float64 {
		if p >= s.size {
			return 0
		}
		return s.slabs[p/lanes][(j.first()+row)*lanes+p%lanes]
	})
}

func (s *spectrum) noteSpaces(exist, spaces int) {
	if isolated := s.nodes - exist - spaces; spaces+isolated > 1 {
		s.result.note("%s: the graph has %d components with edges and %d nodes without; the vectors of eigenvalue 0 are left out, one for each.", LaplacianPE, spaces, isolated)
	}
	if exist < s.spec.Dims {
		s.result.note("%s: found %d eigenvectors of other eigenvalues than 0, expected %d; the other positions are 0.", LaplacianPE, exist, s.spec.Dims)
	}
}

// solveDense finds all vectors of the nodes with edges.
func (s *spectrum) solveDense(joined, spaces int) {
	var nodes []uint32
	at := make(map[uint32]int, joined)
	for v := range s.nodes {
		if s.m.degree(uint32(v)) > 0 {
			at[uint32(v)] = len(nodes)
			nodes = append(nodes, uint32(v))
		}
	}
	a := make([]float64, joined*joined)
	for i, v := range nodes {
		for _, u := range s.m.row(v) {
			a[i*joined+at[u]] = 1 / math.Sqrt(float64(s.m.degree(v))*float64(s.m.degree(u)))
		}
		// The vectors of eigenvalue 0 move from 1 to -3, below all others.
		for k, u := range nodes {
			if root := s.components.root[v]; root == s.components.root[u] {
				a[i*joined+k] -= 4 * math.Sqrt(float64(s.m.degree(v))*float64(s.m.degree(u))) / s.volume[root]
			}
		}
	}
	values, vectors := eigen(a, joined)
	s.values = values[:s.size]
	for i, v := range nodes {
		for p := range s.size {
			s.slabs[p/lanes][int(v)*lanes+p%lanes] = vectors[i*joined+p] / math.Sqrt(float64(s.m.degree(v)))
		}
	}
	// Eigenvalues beyond the block may equal the last of it.
	s.undefined = joined-spaces > s.size && equalValues(values[s.size-1], values[s.size])
}

// equalValues says whether eigenvalues 1-a and 1-b, a >= b, count as equal.
func equalValues(a, b float64) bool { return a-b <= equalBound*(1-b) }

// spaceEnd is the end of the space of equal eigenvalues that has vector p.
func (s *spectrum) spaceEnd(p int) int {
	for p++; p < s.size && equalValues(s.values[p-1], s.values[p]); p++ {
	}
	return p
}

// normalForm makes the vectors eigenvectors of the Laplacian, with the basis and the signs of the rule.
func (s *spectrum) normalForm(ctx context.Context) error {
	for v := range s.nodes {
		root := math.Sqrt(float64(s.m.degree(uint32(v))))
		for _, slab := range s.slabs {
			for i := range lanes {
				slab[v*lanes+i] *= root
			}
		}
	}
	dims := min(s.spec.Dims, s.size)
	for from := 0; from < dims; {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := s.spaceEnd(from)
		switch {
		case to == s.size && s.undefined:
			s.result.note("%s: the vectors from position %d on have equal eigenvalues, and more than %d such vectors exist, so they are undefined; their positions are 0.", LaplacianPE, from+1, to-from)
			for p := from; p < to; p++ {
				s.fill(p, func(int) float64 { return 0 })
			}
		case to-from > 1:
			s.result.note("%s: the vectors of positions %d to %d have equal eigenvalues; they are the basis that the rule of ties gives.", LaplacianPE, from+1, min(to, dims))
			s.basis(from, to)
		}
		for p := from; p < to; p++ {
			s.turn(p)
		}
		from = to
	}
	return nil
}

// value is row v of vector p.
func (s *spectrum) value(v, p int) float64 { return s.slabs[p/lanes][v*lanes+p%lanes] }

func (s *spectrum) fill(p int, value func(v int) float64) {
	for v := range s.nodes {
		s.slabs[p/lanes][v*lanes+p%lanes] = value(v)
	}
}

// tieBound is the difference between entries that count as equal.
const tieBound = 1e-9

// greatest is the first row whose value is within tieBound of the greatest.
func greatest(n int, value func(v int) float64) int {
	most := math.Inf(-1)
	for v := range n {
		most = max(most, value(v))
	}
	for v := range n {
		if value(v) >= most-tieBound {
			return v
		}
	}
	return 0
}

// turn gives a vector the sign of the rule.
func (s *spectrum) turn(p int) {
	v := greatest(s.nodes, func(v int) float64 { return math.Abs(s.value(v, p)) })
	if s.value(v, p) < 0 {
		s.fill(p, func(v int) float64 { return -s.value(v, p) })
	}
}

// basis replaces the vectors [from, to), which span a space, by the basis of the rule.
func (s *spectrum) basis(from, to int) {
	n := to - from
	row := make([]float64, n)
	var chosen [][]float64 // as combinations of the vectors
	length := make([]float64, s.nodes)
	for v := range length {
		for p := range n {
			x := s.value(v, from+p)
			length[v] += float64(x * x)
		}
	}
	for range n {
		v := greatest(s.nodes, func(v int) float64 { return math.Sqrt(max(0, length[v])) })
		q := make([]float64, n)
		for p := range q {
			q[p] = s.value(v, from+p)
		}
		for range 2 { // once more against rounding
			for _, c := range chosen {
				d := dotOf(q, c)
				for p := range q {
					q[p] -= float64(d * c[p])
				}
			}
		}
		d := math.Sqrt(dotOf(q, q))
		for p := range q {
			q[p] /= d
		}
		chosen = append(chosen, q)
		for v := range length {
			d := 0.0
			for p := range q {
				d += float64(q[p] * s.value(v, from+p))
			}
			length[v] -= float64(d * d)
		}
	}
	for v := range s.nodes {
		for p := range row {
			row[p] = s.value(v, from+p)
		}
		for p, q := range chosen {
			s.slabs[(from+p)/lanes][v*lanes+(from+p)%lanes] = dotOf(row, q)
		}
	}
}

func dotOf(a, b []float64) float64 {
	d := 0.0
	for i, x := range a {
		d += float64(x * b[i])
	}
	return d
}
