package structure

import (
	"context"
	"errors"
)

// cores computes core numbers by removing nodes in the order of the edges that they have left. It reads each row once, in that order.
func (j *job) cores(ctx context.Context) (err error) {
	n := j.nodes
	spare, err := j.spare(16*int64(n) + j.matrixNeed())
	if err != nil {
		return err
	}
	m, err := j.newMatrix(ctx, simpleRows, nil, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	left := make([]uint32, n) // edges to nodes that were not removed
	most := uint32(0)
	for v := range left {
		left[v] = uint32(m.degree(uint32(v)))
		most = max(most, left[v])
	}
	// The nodes by left; begin[d] is the place of the first node that has d or more.
	order, place, begin := make([]uint32, n), make([]uint32, n), make([]uint32, int(most)+2)
	for _, d := range left {
		begin[d+1]++
	}
	for d := range most + 1 {
		begin[d+1] += begin[d]
	}
	next := append([]uint32(nil), begin...)
	for v, d := range left {
		order[next[d]], place[v] = uint32(v), next[d]
		next[d]++
	}
	for i, v := range order {
		if i%nodeBlock == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			j.tell(int64(i), int64(n))
		}
		for _, u := range m.row(v) {
			d := left[u]
			if d <= left[v] {
				continue
			}
			// u changes places with the first node that has d left, and belongs to those before it.
			first := begin[d]
			w := order[first]
			order[first], order[place[u]] = u, w
			place[w], place[u] = place[u], first
			begin[d] = first + 1
			left[u]--
		}
		if err := m.touched(max(m.degree(v), pageBytes/4)); err != nil { // rows come in no order
			return err
		}
	}
	return j.writeRows(ctx, 1, func(row, _ int) float64 { return float64(left[j.first()+row]) })
}
