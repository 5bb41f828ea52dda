package structure

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/internal/vector"
)

// Exact return probabilities.
//
// With P = D^-1 A, the columns R_k = P^k e_i and the rows L_k = e_i' P^k of a node i give (P^2k)_ii = L_k R_k and (P^2k-1)_ii = L_k-1 R_k,
// so half as many sweeps as steps are enough. Where A is symmetric, L_k[v] = d_v R_k[v] / d_i, and one family of vectors is enough.
//
// Values are rounded to 32 bits after each step, whose sums are in 64 bits, so results have the precision of a column of float32.
//
// Sixteen nodes share a sweep, each in a lane: a row of values is a line of the cache. The first sweeps follow the edges of the few nodes that are not zero. What a lane
// gets depends neither on the others nor on how a step is made: each sum is of its terms in ascending order of nodes, and terms of zero change none.

// lanes is the number of nodes that share a sweep.
const lanes = vector.Lanes

// front is the vectors of lanes nodes after some steps. While it is sparse, it has the rows of values that may not be zero in nodes.
type front struct {
	values []float32 // nodes x lanes
	seen   []uint32  // by node: the mark of the sparse front that last had the row
	mark   uint32
	nodes  []uint32
	dense  bool
}

func (j *job) newFront() (*front, error) {
	values, err := newVector[float32](&j.vectors, j.nodes*lanes)
	return &front{values: values, seen: make([]uint32, j.nodes)}, err
}

// rows is the rows of the nodes from first to the one before last.
func (f *front) rows(first, last int) []float32 { return f.values[first*lanes : last*lanes] }

func (f *front) at(v uint32) []float32 { return f.rows(int(v), int(v)+1) }

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

// include adds a node to a sparse front, and reports whether it is new. Then its row is to be set.
func (f *front) include(v uint32) bool {
	if f.seen[v] == f.mark {
		return false
	}
	f.seen[v] = f.mark
	f.nodes = append(f.nodes, v)
	return true
}

// fill makes a sparse front dense.
func (f *front) fill() {
	if f.dense {
		return
	}
	for v, s := range f.seen {
		if s != f.mark {
			clear(f.at(uint32(v)))
		}
	}
	f.dense = true
}

// sweep is a step of a returner.
type sweep struct {
	from, to     *front
	gather, push *matrix // each other's transposed
	inverse      []float64
	with         *front // whose product with to is wanted
	last         bool   // to may be anything afterwards
	// totals are the sums over nodes of degree * with * to, and of degree * to * to, by lane. degree * to is a sum before it is multiplied by inverse.
	totals [2][lanes]float64
}

// step sets to to the vectors after one more step: to[u] = inverse[u] * the sum of from over the entries of row u of gather.
func (r *returner) step(s *sweep) error {
	s.to.reset()
	s.totals = [2][lanes]float64{}
	if read, few := s.alone(); few {
		r.stepAlone(s, read)
		return s.push.touched(read)
	}
	if read, few := s.reach(); few {
		r.stepSparse(s)
		return errors.Join(s.gather.touched(read), s.push.touched(read))
	}
	return r.stepDense(s)
}

// mostSingle times the nodes are the most values that stepAlone makes of perAlone lanes.
const mostSingle = 8

// perAlone is the number of lanes that a dense step takes in about the time of an entry of stepAlone. A test raises it.
var perAlone int64 = 64

// alone says how many entries a step reads that takes each lane by itself, and whether it should: that the lanes have few nodes in common, and
// that it takes less time than a step of all nodes.
func (s *sweep) alone() (read int64, few bool) {
	f := s.from
	if f.dense {
		return 0, false
	}
	shared, most := int64(0), min(s.push.entries(), mostSingle*int64(len(f.seen)))*int64(lanes)/perAlone
	for _, v := range f.nodes {
		degree := s.push.degree(v)
		shared += degree
		for _, x := range f.at(v) {
			if x != 0 {
				read += degree
			}
		}
		if read > most {
			return read, false
		}
	}
	return read, read <= 4*shared
}

