package store

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
)

// PositionAt is the position of a row in the input, by the column of positions.
func PositionAt(c *graph.Column, row int) uint64 {
	x, _ := view(Descr(c.DType), c.Values)
	return x.At(row)
}

// RowsBefore is the number of rows of the input of an edge type so far, from which positions of edges that are appended count. For edges of the base it is one more than their
// largest position, so that rows at its end of which the import made no edge are not counted.
func (s *Store) RowsBefore(edgeType string) (uint64, error) {
	for i := range slices.Backward(s.Meta.Segments) {
		if e := s.Meta.Segments[i].Edges[edgeType]; e != nil {
			return e.Rows, nil
		}
	}
	i := slices.IndexFunc(s.Graph.Edges, func(e *graph.Edges) bool { return e.Type.String() == edgeType })
	if i < 0 {
		return 0, nil
	}
	c := graph.FindColumn(s.Graph.Edges[i].Columns, graph.PositionColumn)
	if c == nil {
		return uint64(s.Graph.Edges[i].Count), nil
	}
	if x, _ := view(Descr(c.DType), c.Values); x.Len() > 0 {
		most, err := s.largest(x)
		return most + 1, err
	}
	return 0, nil
}

// largestBlock is the number of values of which one goroutine finds the largest at a time.
const largestBlock = 1 << 20

// largest is the largest value of a mapped list. It is read by as many goroutines as there are processors, and little of it is held in memory.
func (s *Store) largest(x graph.Index) (uint64, error) {
	var g guard.Group
	var next, most atomic.Uint64
	n := uint64(x.Len())
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				to := next.Add(largestBlock)
				from := to - largestBlock
				if from >= n {
					return nil
				}
				part := indexPart(x, int(from), int(min(to, n)))
				v := Largest(part)
				for had := most.Load(); v > had && !most.CompareAndSwap(had, v); had = most.Load() {
					continue
				}
				if err := s.Touched(part.Bytes()); err != nil {
					return err
				}
			}
		})
	}
	err := g.Wait()
	return most.Load(), err
}

// Largest is the largest value of a list; 0 of none.
func Largest(x graph.Index) uint64 { return max(largestOf(x.U64), uint64(largestOf(x.U32))) }

// largestOf is the largest of values; 0 for none. Four at a time do not wait for each other.
func largestOf[T uint32 | uint64](x []T) T {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, v := range x {
		a = max(a, v)
	}
	return max(a, b, c, d)
}

// appendPositions writes the positions of new edges, which another store has and which count from the first.
func (x *appending) appendPositions(from *Store, c *graph.Column, first uint64, file string) (ColumnMeta, error) {
	of, _ := view(Descr(c.DType), c.Values)
	most, err := from.largest(of)
	if err != nil {
		return ColumnMeta{}, err
	}
	wide := first+most > maxNarrow
	m := ColumnMeta{File: file, DType: graph.Uint32.String(), Shape: []int{}}
	if wide {
		m.DType = graph.Uint64.String()
	}
	return m, x.writeIndex(file, from, of, first, wide)
}
