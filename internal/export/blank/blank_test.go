package blank_test

import (
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
)

func TestRows(t *testing.T) {
	marks := func(name string) *graph.Column {
		return &graph.Column{Name: name, DType: graph.Bool, Rows: 3, Values: []byte{1, 1, 0}}
	}
	texts := &graph.Column{Name: "c", DType: graph.String, Rows: 1, Values: []byte("x"), StringOffsets: graph.Index{U64: []uint64{0, 1}}}
	nan := math.NaN()
	for _, c := range []struct {
		column *graph.Column
		want   [3]bool
		marked bool
	}{
		{&graph.Column{Name: "i", DType: graph.Int64, Values: graph.Bytes([]int64{0, 5, 0})}, [3]bool{true, false, false}, true}, // 5 was filled in
		{&graph.Column{Name: "b", DType: graph.Bool, Values: []byte{0, 1, 0}}, [3]bool{true, false, false}, true},
		{&graph.Column{Name: "f", DType: graph.Float64, Values: graph.Bytes([]float64{nan, 1, nan})}, [3]bool{true, false, false}, true},
		{&graph.Column{Name: "s", DType: graph.String, Values: []byte("x"), StringOffsets: graph.Index{U64: []uint64{0, 0, 1, 1}}}, [3]bool{true, false, false}, true},
		{&graph.Column{Name: "t", DType: graph.Int64, Unit: graph.Seconds, Values: graph.Bytes([]int64{0, graph.NoTime, 1})}, [3]bool{false, true, false}, false},
		{&graph.Column{Name: "c", DType: graph.Int32, Categories: texts, Values: graph.Bytes([]int32{0, -1, 0})}, [3]bool{false, true, false}, false},
		{&graph.Column{Name: "v", DType: graph.Int32, Shape: []int{1}, Values: graph.Bytes([]int32{0, 0, 0})}, [3]bool{}, false},
	} {
		c.column.Rows = 3
		rows := blank.Of(c.column, []*graph.Column{c.column, marks(c.column.Name + "_missing")})
		var got [3]bool
		for i := range got {
			got[i] = rows.Has(i)
		}
		if got != c.want || rows.Marked() != c.marked || rows.Any(3) != (c.want != [3]bool{}) {
			t.Errorf("column %s: found %v, marked %v, expected %v, %v", c.column.Name, got, rows.Marked(), c.want, c.marked)
		}
		if alone := blank.Of(c.column, nil); alone.Marked() || c.marked && alone.Any(3) {
			t.Errorf("column %s: found missing values without marks", c.column.Name)
		}
	}
}
