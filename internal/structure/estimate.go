package structure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
)

// Estimated return probabilities.
//
// Steps 1 to 3 are exact: loops, pairs and triangles. For the others let S = D^1/2 P D^-1/2, which has the diagonal of P. A probe is a vector z of
// draws +1 and -1, so the mean of z_i (S^k z)_i is (S^k)_ii. Sixteen probes share a sweep.
//
// Where A is symmetric, each component has known eigenvectors of S: v = sqrt(d / sum d) of eigenvalue 1 and, where it is bipartite, v with one
// side negated of eigenvalue -1. They are taken out of z, and what they add to the diagonal, d_i / sum d each, is added back. What is left
// to be estimated decreases with every step, and so does its error. Odd steps of bipartite components are 0.
//
// The probe of number p of node v, as numbered in the square, is bit p of draw 0 of the state Key(seed, 0, probeWord, v).

const (
	exactSteps = 3
	probes     = 64
	probeWord  = 0x70726f6265 // "probe", which distinguishes these draws from others of the same seed
)

// estimator estimates return probabilities. Its nodes are numbered by degree.
type estimator struct {
	*job
	rows       *returnRows
	order      []uint32
	joined     int       // the nodes with edges, which have the least numbers
	share      []float64 // by node: d / the sum of d in its component; 0 where the rows are not symmetric
	components *components
	group      int      // probes that share a sweep
	slot       []uint32 // by row of the asked type: its place in result; noSlot for a node without edges, whose values are 0
	result     []float32
}

// noSlot is the slot of a node without edges.
const noSlot = math.MaxUint32

func (j *job) estimateReturns(ctx context.Context) (err error) {
	n, steps := int64(j.nodes), int64(j.spec.Steps)
	j.result.Method = Estimate
	rows := j.rows()
	if _, err := j.spare(8*n + 4*int64(rows)); err != nil { // of the order of nodes
		return err
	}
	e := &estimator{job: j, slot: make([]uint32, rows)}
	if e.order, e.joined, err = j.byDegree(ctx); err != nil {
		return err
	}
	slots := 0
	for row := range e.slot {
		e.slot[row] = noSlot
		if e.node(row) < uint32(e.joined) {
			e.slot[row] = uint32(slots)
			slots++
		}
	}
	// The vectors of one probe and what start holds, or what triangles hold.
	work := max(16*int64(e.joined)+2*vectorBytes[float32](int64(e.joined)), (8+8*int64(j.options.Threads))*n)
	spare, err := j.spare(j.returnsNeed() + 12*n + j.componentsNeed(true) + 4*int64(rows) + 4*int64(slots)*steps + work)
	if err != nil {
		return err
	}
	e.group = lanes
	for e.group > 1 && 2*e.vectorNeed() > spare {
		e.group /= 2
	}
	if e.rows, err = j.newReturnRows(ctx, e.order, max(leastRows, spare-2*e.vectorNeed())); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.rows.close()) }()
	if err := e.knownParts(ctx); err != nil {
		return err
	}
	e.result = make([]float32, int64(slots)*steps)
	if err := e.firstSteps(ctx); err != nil {
		return err
	}
	squares, err := e.laterSteps(ctx)
	if err != nil {
		return err
	}
	e.finish(squares)
	return j.writeRows(ctx, j.spec.Steps, func(row, p int) float64 {
		if e.slot[row] == noSlot {
			return 0
		}
		return float64(e.values(row)[p])
	})
}

// values is the probabilities of a row that has a slot.
func (e *estimator) values(row int) []float32 {
	at := int(e.slot[row]) * e.spec.Steps
	return e.result[at : at+e.spec.Steps]
}

// vectorNeed is the memory of the vectors of a group of probes.
func (e *estimator) vectorNeed() int64 { return vectorBytes[float32](int64(e.joined) * int64(e.group)) }

// node is the number in the rows of a row of the asked type.
func (e *estimator) node(row int) uint32 { return e.order[e.first()+row] }

