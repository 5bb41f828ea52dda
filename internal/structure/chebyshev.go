package structure

import (
	"context"
	"math"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/vector"
)

// iterate finds the vectors of the block by polynomials. exist is how many vectors there are.
func (s *spectrum) iterate(ctx context.Context, exist int) error {
	key := draw.Key(0, 0, startWord)
	for v := range s.nodes {
		state := draw.Absorb(key, uint64(v))
		for i, slab := range s.slabs {
			for lane := range lanes {
				slab[v*lanes+lane] = 0
				if p := i*lanes + lane; s.m.degree(uint32(v)) > 0 && p < s.size {
					slab[v*lanes+lane] = 2*draw.Unit(draw.At(state, uint64(p))) - 1
				}
			}
		}
	}
	worst := math.Inf(1)
	for round := range mostRounds {
		s.removeMeans()
		for range 2 {
			if err := s.orthogonalise(ctx); err != nil {
				return err
			}
		}
		if err := s.rayleighRitz(ctx); err != nil {
			return err
		}
		var err error
		if worst, err = s.residual(ctx); err != nil {
			return err
		}
		s.tell(int64(round+1), mostRounds)
		if worst <= residualBound {
			break
		}
		if err := s.filter(ctx, worst); err != nil {
			return err
		}
	}
	if worst > residualBound {
		s.result.note("%s: the vectors have residuals of up to %.2g, expected %.2g; they did not converge in %d rounds.", LaplacianPE, worst, residualBound, mostRounds)
	}
	s.undefined = exist > s.size && s.spaceEnd(min(s.spec.Dims, s.size)-1) == s.size
	return nil
}

// removeMeans takes the vectors of eigenvalue 0 out of the block.
func (s *spectrum) removeMeans() {
	mean := make([]float64, s.nodes)
	for _, slab := range s.slabs {
		for lane := range lanes {
			clear(mean)
			for v, root := range s.components.root {
				mean[root] += float64(float64(s.m.degree(uint32(v))) * slab[v*lanes+lane])
			}
			for v, root := range s.components.root {
				if s.volume[root] > 0 {
					slab[v*lanes+lane] -= mean[root] / s.volume[root]
				}
			}
		}
	}
}

