package views

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// reversed is a table with two columns swapped and one negated.
type reversed struct {
	table.Table
	src, dst, negate string
}

// Reversed makes a table whose columns src and dst have each other's values of t, but keep their places, and whose column
// negate, which must be asked for as Int64 or Float64, has the opposite sign. Names of columns stay where they are, so that
// Concat can join t and its reverse.
func Reversed(t table.Table, src, dst, negate string) table.Table {
	return &reversed{t, src, dst, negate}
}

// Scan implements Table. It takes the memory that t takes, and for each worker the values of the negated column once more.
func (t *reversed) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := slices.Clone(columns)
	var negate []int
	for i, c := range columns {
		switch c.Name {
		case t.src:
			asked[i].Name = t.dst
		case t.dst:
			asked[i].Name = t.src
		case t.negate:
			if c.DType != graph.Int64 && c.DType != graph.Float64 {
				return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for %q as %s, expected int64 or float64", t.Files()[0], c.Name, c.DType)
			}
			negate = append(negate, i)
		}
	}
	return scanChanged(ctx, t.Table, asked, negate, threads, fn, func(_ *table.Chunk, i int, data []byte) error {
		for at := 0; at < len(data); at += 8 {
			v := binary.LittleEndian.Uint64(data[at:])
			if columns[i].DType == graph.Float64 {
				v = math.Float64bits(-math.Float64frombits(v))
			} else {
				v = -v
			}
			binary.LittleEndian.PutUint64(data[at:], v)
		}
		return nil
	})
}

// Where implements Table.
func (t *reversed) Where(row uint64, column string) string {
	switch column {
	case t.src:
		column = t.dst
	case t.dst:
		column = t.src
	}
	return t.Table.Where(row, column)
}
