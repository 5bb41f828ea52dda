package tabletest

import (
	"context"
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// counted adds the rows before a part to those that its scans count, as the helper rows expects.
type counted struct {
	table.Table
	first uint64
}

func (c counted) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	n, err := c.Table.Scan(ctx, columns, threads, fn)
	if n == 0 {
		return 0, err
	}
	return c.first + n, err
}

// Divided reads a table part by part, as several processes do.
func Divided(t *rapid.T, whole table.Table, columns []table.Column, size int64) ([]string, error) {
	parts := table.Divide(whole, size)
	measured := make([]table.Measured, len(parts))
	for i, p := range parts {
		var err error
		if measured[i], err = table.Measure(context.Background(), whole, p); err != nil {
			return nil, err
		}
	}
	total := table.Settle(parts, measured)
	var all []string
	for _, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q table.Part
		if err := json.Unmarshal(b, &q); err != nil {
			t.Fatal(err)
		}
		if q.First != uint64(len(all)) {
			t.Fatalf("part %+v starts after %d rows", q, len(all))
		}
		list, err := Rows(counted{q.Of(whole), q.First}, columns, 2)
		if err != nil {
			return nil, err
		}
		all = append(all, list[min(q.First, uint64(len(list))):]...)
	}
	if total != uint64(len(all)) {
		t.Fatalf("found %d rows, counted %d", len(all), total)
	}
	return all, nil
}
