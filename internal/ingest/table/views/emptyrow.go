package views

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// EmptyRow is a table of one row whose cells are empty, with the fields of another table.
func EmptyRow(t table.Table) table.Table { return emptyRow{t} }

type emptyRow struct{ table.Table }

// Scan implements table.Table.
func (t emptyRow) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, func(_ context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
		chunk := table.Chunk{Rows: 1}
		for _, c := range columns {
			b, err := builder.New(c)
			if err != nil {
				return 0, fmt.Errorf("column %q: %w", c.Name, err)
			}
			if _, problem := b.Put(nil); problem != "" {
				return 0, fmt.Errorf("column %q: found no value, expected %s; give `Missing` another value", c.Name, problem)
			}
			if b.Wide && c.DType.Size() < 8 && scalar.Narrow(b.Data.W[:1], c.DType) >= 0 {
				return 0, fmt.Errorf("column %q: found the fill value %q, expected one of %s", c.Name, c.Fill, c.DType)
			}
			chunk.Columns = append(chunk.Columns, b.Vector(1))
		}
		return 1, fn(0, &chunk)
	})
}
