package seeds

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// where is the nodes with a value in a column.
func where(n *graph.Nodes, condition string) (*Seeds, error) {
	name, value, _ := strings.Cut(condition, "=")
	c := graph.FindColumn(n.Columns, name)
	if c == nil && name == "#id" {
		c = n.IDs
	}
	if c == nil {
		var have []string
		for _, c := range n.Columns {
			have = append(have, c.Name)
		}
		return nil, tagged.Errorf(sample.ErrSeed, "found column %q, expected a column of node type %s: %s", name, n.Type, strings.Join(have, ", "))
	}
	match, err := matcher(c, value)
	if err != nil {
		return nil, tagged.Errorf(sample.ErrSeed, "column %q of node type %s: %w", name, n.Type, err)
	}
	s := &Seeds{Types: []string{n.Type}}
	for i := range n.Count {
		if match(i) {
			s.Nodes = append(s.Nodes, uint32(i))
		}
	}
	if len(s.Nodes) == 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "found no node of type %s with %s = %q", n.Type, name, value)
	}
	return s, nil
}

// matcher compares a row of a scalar column with a value.
func matcher(c *graph.Column, value string) (func(row int) bool, error) {
	if c.Ragged() || c.RowValues() != 1 {
		return nil, fmt.Errorf("found shape %v, expected one value per row", c.Shape)
	}
	if c.DType == graph.String {
		if err := c.StringOffsets.CheckOffsets(len(c.Values)); err != nil {
			return nil, err
		}
		return func(i int) bool { return string(c.Text(i)) == value }, nil
	}
	var want []byte
	switch {
	case c.DType == graph.Bool:
		v, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected true or false", value)
		}
		want = []byte{0}
		if v {
			want[0] = 1
		}
	case c.DType.IsInt():
		bits := 8 * c.DType.Size()
		var v uint64
		var err error
		if c.DType < graph.Uint8 {
			var i int64
			i, err = strconv.ParseInt(value, 10, bits)
			v = uint64(i)
		} else {
			v, err = strconv.ParseUint(value, 10, bits)
		}
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected a number of dtype %s", value, c.DType)
		}
		want = graph.Bytes([]uint64{v})[:c.DType.Size()]
	case c.DType == graph.Float32 || c.DType == graph.Float64: // by value: -0 is 0
		v, err := strconv.ParseFloat(value, 8*c.DType.Size())
		if err != nil {
			return nil, fmt.Errorf("found value %q, expected a number", value)
		}
		if c.DType == graph.Float32 {
			rows := graph.View[float32](c.Values)
			return func(i int) bool { return rows[i] == float32(v) }, nil
		}
		rows := graph.View[float64](c.Values)
		return func(i int) bool { return rows[i] == v }, nil
	default:
		return nil, fmt.Errorf("found dtype %s, expected bool, an integer, float32, float64 or string", c.DType)
	}
	return func(i int) bool { return bytes.Equal(c.Row(i), want) }, nil
}