// gram is the inner products of the vectors of the block with the vectors of slab number with, or of its scratch: size x lanes.
func (s *spectrum) gram(ctx context.Context, right []float64) ([]float64, error) {
	total := make([]float64, len(s.slabs)*lanes*lanes)
	parts := make([][]float64, blocks(s.nodes))
	err := eachBlock(ctx, s.nodes, s.options.Threads, func(_, first, last int) error {
		part := make([]float64, len(total))
		for v := first; v < last; v++ {
			d := float64(s.m.degree(uint32(v)))
			if d == 0 {
				continue
			}
			y := (*[lanes]float64)(right[v*lanes:])
			for i, slab := range s.slabs {
				for lane, x := range (*[lanes]float64)(slab[v*lanes:]) {
					x *= d
					row := (*[lanes]float64)(part[(i*lanes+lane)*lanes:])
					for k := range row {
						row[k] += float64(x * y[k])
					}
				}
			}
		}
		parts[first/nodeBlock] = part
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		for i, x := range part {
			total[i] += x
		}
	}
	return total, nil
}

// products is the inner products of all vectors of the block with those that right gives for each slab: size x size.
func (s *spectrum) products(ctx context.Context, right func(slab []float64) ([]float64, error)) ([]float64, error) {
	all := make([]float64, s.size*s.size)
	for i, slab := range s.slabs {
		r, err := right(slab)
		if err != nil {
			return nil, err
		}
		g, err := s.gram(ctx, r)
		if err != nil {
			return nil, err
		}
		for p := range s.size {
			for lane := range min(lanes, s.size-i*lanes) {
				all[p*s.size+i*lanes+lane] = g[p*lanes+lane]
			}
		}
	}
	for p := range s.size {
		for q := range p {
			mean := (all[p*s.size+q] + all[q*s.size+p]) / 2
			all[p*s.size+q], all[q*s.size+p] = mean, mean
		}
	}
	return all, nil
}

// combine replaces the vectors of the block by combinations of them: the columns of t, size x size.
func (s *spectrum) combine(ctx context.Context, t []float64) error {
	return eachBlock(ctx, s.nodes, s.options.Threads, func(_, first, last int) error {
		row, to := make([]float64, s.size), make([]float64, s.size)
		for v := first; v < last; v++ {
			for p := range row {
				row[p] = s.value(v, p)
			}
			clear(to)
			for p, x := range row {
				for q, a := range t[p*s.size : (p+1)*s.size] {
					to[q] += float64(x * a)
				}
			}
			for p, x := range to {
				s.slabs[p/lanes][v*lanes+p%lanes] = x
			}
		}
		return nil
	})
}

// orthogonalise makes the vectors of the block orthogonal and of length 1. After the first call rounding remains; after the second none
// that matters.
func (s *spectrum) orthogonalise(ctx context.Context) error {
	g, err := s.products(ctx, func(slab []float64) ([]float64, error) { return slab, nil })
	if err != nil {
		return err
	}
	n := s.size
	norm := make([]float64, n)
	for p := range norm {
		norm[p] = math.Sqrt(max(g[p*n+p], math.SmallestNonzeroFloat64))
	}
	for p := range n {
		for q := range n {
			g[p*n+q] /= norm[p] * norm[q]
		}
	}
	values, vectors := eigen(g, n)
	t := make([]float64, n*n)
	for p := range n {
		for q := range n {
			t[p*n+q] = vectors[p*n+q] / math.Sqrt(max(values[q], 1e-15*values[0])) / norm[p]
		}
	}
	return s.combine(ctx, t)
}

// multiply sets scratch to P times a slab.
func (s *spectrum) multiply(ctx context.Context, slab []float64) error {
	return s.recur(ctx, slab, s.scratch, 1, 0, 0)
}

// recur sets y to a P x + b x + c y.
func (s *spectrum) recur(ctx context.Context, x, y []float64, a, b, c float64) error {
	return eachBlock(ctx, s.nodes, s.options.Threads, func(_, first, last int) error {
		var t [lanes]float64
		for v := first; v < last; v++ {
			row := s.m.row(uint32(v))
			if len(row) == 0 {
				continue
			}
			vector.SumRows(&t, x, row, a/float64(len(row)))
			to, from := (*[lanes]float64)(y[v*lanes:]), (*[lanes]float64)(x[v*lanes:])
			for i := range to {
				to[i] = t[i] + float64(b*from[i]) + float64(c*to[i])
			}
			if err := s.m.touched(int64(len(row))); err != nil {
				return err
			}
		}
		return nil
	})
}

// rayleighRitz replaces the vectors of the block, which are orthogonal, by the best approximations in their space.
func (s *spectrum) rayleighRitz(ctx context.Context) error {
	h, err := s.products(ctx, func(slab []float64) ([]float64, error) { return s.scratch, s.multiply(ctx, slab) })
	if err != nil {
		return err
	}
	values, vectors := eigen(h, s.size)
	s.values = values
	return s.combine(ctx, vectors)
}

// residual is the greatest length of P r - m r over the vectors that must converge. In a space that goes on beyond the block, which will be
// undefined, looseBound is enough, so its lengths count less.
func (s *spectrum) residual(ctx context.Context) (float64, error) {
	worst := 0.0
	dims := min(s.spec.Dims, s.size)
	strict := s.spaceEnd(dims - 1)
	last := min(s.size, strict+1)
	if strict == s.size {
		for strict = dims - 1; strict > 0 && equalValues(s.values[strict-1], s.values[strict]); strict-- {
		}
	}
	for i, slab := range s.slabs {
		if i*lanes >= last {
			break
		}
		if err := s.multiply(ctx, slab); err != nil {
			return 0, err
		}
		for lane := range min(lanes, last-i*lanes) {
			m := s.values[i*lanes+lane]
			square, err := sum(ctx, s.nodes, s.options.Threads, func(first, last int) (float64, error) {
				total := 0.0
				for v := first; v < last; v++ {
					r := s.scratch[v*lanes+lane] - float64(m*slab[v*lanes+lane])
					total += float64(float64(s.m.degree(uint32(v))) * float64(r*r))
				}
				return total, nil
			})
			if err != nil {
				return 0, err
			}
			length := math.Sqrt(square)
			if i*lanes+lane >= strict {
				length *= residualBound / looseBound
			}
			worst = max(worst, length)
		}
	}
	return worst, nil
}

// filter multiplies the block by a Chebyshev polynomial of P. The vectors of the block are nearly eigenvectors, with errors of about worst, so
// that vectors that grow alike much apart stay apart.
func (s *spectrum) filter(ctx context.Context, worst float64) error {
	// Below the block, so that the end of the block grows too: it may belong to the space of vectors that were asked for.
	least := s.values[s.size-1]
	cut := max(least-(s.values[0]-least)/30-(1-s.values[0])/10000, -0.999)
	centre, half := (cut-1)/2, (cut+1)/2
	// A polynomial of degree n grows as cosh(n acosh t).
	growth := math.Acosh(max(1+1e-12, (s.values[0]-centre)/half))
	most := min(mostGrowth, max(leastGrowth, 1/worst))
	// The vectors of the components grow more. What rounding leaves of them must stay small, until their means are removed again.
	apart := math.Acosh((1-centre)/half) - growth
	degree := int(max(1, min(mostDegree, math.Acosh(most)/growth, math.Acosh(mostGrowth)/max(apart, 1e-12))))
	for i := range s.slabs {
		x, y := s.slabs[i], s.scratch
		if err := s.recur(ctx, x, y, 1/half, -centre/half, 0); err != nil {
			return err
		}
		for range degree - 1 {
			if err := s.recur(ctx, y, x, 2/half, -2*centre/half, -1); err != nil {
				return err
			}
			x, y = y, x
		}
		s.slabs[i], s.scratch = y, x
	}
	return nil
}
