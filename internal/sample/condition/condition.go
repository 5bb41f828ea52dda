// Package condition compares the rows of a column with a value that is given as text, as the conditions COLUMN=VALUE of seeds and of messages
// do: numbers by value, times as they are written, categories and strings by their text.
package condition

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrUnfit is the kind of errors about a column whose rows cannot be compared with a value.
var ErrUnfit = errors.New("a column that cannot be compared")

// Matching is Matcher of a condition "COLUMN=VALUE" on the columns of a type. owner names the type in errors.
func Matching(owner string, columns []*graph.Column, condition string) (match func(row int) bool, err error) {
	name, value, _ := strings.Cut(condition, "=")
	c := graph.FindColumn(columns, name)
	if c == nil {
		var have []string
		for _, c := range columns {
			if !strings.HasPrefix(c.Name, "#") {
				have = append(have, c.Name)
			}
		}
		return nil, fmt.Errorf("found column %q, expected a column of %s: %s; name one of these, or import the column", name, owner, strings.Join(have, ", "))
	}
	if match, err = Matcher(c, value); err != nil {
		return nil, fmt.Errorf("column %q of %s: %w", name, owner, err)
	}
	return match, nil
}

// Matcher compares a row of a column with a value. Columns with several values per row, and values that the column cannot have, are errors.
func Matcher(c *graph.Column, value string) (func(row int) bool, error) {
	if c.Ragged() || c.RowValues() != 1 {
		return nil, tagged.Errorf(ErrUnfit, "found shape %v, expected one value per row", c.Shape)
	}
	if c.Categories != nil {
		return categoryMatcher(c, value)
	}
	if t, ok := isotime.Parse([]byte(value)); ok && c.Unit != "" {
		want, exact, fits := t.In(c.Unit.PerSecond())
		if !exact || !fits {
			return nil, fmt.Errorf("found the time %q, expected one in whole %s, as the times of the column; leave out the further digits", value, c.Unit)
		}
		times := graph.View[int64](c.Values)
		return func(i int) bool { return times[i] == want }, nil
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
		return nil, tagged.Errorf(ErrUnfit, "found dtype %s, expected bool, an integer, float32, float64 or string", c.DType)
	}
	return func(i int) bool { return bytes.Equal(c.Row(i), want) }, nil
}

// categoryMatcher compares a row of a column of categories with a text; the empty text stands for missing ones.
func categoryMatcher(c *graph.Column, value string) (func(row int) bool, error) {
	if err := c.Categories.StringOffsets.CheckOffsets(len(c.Categories.Values)); err != nil {
		return nil, err
	}
	want := int32(-1)
	var some []string
	for i := range c.Categories.Rows {
		text := string(c.Categories.Text(i))
		if text == value {
			want = int32(i)
			break
		}
		if len(some) < 8 {
			some = append(some, text)
		}
	}
	if want < 0 && value != "" {
		if c.Categories.Rows > len(some) {
			some = append(some, "...")
		}
		return nil, fmt.Errorf("found the category %q, expected one of %s; check upper and lower case", value, strings.Join(some, ", "))
	}
	codes := graph.View[int32](c.Values)
	return func(i int) bool { return codes[i] == want }, nil
}
