package batch

import (
	"fmt"
	"reflect"

	"github.com/graphmill/graphmill/graph"
)

// Column is a column over the values of an array, without a copy. shape is the shape of one row, and empty for scalars.
// It panics where the values are not whole rows.
func Column[T graph.Numbers](name string, values []T, shape ...int) *graph.Column {
	width := 1
	for _, d := range shape {
		width *= d
	}
	if width < 1 || len(values)%width != 0 {
		panic(fmt.Sprintf("batch: found %d values for rows of shape %v, expected whole rows", len(values), shape))
	}
	return &graph.Column{Name: name, DType: dtypeOf[T](), Shape: shape, Rows: len(values) / width, Values: graph.Bytes(values)}
}

// dtypeOf is the dtype with the name of the kind of a Go type.
func dtypeOf[T graph.Numbers]() graph.DType {
	d, err := graph.ParseDType(reflect.TypeFor[T]().Kind().String())
	if err != nil {
		panic(err) // every kind of Numbers is a dtype
	}
	return d
}

// checkColumns refuses columns that cannot be batched, and returns their number of rows.
func checkColumns(columns []*graph.Column) (int, error) {
	if len(columns) == 0 {
		return 0, errOrder("found no column, expected at least one")
	}
	for _, c := range columns {
		switch {
		case c.DType == graph.String || c.Ragged():
			return 0, errOrder("column %q: found %s rows of shape %v, expected numbers of a fixed shape; leave the column out", c.Name, c.DType, c.Shape)
		case c.Rows != columns[0].Rows:
			return 0, errOrder("column %q: found %d rows, expected %d as in column %q", c.Name, c.Rows, columns[0].Rows, columns[0].Name)
		case len(c.Values) != c.Rows*c.RowBytes():
			return 0, errOrder("column %q: found %d bytes, expected %d rows of %d", c.Name, len(c.Values), c.Rows, c.RowBytes())
		}
	}
	return columns[0].Rows, nil
}
