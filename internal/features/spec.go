package features

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// ErrSpec is the error of a feature that cannot be made of what it names.
var ErrSpec = errors.New("feature")

// Spec is a feature: a column that is made of others, of one node or edge type. Its parts stand side by side, in their order.
type Spec struct {
	Name  string      `json:"name"`
	DType graph.DType `json:"dtype"` // Float16, BFloat16 or Float32; of codes and buckets alone also Int32 and Int64
	Norm  string      `json:"norm,omitempty"`
	Parts []Part      `json:"parts"`
}

// Part is what one column gives to a feature. Of Scale, Encode and none exactly one says how.
type Part struct {
	From string `json:"from"` // a column of the type

	// Of numbers, in this order.

	Clip     *[2]float64 `json:"clip,omitempty"`
	Impute   string      `json:"impute,omitempty"`   // one of Imputes
	Constant float64     `json:"constant,omitempty"` // of the impute constant
	Flag     bool        `json:"flag,omitempty"`     // adds a position that is 1 where a number was missing
	Scale    Scale       `json:"scale,omitempty"`

	Encode string `json:"encode,omitempty"` // one of Encodes

	Edges     []float64 `json:"edges,omitempty"` // of buckets
	Buckets   int       `json:"buckets,omitempty"`
	By        string    `json:"by,omitempty"` // of buckets: width, or rows
	Least     int64     `json:"least,omitempty"`
	Most      int       `json:"most,omitempty"`
	Unknown   string    `json:"unknown,omitempty"` // other, or error
	Order     []string  `json:"order,omitempty"`   // of ordinal
	Separator string    `json:"separator,omitempty"`
	Hash      Hash      `json:"hash,omitzero"`
	Parts     []string  `json:"parts,omitempty"` // of calendar
	Zone      string    `json:"zone,omitempty"`
	At        string    `json:"at,omitempty"` // of age
	Unit      string    `json:"unit,omitempty"`
}

// Imputes are what a missing number can become.
var Imputes = []string{"mean", "median", "mode", "constant"}

// Encodes are how values become numbers. Those of texts take a column of texts or categories, and those of times a column of times.
var Encodes = []string{"buckets", "code", "one-hot", "multi-hot", "frequency", "ordinal", "hash", "length", "calendar", "age"}

// Check refuses a part that says two things at once, or that its column does not have.
func (p *Part) Check(c *graph.Column) error {
	numbers := c.Categories == nil && c.Unit == "" && c.DType != graph.String
	texts := c.Categories != nil || c.DType == graph.String
	only := func(what string, is bool, with ...string) error {
		if is && !slices.Contains(with, p.Encode) {
			return fmt.Errorf("%w: found %s with encode %q, expected it with %s", ErrSpec, what, p.Encode, strings.Join(with, " or "))
		}
		return nil
	}
	switch {
	case p.Scale != "" && p.Encode != "":
		return fmt.Errorf("%w: found scale %s and encode %s, expected one of them", ErrSpec, p.Scale, p.Encode)
	case p.Encode != "" && !slices.Contains(Encodes, p.Encode):
		return fmt.Errorf("%w: found encode %q, expected one of %s", ErrSpec, p.Encode, strings.Join(Encodes, ", "))
	case p.Impute != "" && !slices.Contains(Imputes, p.Impute):
		return fmt.Errorf("%w: found impute %q, expected one of %s", ErrSpec, p.Impute, strings.Join(Imputes, ", "))
	case !numbers && (p.Scale != "" || p.Impute != "" || p.Clip != nil):
		return fmt.Errorf("%w: found a column of %s, expected numbers for scale, impute and clip; use encode", ErrSpec, meaning(c))
	case !numbers && p.Encode == "":
		return fmt.Errorf("%w: found a column of %s without encode, expected one of %s", ErrSpec, meaning(c), strings.Join(Encodes, ", "))
	}
	switch p.Encode {
	case "calendar", "age":
		if c.Unit == "" {
			return fmt.Errorf("%w: found a column of %s, expected times for encode %s", ErrSpec, meaning(c), p.Encode)
		}
	case "buckets":
		if !numbers {
			return fmt.Errorf("%w: found a column of %s, expected numbers for encode buckets", ErrSpec, meaning(c))
		}
	case "multi-hot", "hash", "length", "ordinal":
		if !texts {
			return fmt.Errorf("%w: found a column of %s, expected texts for encode %s", ErrSpec, meaning(c), p.Encode)
		}
	}
	return errors.Join(only("edges", p.Edges != nil, "buckets"), only("buckets", p.Buckets != 0, "buckets"), only("by", p.By != "", "buckets"),
		only("least", p.Least != 0, "code", "one-hot", "multi-hot"), only("most", p.Most != 0, "code", "one-hot", "multi-hot"),
		only("order", p.Order != nil, "ordinal"), only("separator", p.Separator != "", "multi-hot"), only("parts", p.Parts != nil, "calendar"),
		only("zone", p.Zone != "", "calendar"), only("at", p.At != "", "age"), only("unit", p.Unit != "", "age"))
}

// meaning says what the values of a column are.
func meaning(c *graph.Column) string {
	switch {
	case c.Categories != nil:
		return "categories"
	case c.Unit != "":
		return "times"
	case c.DType == graph.String:
		return "texts"
	}
	return c.DType.String()
}
