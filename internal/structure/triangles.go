package structure

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
)

// byDegree numbers the nodes by descending number of edges, ties by node, so that a triangle is found from its node of fewest edges, and rows
// that are read often lie together. It returns the number of each node, and how many nodes have edges, which have the least numbers. It
// needs 8 bytes per node.
func (q *square) byDegree(ctx context.Context) (order []uint32, joined int, err error) {
	degree := make([]uint32, q.nodes)
	err = q.scanAll(ctx, func(src, dst []uint32) error {
		for i, u := range src {
			for _, v := range [2]uint32{u, dst[i]} {
				if degree[v] < math.MaxUint32 {
					degree[v]++
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	nodes := make([]uint32, q.nodes)
	for v := range nodes {
		nodes[v] = uint32(v)
		if degree[v] > 0 {
			joined++
		}
	}
	slices.SortFunc(nodes, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(degree[b], degree[a]), cmp.Compare(a, b))
	})
	for i, v := range nodes {
		degree[v] = uint32(i)
	}
	return degree, joined, nil
}

// before is the entries of a row that are less than v: the neighbours with more edges, where nodes are numbered by degree.
func before(row []uint32, v uint32) []uint32 {
	i, _ := slices.BinarySearch(row, v)
	return row[:i]
}

// marks are numbers of edges of one node to others.
type marks struct {
	count  []uint32
	marked []uint32
}

// set marks a row.
func (m *marks) set(row []uint32) {
	for _, v := range m.marked {
		m.count[v] = 0
	}
	m.marked = append(m.marked[:0], row...)
	for _, v := range row {
		m.count[v]++
	}
}

func (j *job) clustering(ctx context.Context) (err error) {
	n := int64(j.nodes)
	spare, err := j.spare((16+4*int64(j.options.Threads))*n + j.matrixNeed())
	if err != nil {
		return err
	}
	order, _, err := j.byDegree(ctx)
	if err != nil {
		return err
	}
	m, err := j.newMatrix(ctx, simpleRows, order, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	triangles := make([]atomic.Int64, n)
	all := make([]marks, j.options.Threads)
	for i := range all {
		all[i].count = make([]uint32, n)
	}
	p := j.progress(m.entries())
	err = eachPairOfRows(ctx, m, j.options.Threads, func(worker int, u, from, to uint32) error {
		countTriangles(m, u, from, to, &all[worker], triangles)
		return nil
	}, p.add)
	if err != nil {
		return err
	}
	return j.writeRows(ctx, 1, func(row, _ int) float64 {
		v := order[j.first()+row]
		if d := m.degree(v); d > 1 {
			return float64(2*triangles[v].Load()) / (float64(d) * float64(d-1))
		}
		return 0
	})
}

// eachPairOfRows calls fn for each node u with blocks [from, to) of nodes, so that fn reads the rows of u and of nodes of the block that are less than u: all such nodes are in
// one of the blocks. Mapped rows of a block stay in memory while all u pass. done receives numbers of entries, whose sum is the number of entries of the matrix.
func eachPairOfRows(ctx context.Context, m *matrix, threads int, fn func(worker int, u, from, to uint32) error, done func(entries int64)) error {
	for from := 0; from < m.nodes(); {
		to := m.blockEnd(from)
		err := eachBlock(ctx, m.nodes(), threads, func(worker, first, last int) error {
			for u := max(first, from+1); u < last; u++ {
				if err := errors.Join(fn(worker, uint32(u), uint32(from), uint32(to)), m.touched(m.degree(uint32(u)))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done(m.offsets[to] - m.offsets[from])
		from = to
	}
	return nil
}

// within is the entries of a row that are in [from, to) and less than v.
func within(row []uint32, from, to, v uint32) []uint32 {
	return before(row, min(to, v))[len(before(row, from)):]
}

// countTriangles counts the triangles whose greatest node is u and whose middle one is in [from, to), at each of their nodes.
func countTriangles(m *matrix, u, from, to uint32, a *marks, triangles []atomic.Int64) {
	middle := within(m.row(u), from, to, u)
	if len(middle) == 0 {
		return
	}
	a.set(before(m.row(u), u))
	ofU := int64(0)
	for _, v := range middle {
		ofV := int64(0)
		for _, w := range before(m.row(v), v) {
			if a.count[w] > 0 {
				ofV++
				triangles[w].Add(1)
			}
		}
		if ofV > 0 {
			triangles[v].Add(ofV)
			ofU += ofV
		}
	}
	triangles[u].Add(ofU)
}
