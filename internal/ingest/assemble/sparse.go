package assemble

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// maxUnknown bounds ids if the number of nodes is not known beforehand.
const maxUnknown = 1 << 40

// sparse refuses ids if the largest is out of proportion to the number of edges, since the offsets of the missing
// nodes could fill the disk.
func (b *builder) sparse(ctx context.Context, p *part) error {
	limit := max(1<<26, 64*p.rows)
	for _, e := range []end{p.src, p.dst} {
		if e.t.known || e.t.count <= limit {
			continue
		}
		first := newFirstRow()
		largest := e.t.count - 1
		if _, err := p.Table.Scan(ctx, []table.Column{e.column}, b.budget.threads, func(_ int, c *table.Chunk) error {
			for i, v := range u64s(c.Columns[0].Data) {
				if v == largest {
					row := c.First + uint64(i)
					first.report(row, func(context.Context) error {
						return fmt.Errorf("%s: found id %d among %d edges, expected ids below %d; read the ids as strings to have them numbered, or give the number of nodes", p.Table.Where(row, e.column.Name), v, p.rows, limit)
					})
					break
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := first.check(ctx); err != nil {
			return err
		}
	}
	return nil
}
