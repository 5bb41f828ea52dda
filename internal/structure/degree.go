package structure

import (
	"context"
	"math"

	"github.com/graphmill/graphmill/graph"
)

// degreeCount is a position of a typed degree: the edges of a type that come in to a node, or go out.
type degreeCount struct {
	edge int
	end  graph.Direction
}

// degreeCounts are the positions of a typed degree: edge types in the order of the graph, in before out.
func degreeCounts(s Spec, g *graph.Graph, node int, types []int) []degreeCount {
	var counts []degreeCount
	name, d := g.Nodes[node].Type, s.direction()
	for _, t := range types {
		if d != Out && g.Edges[t].Type.Dst == name {
			counts = append(counts, degreeCount{t, graph.In})
		}
		if d != In && g.Edges[t].Type.Src == name {
			counts = append(counts, degreeCount{t, graph.Out})
		}
	}
	return counts
}

func (j *job) degrees(ctx context.Context) error {
	var types []int
	for _, e := range j.types {
		types = append(types, e.number)
	}
	counts := degreeCounts(j.spec, j.graph, j.node, types)
	width := 1
	if j.spec.Typed {
		width = len(counts)
	}
	rows := j.rows()
	if _, err := j.spare(8 * int64(rows) * int64(width)); err != nil {
		return err
	}
	total := make([]int64, rows*width)
	for i, c := range counts {
		position := 0
		if j.spec.Typed {
			position = i
		}
		if err := j.countEdges(ctx, c, total[min(position, len(total)):], width); err != nil {
			return err
		}
		j.tell(int64(i+1), int64(len(counts)))
	}
	return j.writeRows(ctx, width, func(row, p int) float64 {
		d := float64(total[row*width+p])
		if j.spec.Structure == LogDegree {
			return math.Log1p(d)
		}
		return d
	})
}

// countEdges adds the edges of one position to every width-th number of total.
func (j *job) countEdges(ctx context.Context, c degreeCount, total []int64, width int) error {
	for _, e := range j.types {
		if e.number != c.edge {
			continue
		}
		if e.keep == nil && c.end == e.Primary {
			ptr := e.Adj[e.Primary].Indptr
			for v := range e.rows {
				from, to := ptr.At(v), ptr.At(v+1)
				if to < from {
					return e.damaged()
				}
				total[v*width] += int64(to - from)
			}
			return ctx.Err()
		}
		first := j.first()
		return j.scan(ctx, e, func(src, dst []uint32) error {
			ends := src
			if c.end == graph.In {
				ends = dst
			}
			for _, v := range ends {
				total[(int(v)-first)*width]++
			}
			return nil
		})
	}
	return nil
}
