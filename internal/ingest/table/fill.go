package table

import (
	"context"

	"github.com/graphmill/graphmill/graph"
)

// Fill is the scan of a table whose rows are made in memory. It calls fn for chunks of at most n rows in all, after
// fill has put their values into the data of the columns, which must be numbers of fixed shape. Up to threads
// goroutines call both at once.
func Fill(ctx context.Context, n uint64, columns []Column, threads int, fill, fn func(worker int, c *Chunk) error) (uint64, error) {
	width := 8
	sizes := make([]int, len(columns))
	for i, c := range columns {
		sizes[i] = c.DType.Size()
		for _, d := range c.Shape {
			sizes[i] *= d
		}
		width += sizes[i]
	}
	step := max(1, ChunkSize/width)
	threads = max(threads, 1)
	type worker struct {
		chunk Chunk
		data  [][]uint64
	}
	workers := make([]worker, threads)
	err := Each(ctx, int((n+uint64(step)-1)/uint64(step)), threads, func(id, unit int) error {
		w := &workers[id]
		if w.data == nil {
			w.data = make([][]uint64, len(columns))
			w.chunk.Columns = make([]Vector, len(columns))
			for i := range columns {
				w.data[i] = make([]uint64, (sizes[i]*step+7)/8)
			}
		}
		w.chunk.First = uint64(unit) * uint64(step)
		w.chunk.Rows = int(min(uint64(step), n-w.chunk.First))
		for i := range columns {
			w.chunk.Columns[i].Data = graph.Bytes(w.data[i])[:sizes[i]*w.chunk.Rows]
		}
		w.chunk.Bytes = int64(w.chunk.Rows) * int64(width-8)
		if err := fill(id, &w.chunk); err != nil {
			return err
		}
		return fn(id, &w.chunk)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
