package views

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// coded is a table with columns of integers that are the codes of categories.
type coded struct {
	table.Table
	names      []string
	categories *table.Categories
}

// Coded makes a table whose named columns, of integers, hold codes of categories, and -1 for none. They must be asked for
// with these categories. No code is checked.
func Coded(t table.Table, categories *table.Categories, names ...string) table.Table {
	return &coded{t, names, categories}
}

// Scan implements Table.
func (t *coded) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := slices.Clone(columns)
	for i, c := range columns {
		if !slices.Contains(t.names, c.Name) {
			continue
		}
		if !t.categories.Equal(c.Categories) || c.DType != graph.Int32 {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for %q as %s, expected its categories", t.Files()[0], c.Name, c.DType)
		}
		asked[i].Categories = nil
	}
	return t.Table.Scan(ctx, asked, threads, fn)
}
