package feed

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
)

// checkLinks refuses columns that cannot come with the given number of links, or of edges that links are drawn of.
func checkLinks(columns []*widening.Column, rows int) error {
	for _, c := range columns {
		switch {
		case c.Rows != rows:
			return fmt.Errorf("column %q of the links: found %d rows, expected %d, one per link; give as many rows as links", c.Name, c.Rows, rows)
		case c.DType == graph.String || c.Ragged():
			return fmt.Errorf("column %q of the links: found %s rows of shape %v, expected numbers of a fixed shape", c.Name, c.DType, c.Shape)
		}
	}
	return nil
}

// columnRows are the rows of the columns of links.
func (m *made) columnRows() []uint64 {
	if len(m.edges) > 0 {
		return m.edges
	}
	return m.input
}

// givenPlaces are the places of the seeds among those that were given, of which rows has those that are seeds; nil: all are.
func (m *made) givenPlaces(rows []uint32) []uint64 {
	if rows == nil {
		return m.input
	}
	m.ids = m.ids[:0]
	for _, i := range m.input {
		m.ids = append(m.ids, uint64(rows[i]))
	}
	return m.ids
}

// ofLinks is a column of the seeds, named links/NAME.
func ofLinks(c *widening.Column) column {
	write := func(dst []byte, m *made) { batch.Gather(dst, c.Values, c.RowBytes(), m.columnRows()) }
	if c.Wide() {
		numbers := c.Writer(c.DType, nil)
		write = func(dst []byte, m *made) { numbers(dst, graph.Index{U64: m.columnRows()}) }
	}
	return column{ColumnInfo{Name: "links/" + Escaped(c.Name), DType: c.DType.String(), Shape: append([]int{}, c.Shape...), Of: c.Column}, c.RowBytes(),
		func(m *made) int { return len(m.input) },
		write,
		func(b *bounds) int64 { return b.seeds },
	}
}

// least is the least value of a column of numbers of a fixed shape; nil without rows, where a value is not finite, and of a feature in
// pieces, which is no label.
func least(c *widening.Column) *float64 {
	if c.Wide() {
		return nil
	}
	m := math.Inf(1)
	var block [512]float64
	for at, n := 0, c.Rows*c.RowValues(); at < n; at += len(block) {
		values := block[:min(len(block), n-at)]
		features.Float64s(c.Column, at, 1, values)
		m = min(m, slices.Min(values)) // NaN stays
	}
	if math.IsNaN(m) || math.IsInf(m, 0) {
		return nil
	}
	return &m
}

// times is seed_time, the times of the seeds: int64, or float64 where the times are floats.
func times(all []sample.Time) column {
	dtype := "int64"
	if len(all) > 0 {
		if _, _, float := all[0].Number(); float {
			dtype = "float64"
		}
	}
	return column{ColumnInfo{Name: "seed_time", DType: dtype, Shape: []int{}}, 8,
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
