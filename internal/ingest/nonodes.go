package ingest

import (
	"context"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// noNodes is the table of a node type that has no nodes, as the file at path says.
type noNodes struct{ path string }

func (noNodes) Fields() []table.Field         { return nil }
func (t noNodes) Files() []string             { return []string{t.path} }
func (noNodes) Bytes() int64                  { return 0 }
func (t noNodes) Where(uint64, string) string { return t.path }

func (noNodes) Scan(ctx context.Context, _ []table.Column, _ int, _ func(worker int, c *table.Chunk) error) (uint64, error) {
	return 0, ctx.Err()
}
