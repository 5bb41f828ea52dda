package views

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// fromOne is a table some of whose columns count from 1.
type fromOne struct {
	table.Table
	names []string
}

// FromOne makes a table whose named columns, which must be asked for as Uint64, hold the numbers of t less 1. A 0 is an
// error of the scan. Scans copy the values of these columns once.
func FromOne(t table.Table, names ...string) table.Table { return &fromOne{t, names} }

// Scan implements Table.
func (t *fromOne) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	var at []int
	for i, c := range columns {
		if !slices.Contains(t.names, c.Name) {
			continue
		}
		if c.DType != graph.Uint64 || len(c.Shape) > 0 {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for the ids %q as %s, expected uint64", t.Files()[0], c.Name, c.DType)
		}
		at = append(at, i)
	}
	return scanChanged(ctx, t.Table, columns, at, threads, fn, func(c *table.Chunk, i int, data []byte) error {
		values := graph.View[uint64](data)
		for row := range values {
			if values[row] == 0 && (c.Absent == nil || !c.Absent[row]) {
				return tagged.Errorf(table.ErrFormat, "%s: found id 0, expected ids from 1; number the nodes from 1, or leave the ids as they are in a table of another format", t.Where(c.First+uint64(row), columns[i].Name))
			}
			values[row]--
		}
		return nil
	})
}
