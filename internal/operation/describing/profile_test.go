package describing

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// The marks of a column are bools of its rows, or of all values of a vector of several cells.
func TestMarkOf(t *testing.T) {
	mark := func(d graph.DType, shape ...int) *graph.Column {
		return &graph.Column{Name: "a_missing", DType: d, Shape: shape, Rows: 1, Values: []byte{1, 0}}
	}
	column := func(shape ...int) *graph.Column { return &graph.Column{Name: "a", DType: graph.Float32, Shape: shape} }
	for _, c := range []struct {
		column, mark *graph.Column
		want         bool
	}{
		{column(), mark(graph.Bool), true},
		{column(2), mark(graph.Bool), true},
		{column(2), mark(graph.Bool, 2), true},
		{column(-1), mark(graph.Bool), true},
		{column(3), mark(graph.Bool, 2), false},
		{column(), mark(graph.Bool, 2), false},
		{column(-1), mark(graph.Bool, -1), false},
		{column(), mark(graph.Uint8), false},
	} {
		if got := markOf([]*graph.Column{c.column, c.mark}, c.column); (got != nil) != c.want {
			t.Errorf("%v marked by %s %v: found the marks %v, expected some: %t", c.column.Shape, c.mark.DType, c.mark.Shape, got, c.want)
		}
	}
}
