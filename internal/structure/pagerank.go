package structure

import (
	"context"
	"errors"
	"math"
)

// pageRankChange is the sum of the changes of all ranks below which no further round follows.
const pageRankChange = 1e-10

// pageRank computes ranks by rounds. A round is one sweep of the rows, and shrinks the change by the damping, so their number is bounded.
func (j *job) pageRank(ctx context.Context) (err error) {
	n := j.nodes
	spare, err := j.spare(24*int64(n) + j.matrixNeed())
	if err != nil {
		return err
	}
	// A walk against edges brings ranks by out-edges.
	f := map[string]form{Out: inRows, In: outRows, Both: bothRows}[j.spec.direction()]
	m, err := j.newMatrix(ctx, f, nil, spare+leastRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	share, err := j.shares(ctx, m, f)
	if err != nil {
		return err
	}
	rank, brought := make([]float64, n), make([]float64, n)
	for v := range rank {
		rank[v] = 1 / float64(n)
	}
	damping := j.spec.damping()
	rounds := int64(math.Ceil(math.Log(pageRankChange/2)/math.Log(damping))) + 1
	for round := range rounds {
		change, err := j.pageRankRound(ctx, m, damping, share, rank, brought)
		if err != nil {
			return err
		}
		j.tell(round+1, rounds)
		if change < pageRankChange {
			break
		}
	}
	return j.writeRows(ctx, 1, func(row, _ int) float64 { return rank[j.first()+row] })
}

// shares is the share of its rank that a node gives to each of its edges; 0 for a node without edges.
func (j *job) shares(ctx context.Context, m *matrix, f form) ([]float64, error) {
	share := make([]float64, j.nodes)
	if f == bothRows {
		for v := range share {
			share[v] = float64(m.degree(uint32(v)))
		}
	} else if err := j.scanAll(ctx, func(src, dst []uint32) error {
		from := src
		if f == outRows {
			from = dst
		}
		for _, v := range from {
			share[v]++
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for v, d := range share {
		if d > 0 {
			share[v] = 1 / d
		}
	}
	return share, nil
}

// pageRankRound replaces the ranks, and returns the sum of their changes. It overwrites given.
func (j *job) pageRankRound(ctx context.Context, m *matrix, damping float64, share, rank, given []float64) (float64, error) {
	n := len(rank)
	lost, err := sum(ctx, n, j.options.Threads, func(first, last int) (float64, error) {
		lost := 0.0
		for v := first; v < last; v++ {
			given[v] = rank[v] * share[v]
			if share[v] == 0 {
				lost += rank[v]
			}
		}
		return lost, nil
	})
	if err != nil {
		return 0, err
	}
	each := (1-damping)/float64(n) + damping*lost/float64(n)
	return sum(ctx, n, j.options.Threads, func(first, last int) (float64, error) {
		change := 0.0
		for v := first; v < last; v++ {
			in := 0.0
			for _, u := range m.row(uint32(v)) {
				in += given[u]
			}
			next := float64(damping*in) + each
			change += math.Abs(next - rank[v])
			rank[v] = next
			if err := m.touched(m.degree(uint32(v))); err != nil {
				return 0, err
			}
		}
		return change, nil
	})
}
