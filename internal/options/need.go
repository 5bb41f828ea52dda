package options

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/option"
)

// Need is a condition on other options. An option that has it has no meaning where it is not met.
type Need struct {
	Field  string   // is given,
	Values []string // with one of these values, where there are some,
	Except []string // and with none of these
	Or     []string // or one of these fields is given
	With   string   // the need holds only where this field is given
	// Same are values of options, by field, that say what holds without the need, and do not need it.
	Same map[string]string
	// Text is the error: a format of the option's field and, where it has two verbs, the value of Field. "" is: found the option without Field,
	// expected them together.
	Text string
}

// Check refuses the first option that is given and that has a need which is not met. o is a pointer to a struct of options; fields that it
// does not have are not given, and an empty list that is not nil is.
func Check(o any, needs ...*Need) error {
	v := reflect.ValueOf(o).Elem()
	given := func(field string) bool {
		f := v.FieldByName(field)
		return f.IsValid() && !f.IsZero()
	}
	for _, n := range needs {
		if n.met(v, given) {
			continue
		}
		for _, table := range tables {
			for _, row := range table {
				if slices.Contains(row.Needs, n) && (given(row.Field) || given(row.Also)) && (n.Same[row.Field] == "" || n.Same[row.Field] != v.FieldByName(row.Field).String()) {
					return tagged.Errorf(option.ErrUsage, "%s", n.refusal(v, row.Field))
				}
			}
		}
	}
	return nil
}

// met reports whether options satisfy a need.
func (n *Need) met(v reflect.Value, given func(field string) bool) bool {
	switch {
	case n.With != "" && !given(n.With) || slices.ContainsFunc(n.Or, given):
		return true
	case n.Values != nil:
		return slices.Contains(n.Values, v.FieldByName(n.Field).String())
	case n.Except != nil:
		return !slices.Contains(n.Except, v.FieldByName(n.Field).String())
	}
	return given(n.Field)
}

// refusal is the error of an option that is given without what it needs.
func (n *Need) refusal(v reflect.Value, field string) string {
	switch {
	case n.Text == "":
		what := fmt.Sprintf("`%s` %s", n.Field, strings.Join(n.Values, " or "))
		return fmt.Sprintf("found `%s` without %s, expected them together", field, strings.TrimSpace(what))
	case strings.Count(n.Text, "%s") > 1:
		return fmt.Sprintf(n.Text, field, v.FieldByName(n.Field).String())
	}
	return fmt.Sprintf(n.Text, field)
}

// First is the first of some fields that is given and not an empty list, "" for none. o is as for Check.
func First(o any, fields ...string) string {
	v := reflect.ValueOf(o).Elem()
	for _, field := range fields {
		if f := v.FieldByName(field); f.IsValid() && !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
			return field
		}
	}
	return ""
}
