package cluster

import (
	"context"
	"encoding/json"

	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/ranges"
)

// measure counts the rows of a piece, and the edges that the store lists at its nodes, and tells the submitter.
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

// readMeasures reads what measure told of a division into parts of trainers each, of a store with a number of edge types.
func readMeasures(b []byte, parts, trainers, relations int) (*partition.Measures, error) {
	var m partition.Measures
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	return &m, m.Fits(parts, trainers, relations)
}
