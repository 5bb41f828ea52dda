package structure

import (
	"context"
	"errors"

	"github.com/graphmill/graphmill/internal/vector"
)

// Exact return probabilities.
//
// With P = D^-1 A, the columns R_k = P^k e_i and the rows L_k = e_i' P^k of a node i give (P^2k)_ii = L_k R_k and (P^2k-1)_ii = L_k-1 R_k,
// so half as many sweeps as steps are enough. Where A is symmetric, L_k[v] = d_v R_k[v] / d_i, and one family of vectors is enough.
// Sixteen nodes share a sweep. The first sweeps follow the edges of the few nodes that are not zero.

// Values are rounded to 32 bits after each step, whose sums are in 64 bits, so results have the precision of a column of float32.

// lanes is the number of nodes that share a sweep.
const lanes = vector.Lanes

// front is the vectors of lanes nodes after some steps. While it is sparse, it has the rows of values that may not be zero in nodes.
type front struct {
	values []float32 // nodes x lanes
	seen   []uint32  // by node: the mark of the sparse front that last had the row
	mark   uint32
	nodes  []uint32
	dense  bool
	some   []uint32 // buffer
}

func (j *job) newFront() (*front, error) {
	values, err := newVector[float32](&j.vectors, j.nodes*lanes)
	return &front{values: values, seen: make([]uint32, j.nodes)}, err
}

func (f *front) at(v uint32) *[lanes]float32 { return (*[lanes]float32)(f.values[int(v)*lanes:]) }

// reset makes the front sparse and empty.
func (f *front) reset() {
	f.nodes, f.dense = f.nodes[:0], false
	f.mark++
	if f.mark == 0 {
		clear(f.seen)
		f.mark = 1
	}
}

// has says whether the row of v is set.
func (f *front) has(v uint32) bool { return f.dense || f.seen[v] == f.mark }

// include adds a node to a sparse front. Its row is to be set.
func (f *front) include(v uint32) {
	if f.seen[v] != f.mark {
		f.seen[v] = f.mark
		f.nodes = append(f.nodes, v)
	}
}

// fill makes a sparse front dense.
func (f *front) fill() {
	if f.dense {
		return
	}
	for v, s := range f.seen {
		if s != f.mark {
			*f.at(uint32(v)) = [lanes]float32{}
		}
	}
	f.dense = true
}

// product is the sum over nodes of degree * with * the front that a step makes, by lane.
type product struct {
	with  *front
	total [lanes]float64
}

// step sets next to the vectors after one more step: next[u] = inverse[u] * the sum of f over the entries of row u of gather. push is the
// transposed matrix. It computes products of next. Rows are the same to the bit whether fronts are sparse or dense.
func (f *front) step(next *front, gather, push *matrix, r *returnRows, products []product) error {
	next.reset()
	if read, few := f.reach(next, gather, push); few {
		for _, u := range next.nodes {
			f.some = f.some[:0]
			for _, v := range gather.row(u) {
				if f.seen[v] == f.mark {
					f.some = append(f.some, v)
				}
			}
			vector.SumRows32(next.at(u), f.values, f.some, r.inverse[u])
		}
		for i := range products {
			products[i].with.dot(next, r.degree, &products[i].total)
		}
		return errors.Join(gather.touched(read), push.touched(read))
	}
	f.fill()
	next.dense = true
	for i := range products {
		products[i].total = [lanes]float64{}
	}
	// Products of a few rows at a time, while these are in the cache.
	const few = 64
	for first := 0; first < len(r.inverse); first += few {
		last := min(first+few, len(r.inverse))
		for u := first; u < last; u++ {
			vector.SumRows32(next.at(uint32(u)), f.values, gather.row(uint32(u)), r.inverse[u])
		}
		for i := range products {
			if with := products[i].with; with.dense {
				vector.AddProducts32(&products[i].total, with.values[first*lanes:last*lanes], next.values[first*lanes:last*lanes], r.degree[first:last])
			}
		}
		if err := gather.touched(gather.offsets[last] - gather.offsets[first]); err != nil {
			return err
		}
	}
	for i := range products {
		if with := products[i].with; !with.dense {
			with.dot(next, r.degree, &products[i].total)
		}
	}
	return nil
}

// reach includes in next the nodes whose row may not be zero after a step, and reports whether they are so few that the step should be
// sparse, and how many entries it reads.
func (f *front) reach(next *front, gather, push *matrix) (read int64, few bool) {
	if f.dense {
		return 0, false
	}
	// An entry takes about as long here as in a dense step.
	most := gather.entries() / 2
	for _, v := range f.nodes {
		if read += push.degree(v); read > most {
			return read, false
		}
	}
	for _, v := range f.nodes {
		for _, u := range push.row(v) {
			if next.seen[u] != next.mark {
				next.include(u)
				if read += gather.degree(u); read > most {
					return read, false
				}
			}
		}
	}
	return read, true
}

