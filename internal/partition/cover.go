package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// cover gives every part a node of each type that has at least as many nodes as there are parts. Balancing
// alone does not: a cap allows a part to have no node of a rare type. The nodes with the fewest neighbours
// move. Pieces are numbered by part, then by trainer.
func (j *job) cover(ctx context.Context, g undirected.Rows, piece []uint16) error {
	partOf := func(v uint64) int { return int(piece[v]) / j.Trainers }
	var lacking []int // types that some part lacks
	counts := make([][]int, len(j.types))
	for t := range j.types {
		counts[t] = make([]int, j.Parts)
		for v := j.starts[t]; v < j.starts[t+1]; v++ {
			counts[t][partOf(v)]++
		}
		if j.starts[t+1]-j.starts[t] >= uint64(j.Parts) && slices.Contains(counts[t], 0) {
			lacking = append(lacking, t)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	degrees, err := j.degrees(ctx, g, lacking)
	if err != nil {
		return err
	}
	for i, t := range lacking {
		order := make([]uint64, len(degrees[i]))
		for v := range order {
			order[v] = uint64(v)
		}
		slices.SortStableFunc(order, func(a, b uint64) int { return cmp.Compare(degrees[i][a], degrees[i][b]) })
		next := 0
		for p, n := range counts[t] {
			if n > 0 {
				continue
			}
			// A node that was skipped is the only one of its part, and stays so.
			for counts[t][partOf(j.starts[t]+order[next])] < 2 {
				next++
			}
			v := j.starts[t] + order[next]
			counts[t][partOf(v)]--
			counts[t][p]++
			piece[v] = uint16(p*j.Trainers + t%j.Trainers)
			next++
		}
	}
	return nil
}

// degrees returns the number of neighbours of each node of the given types.
func (j *job) degrees(ctx context.Context, g undirected.Rows, types []int) ([][]uint32, error) {
	degrees := make([][]uint32, len(types))
	for i, t := range types {
		degrees[i] = make([]uint32, j.starts[t+1]-j.starts[t])
	}
	return degrees, g.Scan(ctx, 1, func(_ int, b *undirected.Block) error {
		for i, t := range types {
			from, to := max(j.starts[t], uint64(b.First)), min(j.starts[t+1], uint64(b.First)+uint64(b.Len()))
			for v := from; v < to; v++ {
				first, end := b.Row(int(v - uint64(b.First)))
				degrees[i][v-j.starts[t]] = end - first
			}
		}
		return nil
	})
}
