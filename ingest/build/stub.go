package build

import (
	"context"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/internal/extsort"
)

func (b *builder) numberByAppearance(ctx context.Context) error { return nil }
func (b *builder) finishHomogeneous(ctx context.Context) error  { return nil }
func (b *builder) offsets(ctx context.Context) error            { return nil }
func (g *group) join(ctx context.Context, p *part) error        { return nil }
func (p *part) release() error                                  { return nil }
func (b *builder) newKeys(n int64) *keys                        { return nil }
func (w *nodeWorker) addKeys(t *nodeType, c *table.Chunk) error { return nil }

type keys struct{ part *extsort.Partition }
type refs struct{}

func (r *refs) read(row uint64, slot int, out []uint64, buf *[]byte) error { return nil }