// knownParts finds the shares and sides of the components.
func (e *estimator) knownParts(ctx context.Context) (err error) {
	e.share = make([]float64, e.nodes)
	if !e.rows.symmetric() {
		return nil
	}
	if e.components, err = e.job.components(ctx, true); err != nil {
		return err
	}
	volume := make([]float64, e.nodes) // by root; sums of integers
	for v, root := range e.components.root {
		volume[root] += float64(e.rows.out.degree(e.order[v]))
	}
	for v, root := range e.components.root {
		if volume[root] > 0 {
			e.share[e.order[v]] = float64(e.rows.out.degree(e.order[v])) / volume[root]
		}
	}
	return nil
}

// firstSteps computes the exact steps.
func (e *estimator) firstSteps(ctx context.Context) error {
	through := make([]atomic.Uint64, e.nodes) // by node: returns by triangles, in units of fixedUnit
	if err := e.allTriangles(ctx, through); err != nil {
		return err
	}
	loops := make([]uint32, e.nodes) // by node: its edges to itself
	if err := e.sweep(ctx, func(v uint32) { loops[v] = uint32(countOf(e.rows.out.row(v), v)) }); err != nil {
		return err
	}
	rows := make([]uint32, e.nodes) // by node: its row of the asked type and 1, or 0
	for row := range e.slot {
		if e.slot[row] != noSlot {
			rows[e.node(row)] = uint32(row) + 1
		}
	}
	return e.sweep(ctx, func(v uint32) {
		if rows[v] == 0 {
			return
		}
		values := e.values(int(rows[v] - 1))
		p := e.pairs(v, loops)
		p[2] += float64(through[v].Load()) * fixedUnit
		for k := range exactSteps {
			values[k] = float32(p[k])
		}
	})
}

// sweep calls fn with each node, whose rows it may read.
func (e *estimator) sweep(ctx context.Context, fn func(v uint32)) error {
	out, in := e.rows.out, e.rows.in
	return eachBlock(ctx, e.nodes, e.options.Threads, func(_, first, last int) error {
		for v := first; v < last; v++ {
			fn(uint32(v))
			if err := errors.Join(out.touched(out.degree(uint32(v))), in.touched(in.degree(uint32(v)))); err != nil {
				return err
			}
		}
		return nil
	})
}

// allTriangles adds the returns in 3 steps around all triangles, to each of their nodes.
func (e *estimator) allTriangles(ctx context.Context, through []atomic.Uint64) error {
	all := make([]marks, e.options.Threads)
	for i := range all {
		all[i].count = make([]uint32, e.nodes)
	}
	around := func(first, second *matrix, factor float64) error {
		return eachPairOfRows(ctx, first, e.options.Threads, func(worker int, u, from, to uint32) error {
			if there := within(first.row(u), from, to, u); len(there) > 0 {
				e.triangles(u, there, first, second, factor, &all[worker], through)
			}
			return second.touched(second.degree(u))
		}, func(int64) {})
	}
	if e.rows.symmetric() {
		return around(e.rows.out, e.rows.out, 2)
	}
	return errors.Join(around(e.rows.out, e.rows.in, 1), around(e.rows.in, e.rows.out, 1))
}

// fixedUnit is the unit of probabilities that are summed as integers, in any order.
const fixedUnit = 1.0 / (1 << 62)

// pairs is the returns of a node in 1, 2 and 3 steps that visit at most two nodes.
func (e *estimator) pairs(v uint32, loopsOf []uint32) [3]float64 {
	d := e.rows.inverseOf
	out, in := e.rows.out.row(v), e.rows.in.row(v)
	loops := func(u uint32) float64 { return float64(loopsOf[u]) * d(u) }
	own := loops(v)
	p := [3]float64{own, own * own, own * own * own}
	for len(out) > 0 {
		u := out[0]
		there := equalAtStart(out)
		out = out[there:]
		for len(in) > 0 && in[0] < u {
			in = in[1:]
		}
		if u == v || len(in) == 0 || in[0] != u {
			continue
		}
		and := float64(there) * d(v) * float64(equalAtStart(in)) * d(u)
		p[1] += and
		p[2] += float64(and * (2*own + loops(u)))
	}
	return p
}

