package generate

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// chunkRows is the number of rows of a chunk, which has 1 MiB of ids.
const chunkRows = 1 << 16

// scanPairs is the Scan of a table of computed edges with the columns "src" and "dst". fill returns, for each worker,
// the function that sets the ends of the edges from first on.
func scanPairs(ctx context.Context, what string, edges uint64, columns []table.Column, threads int, fill func() func(src, dst []uint64, first uint64),
	fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for _, c := range columns {
		if c.Name != "src" && c.Name != "dst" || c.DType != graph.Uint64 {
			return 0, fmt.Errorf("%s: found column %q of %s, expected src or dst of uint64", what, c.Name, c.DType)
		}
	}
	var next atomic.Uint64
	g, ctx := guard.WithContext(ctx)
	for w := range max(threads, 1) {
		g.Go(func() error {
			src, dst := make([]uint64, chunkRows), make([]uint64, chunkRows)
			chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
			set := fill()
			for {
				first := (next.Add(1) - 1) * chunkRows
				if first >= edges || ctx.Err() != nil {
					return ctx.Err()
				}
				n := min(chunkRows, edges-first)
				set(src[:n], dst[:n], first)
				for i, c := range columns {
					from := src
					if c.Name == "dst" {
						from = dst
					}
					chunk.Columns[i].Data = graph.Bytes(from[:n])
				}
				chunk.First, chunk.Rows, chunk.Bytes = first, int(n), int64(n)*16
				if err := fn(w, &chunk); err != nil {
					return err
				}
			}
		})
	}
	return edges, g.Wait()
}