// stepAlone is a step that takes each lane by itself: it adds what a node has to all nodes that it may come from.
func (r *returner) stepAlone(s *sweep, read int64) {
	from, to := s.from, s.to
	r.ascend(from.nodes)
	to.dense = read > int64(len(to.seen))
	for _, v := range from.nodes {
		for lane, x := range from.at(v) {
			if x != 0 {
				r.single[lane] = append(r.single[lane], entry{v, x})
			}
		}
	}
	for lane, list := range r.single {
		r.some = r.some[:0]
		for _, e := range list {
			x := float64(e.x)
			for _, u := range s.push.row(e.v) {
				if r.sums[u] == 0 {
					r.some = append(r.some, u)
				}
				r.sums[u] += x
			}
		}
		r.ascend(r.some)
		byWith, byTo := 0.0, 0.0
		if s.with == from {
			for _, e := range list {
				byWith += float64(r.sums[e.v] * float64(e.x))
			}
		}
		list = list[:0]
		for _, u := range r.some {
			sum := r.sums[u]
			r.sums[u] = 0
			x := float32(s.inverse[u] * sum)
			list = append(list, entry{u, x})
			byTo += float64(sum * float64(x))
			if s.with != from && s.with.has(u) {
				byWith += float64(sum * float64(s.with.at(u)[lane]))
			}
		}
		r.single[lane] = list
		s.totals[0][lane], s.totals[1][lane] = byWith, byTo
	}
	r.writeSingle(to)
}

// tile is the number of rows that stay in the cache while all lanes pass.
const tile = 1024

// writeSingle moves the values of single to a front.
func (r *returner) writeSingle(to *front) {
	if !to.dense {
		for lane, list := range r.single {
			for _, e := range list {
				if to.include(e.v) {
					clear(to.at(e.v))
				}
				to.at(e.v)[lane] = e.x
			}
			r.single[lane] = list[:0]
		}
		return
	}
	clear(r.written)
	for first := 0; first < len(to.seen); first += tile {
		last := min(first+tile, len(to.seen))
		clear(to.rows(first, last))
		for lane, list := range r.single {
			at := r.written[lane]
			for ; at < len(list) && int(list[at].v) < last; at++ {
				to.values[int(list[at].v)*lanes+lane] = list[at].x
			}
			r.written[lane] = at
		}
	}
	for lane, list := range r.single {
		r.single[lane] = list[:0]
	}
}

// ascend puts a list of nodes, each once, in ascending order.
func (r *returner) ascend(list []uint32) {
	if len(list) < len(r.bits)/16 {
		slices.Sort(list)
		return
	}
	for _, v := range list {
		r.bits[v/64] |= 1 << (v % 64)
	}
	list = list[:0]
	for i, word := range r.bits {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+bits.TrailingZeros64(word)))
		}
		r.bits[i] = 0
	}
}

// reach includes in to the nodes whose row may not be zero after a step, and reports whether they are so few that the step should be
// sparse, and how many entries it reads.
func (s *sweep) reach() (read int64, few bool) {
	if s.from.dense {
		return 0, false
	}
	// An entry takes about as long here as in a dense step.
	most := s.gather.entries() / 2
	for _, v := range s.from.nodes {
		if read += s.push.degree(v); read > most {
			return read, false
		}
	}
	for _, v := range s.from.nodes {
		for _, u := range s.push.row(v) {
			if s.to.include(u) {
				if read += s.gather.degree(u); read > most {
					return read, false
				}
			}
		}
	}
	return read, true
}

// stepSparse is a step to the nodes that reach has included.
func (r *returner) stepSparse(s *sweep) {
	r.ascend(s.to.nodes)
	for _, u := range s.to.nodes {
		r.some = r.some[:0]
		for _, v := range s.gather.row(u) {
			if s.from.has(v) {
				r.some = append(r.some, v)
			}
		}
		with := r.zeros
		if s.with.has(u) {
			with = s.with.at(u)
		}
		vector.StepRows32(s.to.at(u), s.from.values, with, r.some, []int64{0, int64(len(r.some))}, s.inverse[u:u+1], &s.totals)
	}
}

// someRows is the number of rows that stepDense steps at a time.
const someRows = 64

