package transform

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/isotime"
)

// key is a value of a column as a number. Keys have the order of their values.
type key uint64

// last is above the keys of all values, and missing stands for no value.
const (
	last    key = math.MaxUint64 - 1
	missing key = math.MaxUint64
)

// ordered returns a function that gives the key of a row.
func ordered(c *graph.Column) (func(row int) key, error) {
	if c.Categories != nil || !(c.DType.IsInt() || c.DType == graph.Float32 || c.DType == graph.Float64) {
		return nil, fmt.Errorf("found dtype %s, expected an integer, float32, float64 or a time; give the values of each part", kind(c))
	}
	size, le := c.DType.Size(), binary.LittleEndian
	return func(row int) key {
		b := c.Values[row*size:]
		switch c.DType {
		case graph.Float32:
			return floatKey(float64(math.Float32frombits(le.Uint32(b))))
		case graph.Float64:
			return floatKey(math.Float64frombits(le.Uint64(b)))
		case graph.Uint64:
			return min(key(le.Uint64(b)), last-1)
		}
		v := integer(b, c.DType).lo
		if c.Unit != "" && int64(v) == graph.NoTime {
			return missing
		}
		return intKey(int64(v))
	}, nil
}

func kind(c *graph.Column) string {
	if c.Categories != nil {
		return "category"
	}
	return c.DType.String()
}

// intKey is the key of a signed integer. The two largest integers have one key.
func intKey(v int64) key { return min(key(uint64(v)^1<<63), last-1) }

// floatKey is the key of a float; NaN is missing. -0 equals 0.
func floatKey(v float64) key {
	if math.IsNaN(v) {
		return missing
	}
	b := math.Float64bits(v + 0)
	if b>>63 == 1 {
		return key(^b)
	}
	return key(b | 1<<63)
}

// parse reads a value of a column.
func parse(c *graph.Column, text string) (key, error) {
	switch {
	case c.Unit != "":
		v, err := parseTime(text, c.Unit)
		return intKey(v), err
	case c.DType.IsFloat():
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) {
			return 0, fmt.Errorf("found %q, expected a number", text)
		}
		return floatKey(v), nil
	case c.DType == graph.Uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("found %q, expected a number from 0 to 18446744073709551615", text)
		}
		return min(key(v), last-1), nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("found %q, expected an integer; correct the value", text)
	}
	return intKey(v), nil
}

// AppendText appends the text of a row of a column of one number, bool, text or category per row; nothing for others.
func AppendText(buf []byte, c *graph.Column, row int) []byte { return texts(c)(buf, row) }

// texts returns a function that appends the text of a row.
func texts(c *graph.Column) func(buf []byte, row int) []byte {
	if c.DType == graph.String {
		return func(buf []byte, row int) []byte { return append(buf, c.Text(row)...) }
	}
	if c.Categories != nil {
		return func(buf []byte, row int) []byte {
			if v := int32(binary.LittleEndian.Uint32(c.Values[4*row:])); v >= 0 {
				buf = append(buf, c.Categories.Text(int(v))...)
			}
			return buf
		}
	}
	size, le := c.DType.Size(), binary.LittleEndian
	return func(buf []byte, row int) []byte {
		b := c.Values[row*size:]
		switch c.DType {
		case graph.Bool:
			return strconv.AppendBool(buf, b[0] != 0)
		case graph.Float32:
			return strconv.AppendFloat(buf, float64(math.Float32frombits(le.Uint32(b))), 'g', -1, 32)
		case graph.Float64:
			return strconv.AppendFloat(buf, math.Float64frombits(le.Uint64(b)), 'g', -1, 64)
		case graph.Uint64:
			return strconv.AppendUint(buf, le.Uint64(b), 10)
		}
		if !c.DType.IsInt() {
			return buf
		}
		return strconv.AppendInt(buf, int64(integer(b, c.DType).lo), 10)
	}
}

// parseTime reads a date or a time in the unit of a column.
func parseTime(text string, u graph.Unit) (int64, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v, nil
	}
	if t, ok := isotime.Parse([]byte(text)); ok {
		if v, exact, fits := t.In(u.PerSecond()); exact && fits {
			return v, nil
		}
	}
	return 0, fmt.Errorf("found %q, expected a date such as 2024-01-31, a time, or a number of %s", text, u)
}
