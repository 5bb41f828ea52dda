package table

import (
	"fmt"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Fill gives each row once, for any number of threads, and the error of the first chunk.
func TestFill(t *testing.T) {
	const n = 300_000
	for threads := range 4 {
		sums := make([]uint64, 4)
		rows, err := Fill(t.Context(), n, []Column{{Name: "x", DType: graph.Uint64}, {Name: "y", DType: graph.Int8, Shape: []int{3}}}, threads, func(_ int, c *Chunk) error {
			for i := range c.Rows {
				scalar.AsWords(c.Columns[0].Data)[i] = c.First + uint64(i)
			}
			return nil
		}, func(worker int, c *Chunk) error {
			if len(c.Columns[0].Data) != 8*c.Rows || len(c.Columns[1].Data) != 3*c.Rows {
				return fmt.Errorf("found %d and %d bytes for %d rows", len(c.Columns[0].Data), len(c.Columns[1].Data), c.Rows)
			}
			for _, v := range scalar.AsWords(c.Columns[0].Data) {
				sums[worker] += v
			}
			return nil
		})
		if total := sums[0] + sums[1] + sums[2] + sums[3]; err != nil || rows != n || total != n*(n-1)/2 {
			t.Errorf("%d threads: found %d rows with the sum %d, %v", threads, rows, total, err)
		}
	}
	bad := func(_ int, c *Chunk) error { return fmt.Errorf("row %d", c.First) }
	if _, err := Fill(t.Context(), n, []Column{{DType: graph.Uint64}}, 3, bad, bad); err == nil || err.Error() != "row 0" {
		t.Errorf("found %v, expected that of row 0", err)
	}
}
