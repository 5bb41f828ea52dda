package predictions

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
)

// databaseSink writes a table of a database. A vector has a column per value.
type databaseSink struct {
	ctx     context.Context
	columns []column
	out     *database.NewTable
	row     []any
}

// tableColumns are the columns of a table of a database.
func tableColumns(columns []column) (out []database.NewColumn, err error) {
	names, err := flatNames(columns)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		for range max(c.width, 1) {
			out = append(out, database.NewColumn{Name: names[len(out)], Kind: kindOf(&c)})
		}
	}
	return out, nil
}

// kindOf is the kind of the values of a column in a database. Times are texts, which keep the digits of each unit.
func kindOf(c *column) database.Kind {
	switch {
	case c.dtype == graph.String || c.unit != "":
		return database.Text
	case c.dtype == graph.Bool:
		return database.Bool
	case c.dtype.IsInt():
		return database.Integer
	}
	return database.Float
}

// encode has nothing to do: a database takes one row at a time.
func (s *databaseSink) encode(*worker, *block) error { return nil }

// add takes a block.
func (s *databaseSink) add(b *block) error {
	for i := range b.rows {
		s.row = s.row[:0]
		for k := range s.columns {
			c := &s.columns[k]
			for v := range max(c.width, 1) {
				value, err := valueOf(c, &b.cells[k], i*max(c.width, 1)+v)
				if err != nil {
					return err
				}
				s.row = append(s.row, value)
			}
		}
		if err := s.out.Insert(s.ctx, s.row); err != nil {
			return err
		}
	}
	return nil
}

// valueOf is value i of a column; nil where it is missing.
func valueOf(c *column, x *cells, i int) (any, error) {
	switch {
	case x.null != nil && x.null[i]:
		return nil, nil
	case c.dtype == graph.String:
		return string(x.string(i)), nil
	case c.unit != "":
		b, err := appendTime(nil, c, graph.View[int64](x.data)[i])
		return string(b), err
	case c.dtype == graph.Bool:
		return x.data[i] != 0, nil
	case c.dtype == graph.Float64:
		return graph.View[float64](x.data)[i], nil
	case c.dtype == graph.Float32:
		return float64(graph.View[float32](x.data)[i]), nil
	case c.dtype == graph.Float16:
		return float64(example.Float16(graph.View[uint16](x.data)[i])), nil
	case c.dtype == graph.BFloat16:
		return float64(example.BFloat16(graph.View[uint16](x.data)[i])), nil
	}
	v, negative := integer(c.dtype, x.data, i)
	if !negative && v > math.MaxInt64 {
		return nil, fmt.Errorf("column %q: found %d, expected at most %d in a database; write Parquet or CSV", c.name, v, int64(math.MaxInt64))
	}
	return int64(v), nil
}

// close commits the table.
func (s *databaseSink) close() error { return s.out.Commit() }
