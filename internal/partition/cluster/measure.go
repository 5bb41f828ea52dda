package cluster

import (
	"context"
	"encoding/json"

	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/ranges"
)

// measure tells the measures of a piece: of its rows, and of the edges of the store at its nodes.
func (t *task) measure(ctx context.Context) error {
	from, to := t.starts[t.number], t.starts[t.number+1]
	r, err := t.between(ctx, from, to)
	if err != nil {
		return err
	}
	return t.with(ctx, moment{given, t.step.pass}, func(now *state) error {
		v := t.visitors.Get().(*ranges.Visitor)
		m := partition.NewMeter(now.pieces)
		if err := r.Each(ctx, v, m.Block); err != nil {
			return err
		}
		t.visitors.Put(v) // after a fault it holds anything
		sum := m.Measures()
		if sum.Relations, err = partition.CountEdges(ctx, t.store, now.pieces, from, to); err != nil {
			return err
		}
		b, err := json.Marshal(sum)
		if err != nil {
			return err
		}
		return t.tell(0, b)
	})
}
