package feed

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// checkLinks refuses columns that cannot come with the given number of links.
func checkLinks(columns []*graph.Column, links int) error {
	for _, c := range columns {
		switch {
		case c.Rows != links:
			return fmt.Errorf("column %q of the links: found %d rows, expected %d, one per link", c.Name, c.Rows, links)
		case c.DType == graph.String || c.Ragged():
			return fmt.Errorf("column %q of the links: found %s rows of shape %v, expected numbers of a fixed shape", c.Name, c.DType, c.Shape)
		}
	}
	return nil
}

// ofLinks is a column of the seeds, named links/NAME.
func ofLinks(c *graph.Column) column {
	return column{ColumnInfo{"links/" + c.Name, c.DType.String(), append([]int{}, c.Shape...), c}, c.RowBytes(),
		func(m *made) int { return len(m.input) },
		func(dst []byte, m *made) { batch.Gather(dst, c.Values, c.RowBytes(), m.input) },
		func(b *bounds) int64 { return b.seeds },
	}
}

// times is seed_time, the times of the seeds: int64, or float64 where the times are floats.
func times(all []sample.Time) column {
	dtype := "int64"
	if len(all) > 0 {
		if _, _, float := all[0].Number(); float {
			dtype = "float64"
		}
	}
	return column{ColumnInfo{"seed_time", dtype, []int{}, nil}, 8,
		func(m *made) int { return len(m.times) },
		func(dst []byte, m *made) {
			to := graph.View[uint64](dst)
			for i, t := range m.times {
				v, f, float := t.Number()
				to[i] = uint64(v)
				if float {
					to[i] = math.Float64bits(f)
				}
			}
		},
		func(b *bounds) int64 { return b.seeds },
	}
}
