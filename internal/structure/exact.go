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

// lanes is the number of nodes that share a sweep.
const lanes = vector.Lanes

// front is the vectors of lanes nodes after some steps. While it is sparse, it has the rows of values that are not zero in nodes.
type front struct {
	values []float64 // nodes x lanes
	seen   []uint32  // by node: the mark of the front that last set the row
	mark   uint32
	nodes  []uint32
	dense  bool
}

func newFront(n int) *front { return &front{values: make([]float64, n*lanes), seen: make([]uint32, n)} }

func (f *front) at(v uint32) *[lanes]float64 { return (*[lanes]float64)(f.values[int(v)*lanes:]) }

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

// row is the row of v, which is zero if it was not set.
func (f *front) row(v uint32) *[lanes]float64 {
	x := f.at(v)
	if f.seen[v] != f.mark {
		f.seen[v] = f.mark
		f.nodes = append(f.nodes, v)
		*x = [lanes]float64{}
	}
	return x
}

// fill makes a sparse front dense.
func (f *front) fill() {
	if f.dense {
		return
	}
	for v, s := range f.seen {
		if s != f.mark {
			*f.at(uint32(v)) = [lanes]float64{}
		}
	}
	f.dense = true
}

// pushCost is the time that an entry takes in a sparse step, in that of an entry in a dense one.
const pushCost = 3

// product is the sum over nodes of degree * with * the front that a step makes, by lane.
type product struct {
	with  *front
	total [lanes]float64
}

// step sets next to the vectors after one more step: next[u] = inverse[u] * the sum of f over the entries of row u of gather. push is the
// transposed matrix. It computes products of next.
func (f *front) step(next *front, gather, push *matrix, r *returnRows, products []product) error {
	next.reset()
	if !f.dense {
		work := int64(0)
		for _, v := range f.nodes {
			work += push.degree(v)
		}
		if pushCost*work < gather.entries() {
			f.push(next, push, r.inverse)
			for i := range products {
				products[i].with.dot(next, r.degree, &products[i].total)
			}
			return push.touched(work)
		}
		f.fill()
	}
	next.dense = true
	for i := range products {
		products[i].total = [lanes]float64{}
	}
	// Products of a few rows at a time, while these are in the cache.
	const few = 64
	for first := 0; first < len(r.inverse); first += few {
		last := min(first+few, len(r.inverse))
		for u := first; u < last; u++ {
			vector.SumRows(next.at(uint32(u)), f.values, gather.row(uint32(u)), r.inverse[u])
		}
		for i := range products {
			if with := products[i].with; with.dense {
				vector.AddProducts(&products[i].total, with.values[first*lanes:last*lanes], next.values[first*lanes:last*lanes], r.degree[first:last])
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

// push sets next by adding each row of f that is not zero to the rows that its entries name.
func (f *front) push(next *front, push *matrix, inverse []float64) {
	for _, v := range f.nodes {
		x := f.at(v)
		for _, u := range push.row(v) {
			addRow(next.row(u), x)
		}
	}
	for _, u := range next.nodes {
		scaleRow(next.at(u), inverse[u])
	}
}

func addRow(y, x *[lanes]float64) {
	for i, a := range x {
		y[i] += a
	}
}

func scaleRow(y *[lanes]float64, a float64) {
	for i := range y {
		y[i] *= a
	}
}

// dot sets each lane of total to the sum over nodes of degree * f * g.
func (f *front) dot(g *front, degree []float64, total *[lanes]float64) {
	*total = [lanes]float64{}
	switch {
	case f.dense && g.dense:
		vector.AddProducts(total, f.values, g.values, degree)
	case f.dense:
		for _, v := range g.nodes {
			vector.AddProducts(total, f.at(v)[:], g.at(v)[:], degree[v:v+1])
		}
	default:
		for _, v := range f.nodes {
			if g.has(v) {
				vector.AddProducts(total, f.at(v)[:], g.at(v)[:], degree[v:v+1])
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
	front := int64(j.nodes) * (8*lanes + 4 + 4)
	if symmetric {
		return 2 * front
	}
	return 4 * front
}

func newReturner(rows *returnRows) *returner {
	n := len(rows.inverse)
	r := &returner{rows: rows, right: [2]*front{newFront(n), newFront(n)}}
	r.left = r.right
	if !rows.symmetric() {
		r.left = [2]*front{newFront(n), newFront(n)}
	}
	return r
}

// block computes the probabilities of at most lanes nodes, steps numbers each, into out. It stops early where done says so.
func (r *returner) block(ctx context.Context, nodes []uint32, steps int, out []float64) error {
	symmetric := r.rows.symmetric()
	start := func(f *front, value func(v uint32) float64) {
		f.reset()
		for i, v := range nodes {
			f.row(v)[i] = value(v)
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
	spare, err := j.spare(values + one + j.returnsNeed())
	if err != nil {
		return err
	}
	rows, err := j.newReturnRows(ctx, nil, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.close()) }()
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
			returners[worker] = newReturner(rows)
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
