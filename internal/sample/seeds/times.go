package seeds

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Times is the time of each seed, for a plan with "before": the value of the seed node in a column of its type or, for
// links, the value in a column of their table.
func Times(g *graph.Graph, s *Seeds, column string) ([]sample.Time, error) {
	owner, columns := "the links", s.Columns
	if len(s.Types) == 1 {
		n := g.Nodes[g.NodeType(s.Types[0])]
		owner, columns = "node type "+n.Type, n.Columns
	}
	c := graph.FindColumn(columns, column)
	if c == nil {
		var have []string
		for _, c := range columns {
			have = append(have, c.Name)
		}
		return nil, tagged.Errorf(sample.ErrSeed, "found no column %q of %s for the times of the seeds, expected one of %s; give `SeedTime`", column, owner, strings.Join(have, ", "))
	}
	at, err := timeReader(c)
	if err != nil {
		return nil, tagged.Errorf(sample.ErrSeed, "column %q of %s: %w", column, owner, err)
	}
	times := make([]sample.Time, len(s.Nodes)/len(s.Types))
	for i := range times {
		row := i
		if len(s.Types) == 1 {
			row = int(s.Nodes[i])
		}
		times[i] = at(row)
	}
	return times, nil
}

func timeReader(c *graph.Column) (func(row int) sample.Time, error) {
	if c.Ragged() || c.RowValues() != 1 {
		return nil, fmt.Errorf("found shape %v, expected one value per row", c.Shape)
	}
	switch c.DType {
	case graph.Int64:
		v := graph.View[int64](c.Values)
		return func(i int) sample.Time { return sample.IntTime(v[i]) }, nil
	case graph.Int32:
		v := graph.View[int32](c.Values)
		return func(i int) sample.Time { return sample.IntTime(int64(v[i])) }, nil
	case graph.Uint32:
		v := graph.View[uint32](c.Values)
		return func(i int) sample.Time { return sample.IntTime(int64(v[i])) }, nil
	case graph.Float32:
		v := graph.View[float32](c.Values)
		return func(i int) sample.Time { return sample.FloatTime(float64(v[i])) }, nil
	case graph.Float64:
		v := graph.View[float64](c.Values)
		return func(i int) sample.Time { return sample.FloatTime(v[i]) }, nil
	}
	return nil, fmt.Errorf("found dtype %s, expected int32, int64, uint32, float32 or float64", c.DType)
}
