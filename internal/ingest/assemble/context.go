package assemble

import (
	"context"

	"github.com/graphmill/graphmill/internal/store"
)

// context writes the rows of the context, whose columns are like columns of nodes.
func (b *builder) context(ctx context.Context) error {
	in := b.in.Context
	if in == nil {
		return nil
	}
	t := &nodeType{Nodes: &Nodes{Type: "context", Table: in.Table, Columns: in.Columns}}
	return b.stage("context", "", func() (uint64, error) {
		out, err := b.newNodeSink([]*nodeType{t}, "context")
		if err != nil {
			return 0, err
		}
		rows, err := b.readType(ctx, t, false, out)
		if err != nil {
			return 0, err
		}
		m := &store.NodesMeta{Columns: map[string]store.ColumnMeta{}}
		if err := out.close(m); err != nil {
			return 0, err
		}
		b.res.Meta.Context = &store.ContextMeta{Count: int(rows), Columns: m.Columns}
		return rows, nil
	})
}