// dot sets each lane of total to the sum over nodes of degree * f * g.
func (f *front) dot(g *front, degree []float64, total *[lanes]float64) {
	*total = [lanes]float64{}
	switch {
	case f.dense && g.dense:
		vector.AddProducts32(total, f.values, g.values, degree)
	case f.dense:
		for _, v := range g.nodes {
			vector.AddProducts32(total, f.at(v)[:], g.at(v)[:], degree[v:v+1])
		}
	default:
		for _, v := range f.nodes {
			if g.has(v) {
				vector.AddProducts32(total, f.at(v)[:], g.at(v)[:], degree[v:v+1])
			}
		}
	}
}

// returner computes the return probabilities of lanes nodes at a time.
type returner struct {
	rows        *returnRows
	right, left [2]*front // after k-1 steps and k; left is right where the rows are symmetric
}

// returnerNeed is the memory of a returner.
func (j *job) returnerNeed(symmetric bool) int64 {
	front := vectorBytes[float32](int64(j.nodes)*lanes) + 8*int64(j.nodes)
	if symmetric {
		return 2 * front
	}
	return 4 * front
}

func (j *job) newReturner(rows *returnRows) (*returner, error) {
	r := &returner{rows: rows}
	fronts := []**front{&r.right[0], &r.right[1], &r.left[0], &r.left[1]}
	if rows.symmetric() {
		fronts = fronts[:2]
	}
	for _, f := range fronts {
		var err error
		if *f, err = j.newFront(); err != nil {
			return nil, err
		}
	}
	if rows.symmetric() {
		r.left = r.right
	}
	return r, nil
}

// block computes the probabilities of at most lanes nodes, steps numbers each, into out. It stops early where done says so.
func (r *returner) block(ctx context.Context, nodes []uint32, steps int, out []float64) error {
	symmetric := r.rows.symmetric()
	start := func(f *front, value func(v uint32) float64) {
		f.reset()
		for i, v := range nodes {
			f.include(v)
			*f.at(v) = [lanes]float32{}
			f.at(v)[i] = float32(value(v))
		}
	}
	start(r.right[0], func(uint32) float64 { return 1 })
	if !symmetric {
		// left is L_k / d, which has the recurrence of right with the matrices exchanged.
		start(r.left[0], func(v uint32) float64 { return r.rows.inverse[v] })
	}
	take := func(p *product, step int) {
		if step > steps {
			return
		}
		for i, v := range nodes {
			out[i*steps+step-1] = p.total[i]
			if symmetric {
				out[i*steps+step-1] *= r.rows.inverse[v]
			}
		}
	}
	for k := 1; 2*k-1 <= steps; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		// L of one step less with R, which is L where the rows are symmetric.
		products := []product{{with: r.left[0]}, {with: r.right[1]}}
		if !symmetric {
			products = products[:1]
		}
		if err := r.right[0].step(r.right[1], r.rows.out, r.rows.in, r.rows, products); err != nil {
			return err
		}
		take(&products[0], 2*k-1)
		if !symmetric {
			products = []product{{with: r.right[1]}}
			if err := r.left[0].step(r.left[1], r.rows.in, r.rows.out, r.rows, products); err != nil {
				return err
			}
			r.left[0], r.left[1] = r.left[1], r.left[0]
		}
		take(&products[len(products)-1], 2*k)
		r.right[0], r.right[1] = r.right[1], r.right[0]
		if symmetric {
			r.left = r.right
		}
	}
	return nil
}

// exactReturns computes all steps exactly.
func (j *job) exactReturns(ctx context.Context) (err error) {
	if j.rows() == 0 {
		return nil
	}
	symmetric := j.spec.direction() == Both
	values := 8 * int64(j.rows()) * int64(j.spec.Steps)
	one := j.returnerNeed(symmetric)
	spare, err := j.spare(values + one + 16*int64(j.nodes) + j.returnsNeed())
	if err != nil {
		return err
	}
	rows, err := j.newReturnRows(ctx, nil, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.close()) }()
	rows.setDegrees()
	if rows.out.mapped == nil {
		spare -= 4 * rows.out.entries()
	}
	threads := int(min(int64(j.options.Threads), 1+max(0, spare)/j.returnerNeed(rows.symmetric())))
	result, err := j.eachReturner(ctx, rows, threads)
	if err != nil {
		return err
	}
	return j.writeRows(ctx, j.spec.Steps, func(row, p int) float64 { return result[row*j.spec.Steps+p] })
}

// eachReturner computes the probabilities of all nodes of the asked type.
func (j *job) eachReturner(ctx context.Context, rows *returnRows, threads int) ([]float64, error) {
	n, steps := j.rows(), j.spec.Steps
	result := make([]float64, n*steps)
	returners := make([]*returner, threads)
	p := j.progress(int64(n))
	err := eachIndex(ctx, (n+lanes-1)/lanes, threads, func(worker, i int) error {
		if returners[worker] == nil {
			var err error
			if returners[worker], err = j.newReturner(rows); err != nil {
				return err
			}
		}
		first, last := i*lanes, min(n, (i+1)*lanes)
		nodes := make([]uint32, 0, lanes)
		for v := first; v < last; v++ {
			nodes = append(nodes, uint32(j.first()+v))
		}
		if err := returners[worker].block(ctx, nodes, steps, result[first*steps:last*steps]); err != nil {
			return err
		}
		p.add(int64(last - first))
		return nil
	})
	return result, err
}
