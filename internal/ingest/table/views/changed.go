package views

import (
	"context"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// scanChanged scans columns of a table. Before each call of fn it copies the values of the columns at some indices, for change
// to write in place: the chunks of t are not its own.
func scanChanged(ctx context.Context, t table.Table, columns []table.Column, at []int, threads int, fn func(worker int, c *table.Chunk) error, change func(c *table.Chunk, i int, data []byte) error) (uint64, error) {
	chunks := make([]table.Chunk, max(threads, 1))
	copies := make([]buffer, len(chunks)*len(at))
	return t.Scan(ctx, columns, threads, func(id int, c *table.Chunk) error {
		out := &chunks[id]
		vectors := append(out.Columns[:0], c.Columns...)
		*out = *c
		out.Columns = vectors
		for k, i := range at {
			data := copies[id*len(at)+k].take(len(c.Columns[i].Data))
			copy(data, c.Columns[i].Data)
			if err := change(c, i, data); err != nil {
				return err
			}
			vectors[i].Data = data
		}
		return fn(id, out)
	})
}
