package report

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

// Value is the contents of a cell: a count, a size, a time, a number, a share or text. Count, Bytes, Number, Share and
// Text make values. The zero Value is an empty cell.
type Value struct {
	// At most one of these is set.
	Count   *int64   `json:"count,omitempty"`
	Bytes   *int64   `json:"bytes,omitempty"`
	Seconds *float64 `json:"seconds,omitempty"`
	Number  *float64 `json:"number,omitempty"`
	Share   *float64 `json:"share,omitempty"`
	Text    *string  `json:"text,omitempty"`
	// Unit is for Count and Number: "edges", "edges/s", or empty.
	Unit string `json:"unit,omitempty"`
	// Exact writes Count with all its digits, for numbers that people copy.
	Exact bool `json:"exact,omitempty"`
}

// Count returns a count of things of a unit, which may be empty: Count(12, "edges").
func Count[T int | int32 | int64 | uint32 | uint64](n T, unit string) Value {
	c := int64(n)
	if c < 0 && n > 0 {
		c = math.MaxInt64
	}
	return Value{Count: &c, Unit: unit}
}

// Exact returns a count of which all digits are shown, such as a limit that people type.
func Exact(n int64) Value { return Value{Count: &n, Exact: true} }

// Seconds returns a time.
func Seconds(s float64) Value { return Value{Seconds: &s} }

// Bytes returns a size in bytes.
func Bytes(n int64) Value { return Value{Bytes: &n} }

// Number returns a finite number with a unit, which may be empty.
func Number(f float64, unit string) Value { return Value{Number: &f, Unit: unit} }

// Share returns a part of one, which is shown as a percentage.
func Share(f float64) Value { return Value{Share: &f} }

// Text returns words.
func Text(s string) Value { return Value{Text: &s} }

// String returns the value with its unit for people: "67.1M edges".
func (v Value) String() string {
	s, unit := v.short()
	if unit != "" {
		s += " " + unit
	}
	return s
}

// short returns the two parts of String.
func (v Value) short() (s, unit string) {
	switch {
	case v.Count != nil && v.Exact:
		return human.Exact(*v.Count), v.unit()
	case v.Count != nil:
		return human.Count(*v.Count), v.unit()
	case v.Bytes != nil:
		return human.Bytes(*v.Bytes), ""
	case v.Seconds != nil:
		return human.Duration(seconds(*v.Seconds)), ""
	case v.Number != nil:
		return human.Number(*v.Number), human.Printable(v.Unit)
	case v.Share != nil:
		return human.Percent(*v.Share), ""
	case v.Text != nil:
		return human.Printable(*v.Text), ""
	}
	return "", ""
}

// unit is the unit of a count as one writes it after the number: "edges", or "edge" for one.
func (v Value) unit() string { return human.Printable(human.Things(*v.Count, v.Unit)) }

// exact returns the value with all its digits.
func (v Value) exact() string {
	switch {
	case v.Count != nil:
		return join(human.Exact(*v.Count), v.unit())
	case v.Bytes != nil:
		return human.Exact(*v.Bytes) + " bytes"
	case v.Seconds != nil:
		return fmt.Sprint(*v.Seconds) + " s"
	case v.Number != nil:
		return join(fmt.Sprint(*v.Number), v.Unit)
	case v.Share != nil:
		return fmt.Sprint(*v.Share)
	}
	return ""
}

func join(s, unit string) string {
	if unit == "" {
		return s
	}
	return s + " " + human.Printable(unit)
}

// numeric says that the value is aligned to the right of its column.
func (v Value) numeric() bool { return v.Text == nil && v != Value{} }

// check refuses values that JSON cannot hold or would read back as other values.
func (v Value) check() error {
	set := 0
	for _, f := range []bool{v.Count != nil, v.Bytes != nil, v.Seconds != nil, v.Number != nil, v.Share != nil, v.Text != nil} {
		if f {
			set++
		}
	}
	if set > 1 || v.Unit != "" && v.Count == nil && v.Number == nil || v.Exact && v.Count == nil {
		return errors.New("found several kinds in one value, a unit without a count or number, or exact without a count; expected one of count, bytes, seconds, number, share, text")
	}
	for _, f := range []*float64{v.Seconds, v.Number, v.Share} {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			return fmt.Errorf("found the number %v, expected a finite one", *f)
		}
	}
	return nil
}

// seconds returns s seconds as a duration, or the largest or smallest one where s is beyond it.
func seconds(s float64) time.Duration {
	switch ns := s * 1e9; {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= -math.MaxInt64:
		return -math.MaxInt64
	default:
		return time.Duration(ns)
	}
}