// countOf is how often a row has v.
func countOf(row []uint32, v uint32) int {
	i, found := slices.BinarySearch(row, v)
	if !found {
		return 0
	}
	return equalAtStart(row[i:])
}

// triangles adds the returns in 3 steps around the triangles whose greatest node is u, and to whose next node an edge of there leads, to each of their nodes.
func (e *estimator) triangles(u uint32, there []uint32, first, second *matrix, factor float64, a *marks, through []atomic.Uint64) {
	back := before(second.row(u), u)
	if len(back) == 0 {
		return
	}
	a.set(back)
	ofU := uint64(0)
	for len(there) > 0 {
		v := there[0]
		parallel := equalAtStart(there)
		there = there[parallel:]
		unit := factor * float64(parallel) * e.rows.inverseOf(u) * e.rows.inverseOf(v) / fixedUnit
		ofV := uint64(0)
		for _, w := range before(first.row(v), v) {
			if n := a.count[w]; n > 0 {
				p := uint64(unit * float64(n) * e.rows.inverseOf(w))
				ofV += p
				through[w].Add(p)
			}
		}
		if ofV > 0 {
			through[v].Add(ofV)
			ofU += ofV
		}
	}
	through[u].Add(ofU)
}

// laterSteps sums the estimates of all probes, and returns the sum of their squares by step.
func (e *estimator) laterSteps(ctx context.Context) ([]float64, error) {
	n, steps := e.joined, e.spec.Steps
	squares := make([]float64, steps)
	x, err := newVector[float32](&e.vectors, n*e.group)
	if err != nil {
		return nil, err
	}
	next, err := newVector[float32](&e.vectors, n*e.group)
	if err != nil {
		return nil, err
	}
	total := int64(probes / e.group * steps)
	for p := 0; p < probes; p += e.group {
		if err := e.start(ctx, x, p); err != nil {
			return nil, err
		}
		for k := 1; k <= steps; k++ {
			err := eachBlock(ctx, n, e.options.Threads, func(_, first, last int) error {
				for v := first; v < last; v++ {
					row := e.rows.out.row(uint32(v))
					sumLanes(next[v*e.group:(v+1)*e.group], x, row, e.rows.inverseOf(uint32(v)))
					if err := e.rows.out.touched(int64(len(row))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			x, next = next, x
			if k > exactSteps {
				if err := e.addEstimates(ctx, x, p, k, squares); err != nil {
					return nil, err
				}
			}
			e.tell(int64(p/e.group*steps+k), total)
		}
	}
	return squares, nil
}

// signs are the draws of all probes of a node of the square: bit p is set where probe p is +1.
func (e *estimator) signs(v int) uint64 {
	return draw.At(draw.Absorb(draw.Key(e.spec.Seed, 0, probeWord), uint64(v)), 0)
}

// sign is +1 or -1.
func sign(bits uint64, p int) float64 { return float64(int(bits>>p&1)*2 - 1) }

// start sets x to the probes from the given one on, without the known eigenvectors, divided by the square roots of the degrees. Where the
// rows are not symmetric it sets x to the probes.
func (e *estimator) start(ctx context.Context, x []float32, first int) error {
	var straight, crossed []float64 // by number of the root: how much of the eigenvectors the probe has, over the root of the sum of d
	for lane := range e.group {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.components != nil {
			straight, crossed = resized(straight, e.joined), resized(crossed, e.joined)
		}
		for v, node := range e.order {
			if root := e.share[node]; root > 0 {
				z := sign(e.signs(v), first+lane) * math.Sqrt(root)
				c := e.order[e.components.root[v]]
				straight[c] += z
				crossed[c] += z * e.turn(v)
			}
		}
		for v, node := range e.order {
			if int(node) >= e.joined {
				continue
			}
			at := int(node)*e.group + lane
			d := float64(e.rows.out.degree(node))
			switch {
			case d == 0:
				x[at] = 0
			case e.components == nil:
				x[at] = float32(sign(e.signs(v), first+lane))
			default:
				c := e.order[e.components.root[v]]
				known := math.Sqrt(e.share[node]) * (straight[c] + e.turn(v)*crossed[c])
				x[at] = float32((sign(e.signs(v), first+lane) - known) / math.Sqrt(d))
			}
		}
	}
	return nil
}

// turn is +1 or -1 for the side of a node in a bipartite component, and 0 in another one.
func (e *estimator) turn(v int) float64 {
	if e.components == nil || e.components.odd[e.components.root[v]] {
		return 0
	}
	return float64(int(e.components.side[v])*2 - 1)
}

// resized is s with n zeros.
func resized(s []float64, n int) []float64 {
	if len(s) != n {
		return make([]float64, n)
	}
	clear(s)
	return s
}

// addEstimates adds the estimates of step k by the probes from first on, one after the other, so that sums do not depend on group.
func (e *estimator) addEstimates(ctx context.Context, x []float32, first, k int, squares []float64) error {
	rows := e.job.rows()
	parts := make([]float64, blocks(rows)*e.group)
	err := eachBlock(ctx, rows, e.options.Threads, func(_, from, to int) error {
		part := parts[from/nodeBlock*e.group:][:e.group]
		for row := from; row < to; row++ {
			v := e.first() + row
			node := e.order[v]
			d := float64(e.rows.out.degree(node))
			if d == 0 || k%2 == 1 && e.turn(v) != 0 {
				continue
			}
			to := &e.values(row)[k-1]
			scale := 1.0
			if e.components != nil {
				scale = math.Sqrt(d)
			}
			bits := e.signs(v)
			for lane, value := range x[int(node)*e.group:][:e.group] {
				estimate := sign(bits, first+lane) * scale * float64(value)
				*to += float32(estimate)
				part[lane] += float64(estimate * estimate)
			}
		}
		return nil
	})
	for lane := range e.group {
		total := 0.0
		for b := range blocks(rows) {
			total += parts[b*e.group+lane]
		}
		squares[k-1] += total
	}
	return err
}

// finish makes probabilities of the sums of estimates, and their errors of the sums of their squares.
func (e *estimator) finish(squares []float64) {
	rows, steps := e.job.rows(), e.spec.Steps
	e.job.result.Errors = make([]float64, steps)
	for k := exactSteps + 1; k <= steps; k++ {
		means := 0.0
		for row := range rows {
			if e.slot[row] == noSlot {
				continue
			}
			v, to := e.first()+row, &e.values(row)[k-1]
			mean := float64(*to) / probes
			means += float64(mean * mean)
			known := e.share[e.order[v]]
			if e.components != nil && k%2 == 0 {
				mean = max(0, mean)
				known *= 1 + math.Abs(e.turn(v))
			} else if e.turn(v) != 0 {
				mean, known = 0, 0
			}
			*to = float32(min(1, max(0, mean+known)))
		}
		if rows > 0 {
			e.job.result.Errors[k-1] = math.Sqrt(max(0, squares[k-1]-probes*means) / (probes * (probes - 1)) / float64(rows))
		}
	}
	e.job.result.note("%s of steps 1 to %d is exact; steps %d to %d are estimated with %d probes of random seed %d, with a root mean square error of %s.",
		RandomWalkPE, exactSteps, exactSteps+1, steps, probes, e.spec.Seed, fmt.Sprintf("%.2g at step %d and %.2g at step %d", e.job.result.Errors[exactSteps], exactSteps+1, e.job.result.Errors[steps-1], steps))
}