// stepDense is a step of all nodes.
func (r *returner) stepDense(s *sweep) error {
	s.from.fill()
	s.to.dense = true
	with := s.with
	if !with.dense {
		with = s.from
	}
	for first := 0; first < len(s.inverse); first += someRows {
		last := min(first+someRows, len(s.inverse))
		to := r.again[:(last-first)*lanes]
		if !s.last {
			to = s.to.rows(first, last)
		}
		vector.StepRows32(to, s.from.values, with.rows(first, last), s.gather.columns, s.gather.offsets[first:last+1], s.inverse[first:last], &s.totals)
		if err := s.gather.touched(s.gather.offsets[last] - s.gather.offsets[first]); err != nil {
			return err
		}
	}
	if with == s.with {
		return nil
	}
	// The same sums once more, of the few nodes of with.
	again := [2][lanes]float64{}
	r.ascend(s.with.nodes)
	read := int64(0)
	for _, u := range s.with.nodes {
		vector.StepRows32(r.again[:lanes], s.from.values, s.with.at(u), s.gather.columns, s.gather.offsets[u:u+2], s.inverse[u:u+1], &again)
		read += s.gather.degree(u)
	}
	s.totals[0] = again[0]
	return s.gather.touched(read)
}

// returner computes the return probabilities of some nodes at a time.
type returner struct {
	rows        *returnRows
	right, left [2]*front // after k-1 steps and k; left is right where the rows are symmetric

	single  [][]entry // by lane: what it has in a front, or gets; empty between steps
	written []int     // by lane: how much of single is written
	sums    []float64 // by node, of one lane: zeros between steps
	some    []uint32  // buffer
	bits    []uint64  // by node: zeros between steps
	zeros   []float32 // a row
	again   []float32 // someRows rows that nobody reads
}

// entry is the value of a node.
type entry struct {
	v uint32
	x float32
}

// returnerNeed is the memory of a returner.
func (j *job) returnerNeed(symmetric bool) int64 {
	n := int64(j.nodes)
	front := vectorBytes[float32](n*lanes) + 8*n // seen and nodes
	alone := 13*n + 10*mostSingle*n*lanes/64     // sums, some, bits, and single as it grows
	if symmetric {
		return 2*front + alone
	}
	return 4*front + alone
}

func (j *job) newReturner(rows *returnRows) (*returner, error) {
	r := &returner{rows: rows, single: make([][]entry, lanes), written: make([]int, lanes), sums: make([]float64, j.nodes), bits: make([]uint64, (j.nodes+63)/64), zeros: make([]float32, lanes), again: make([]float32, someRows*lanes)}
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

// block computes the probabilities of at most as many nodes as there are lanes, steps numbers each, into out.
func (r *returner) block(ctx context.Context, nodes []uint32, steps int, out []float64) error {
	symmetric := r.rows.symmetric()
	start := func(f *front, value func(v uint32) float64) {
		f.reset()
		for i, v := range nodes {
			f.include(v)
			clear(f.at(v))
			f.at(v)[i] = float32(value(v))
		}
	}
	start(r.right[0], func(uint32) float64 { return 1 })
	if !symmetric {
		// left is L_k / d, which has the recurrence of right with the matrices exchanged.
		start(r.left[0], func(v uint32) float64 { return r.rows.inverse[v] })
	}
	take := func(totals *[lanes]float64, step int) {
		for i, v := range nodes {
			out[i*steps+step-1] = totals[i]
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
		right := &sweep{from: r.right[0], to: r.right[1], gather: r.rows.out, push: r.rows.in, inverse: r.rows.inverse, with: r.left[0]}
		right.last = 2*k >= steps && (symmetric || 2*k > steps)
		if err := r.step(right); err != nil {
			return err
		}
		take(&right.totals[0], 2*k-1)
		if symmetric {
			if 2*k <= steps {
				take(&right.totals[1], 2*k)
			}
			r.right[0], r.right[1] = r.right[1], r.right[0]
			r.left = r.right
			continue
		}
		if 2*k > steps {
			break
		}
		left := &sweep{from: r.left[0], to: r.left[1], gather: r.rows.in, push: r.rows.out, inverse: r.rows.inverse, with: r.right[1], last: 2*k == steps}
		if err := r.step(left); err != nil {
			return err
		}
		take(&left.totals[0], 2*k)
		r.left[0], r.left[1] = r.left[1], r.left[0]
		r.right[0], r.right[1] = r.right[1], r.right[0]
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
	spare, err := j.spare(values + one + 8*int64(j.nodes) + j.returnsNeed())
	if err != nil {
		return err
	}
	rows, err := j.newReturnRows(ctx, nil, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.close()) }()
	rows.setInverse()
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
