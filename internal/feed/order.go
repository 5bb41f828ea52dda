package feed

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
)

// WeightedBy is an order that draws as many seeds as there are, in proportion to a column of numbers and with
// replacement: batch.Weighted. rows is the row of each seed.
func WeightedBy(c *graph.Column, rows []uint32) (batch.Order, error) {
	if err := single(c); err != nil {
		return nil, err
	}
	if c.Categories != nil {
		return nil, fmt.Errorf("column %q: found categories as weights, expected numbers; stratified:%s mixes them evenly", c.Name, c.Name)
	}
	if c.Unit != "" {
		return nil, fmt.Errorf("column %q: found times as weights, expected numbers; give a column of numbers, such as an age that you computed from the times", c.Name)
	}
	weights, err := float64s(c, rows)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w as weights", c.Name, err)
	}
	return batch.Weighted(weights, uint64(len(weights)))
}

// float64s is the values of a column of numbers, in rows, as float64.
func float64s(c *graph.Column, rows []uint32) ([]float64, error) {
	values := make([]float64, len(rows))
	switch c.DType {
	case graph.Bool, graph.Uint8:
		numbers(values, graph.View[uint8](c.Values), rows)
	case graph.Int8:
		numbers(values, graph.View[int8](c.Values), rows)
	case graph.Int16:
		numbers(values, graph.View[int16](c.Values), rows)
	case graph.Uint16:
		numbers(values, graph.View[uint16](c.Values), rows)
	case graph.Int32:
		numbers(values, graph.View[int32](c.Values), rows)
	case graph.Uint32:
		numbers(values, graph.View[uint32](c.Values), rows)
	case graph.Int64:
		numbers(values, graph.View[int64](c.Values), rows)
	case graph.Uint64:
		numbers(values, graph.View[uint64](c.Values), rows)
	case graph.Float32:
		numbers(values, graph.View[float32](c.Values), rows)
	case graph.Float64:
		numbers(values, graph.View[float64](c.Values), rows)
	default:
		return nil, fmt.Errorf("found dtype %s, expected bool, an integer, float32 or float64; import the column with one of these dtypes", c.DType)
	}
	return values, nil
}

func numbers[T uint8 | int8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](dst []float64, values []T, rows []uint32) {
	for i, r := range rows {
		dst[i] = float64(values[r])
	}
}

// StratifiedBy is an order that mixes the values of a column evenly: batch.Stratified. The classes are the distinct
// values of the seeds, numbered in ascending order; texts are ordered by their bytes. rows is the row of each seed.
func StratifiedBy(c *graph.Column, rows []uint32) (batch.Order, error) {
	if err := single(c); err != nil {
		return nil, err
	}
	var classes []uint32
	switch c.DType {
	case graph.Bool, graph.Uint8:
		classes = ranks(at[uint8](c), rows)
	case graph.Int8:
		classes = ranks(at[int8](c), rows)
	case graph.Int16:
		classes = ranks(at[int16](c), rows)
	case graph.Uint16:
		classes = ranks(at[uint16](c), rows)
	case graph.Int32:
		classes = ranks(at[int32](c), rows)
	case graph.Uint32:
		classes = ranks(at[uint32](c), rows)
	case graph.Int64:
		classes = ranks(at[int64](c), rows)
	case graph.Uint64:
		classes = ranks(at[uint64](c), rows)
	case graph.String:
		if err := c.CheckOffsets(); err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		classes = ranks(func(row uint32) string { return string(c.Text(int(row))) }, rows)
	default:
		return nil, fmt.Errorf("column %q: found dtype %s, expected bool, an integer or string as classes; import the column as a category or an integer", c.Name, c.DType)
	}
	return batch.Stratified(classes)
}

// ranks is the place of the value of each seed among the distinct values of all.
func ranks[T cmp.Ordered](values func(row uint32) T, rows []uint32) []uint32 {
	numbers := map[T]uint32{}
	var distinct []T
	for _, r := range rows {
		v := values(r)
		if _, ok := numbers[v]; !ok {
			numbers[v] = 0
			distinct = append(distinct, v)
		}
	}
	slices.Sort(distinct)
	for i, v := range distinct {
		numbers[v] = uint32(i)
	}
	classes := make([]uint32, len(rows))
	for i, r := range rows {
		classes[i] = numbers[values(r)]
	}
	return classes
}

// at reads a row of a column of numbers.
func at[T graph.Numbers](c *graph.Column) func(row uint32) T {
	values := graph.View[T](c.Values)
	return func(row uint32) T { return values[row] }
}

func single(c *graph.Column) error {
	if c.Ragged() || c.RowValues() != 1 {
		return fmt.Errorf("column %q: found shape %v, expected one value per row; split the column into one per value", c.Name, c.Shape)
	}
	return nil
}
