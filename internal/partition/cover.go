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

// endsRead is the number of nodes whose degrees are read at once.
const endsRead = 1 << 16

// degrees returns the number of neighbours of each node of the given types. It reads no neighbours.
func (j *job) degrees(ctx context.Context, g undirected.Rows, types []int) ([][]uint32, error) {
	rows := g.(undirected.Placed)
	degrees := make([][]uint32, len(types))
	var m undirected.Buffer
	for i, t := range types {
		end := int(j.starts[t+1])
		for from := int(j.starts[t]); from < end; from += endsRead {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b, err := rows.EndsBetween(from, min(from+endsRead, end), &m)
			if err != nil {
				return nil, err
			}
			for v := range b.Len() {
				first, end := b.Row(v)
				degrees[i] = append(degrees[i], end-first)
			}
		}
	}
	return degrees, nil
}
