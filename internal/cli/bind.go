package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// Bind adds a flag for each row of a table of options. The flag sets the field of the row in the first of the structs, given by pointers, that
// has it; its default is what the field holds. The function that Bind returns is called once the flags are parsed: it refuses values that
// mean the default, and sets the fields that are maps.
func Bind(fs *pflag.FlagSet, table []options.Option, structs ...any) (finish func() error) {
	var last []func() error
	for _, o := range table {
		name := o.FlagName()
		at := slices.IndexFunc(structs, func(s any) bool { return reflect.ValueOf(s).Elem().FieldByName(o.Field).IsValid() })
		if at < 0 {
			panic("no struct of flags has the field " + o.Field)
		}
		field := reflect.ValueOf(structs[at]).Elem().FieldByName(o.Field)
		if set := addFlag(fs, name, &o, field); set != nil {
			last = append(last, set)
		}
		f := fs.Lookup(name)
		if o.Default != "" {
			f.DefValue = o.Default
		}
		Group(fs, o.Group, name)
		if o.Common {
			annotate(fs, commonNote, []string{"true"}, name)
		}
		switch {
		case o.Kind == options.Folder:
			Folders(fs, name)
		case o.Kind != "":
			annotate(fs, kindNote, []string{string(o.Kind)}, name)
			fallthrough
		case o.Value != "":
			Named(fs, o.Value, name)
		}
		if len(o.Choices) > 0 {
			Choices(fs, name, o.Choices...)
		}
	}
	return func() error {
		for _, o := range table {
			if o.Positive {
				if err := positive(fs.Lookup(o.FlagName())); err != nil {
					return err
				}
			}
		}
		for _, set := range last {
			if err := set(); err != nil {
				return err
			}
		}
		return nil
	}
}

// addFlag adds a flag for a field, by its type. It returns a function that sets the field after the flags are parsed, or nil.
func addFlag(fs *pflag.FlagSet, name string, o *options.Option, field reflect.Value) func() error {
	switch p := field.Addr().Interface().(type) {
	case pflag.Value:
		fs.VarP(p, name, o.Letter, o.Help)
	case *bool:
		fs.BoolVarP(p, name, o.Letter, *p, o.Help)
	case *int:
		fs.IntVarP(p, name, o.Letter, *p, o.Help)
	case *int64:
		fs.VarP((*Bytes)(p), name, o.Letter, o.Help)
	case *uint64:
		fs.Uint64VarP(p, name, o.Letter, *p, o.Help)
	case *float64:
		fs.Float64VarP(p, name, o.Letter, *p, o.Help)
	case *time.Duration:
		fs.DurationVarP(p, name, o.Letter, *p, o.Help)
	case *[]float64:
		fs.Float64SliceVarP(p, name, o.Letter, *p, o.Help)
	case *[]string:
		switch o.Form {
		case options.Repeated:
			fs.StringArrayVarP(p, name, o.Letter, *p, o.Help)
		case options.Slice:
			fs.StringSliceVarP(p, name, o.Letter, *p, o.Help)
		default:
			fs.VarP(commas(p, o.Form == options.Columns), name, o.Letter, o.Help)
		}
	case *[]option.Split:
		fs.VarP(splits(p), name, o.Letter, o.Help)
	case *map[string]string:
		text := fs.StringP(name, o.Letter, "", o.Help)
		return func() (err error) {
			*p, err = parseAssignments(o.Field, *text)
			return err
		}
	case *map[string][]string:
		text := fs.StringP(name, o.Letter, "", o.Help)
		return func() error {
			all, err := parseAssignments(o.Field, *text)
			for key, list := range all {
				if *p == nil {
					*p = map[string][]string{}
				}
				(*p)[key] = strings.Split(list, ",")
			}
			return err
		}
	default: // a text
		text := field.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string) //nolint:forcetypeassert // Convert panics for other types
		if o.Form == options.Checked {
			fs.VarP(checked(text, o.Choices), name, o.Letter, o.Help)
			break
		}
		fs.StringVarP(text, name, o.Letter, *text, o.Help)
	}
	return nil
}

// positive refuses the value 0 for a flag, because the options treat 0 as not given.
func positive(f *pflag.Flag) error {
	switch {
	case !f.Changed || f.Value.String() != "0":
		return nil
	case f.Value.Type() == "float64":
		return Usagef("found --%s 0, expected a number above 0", f.Name)
	}
	return Usagef("found --%s 0, expected at least 1", f.Name)
}

// parseAssignments parses "TYPE=COLUMN;TYPE=COLUMN"; nil for "".
func parseAssignments(field, text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		i := strings.LastIndex(strings.TrimSuffix(part, "<="), "=")
		if i < 1 || i == len(part)-1 {
			return nil, Usagef("found %q in `%s`, expected TYPE=COLUMN, separated by semicolons", part, field)
		}
		name := strings.TrimSpace(part[:i])
		if _, twice := out[name]; twice {
			return nil, Usagef("found `%s` of %s twice, expected each type once", field, name)
		}
		out[name] = strings.TrimSpace(part[i+1:])
	}
	return out, nil
}

// value is a flag whose text is read and written by functions.
type value struct {
	set  func(text string) error
	text func() string
}

// Set reads a text.
func (v value) Set(text string) error { return v.set(text) }

// String returns the text, or "" for the default.
func (v value) String() string { return v.text() }

// Type returns the type, for the help.
func (v value) Type() string { return "string" }

// commas is a value that is a list with commas. Of columns, none is an empty list.
func commas(list *[]string, columns bool) value {
	return value{func(text string) error {
		switch {
		case text == "":
			*list = nil
		case text == "none" && columns:
			*list = []string{}
		default:
			*list = strings.Split(text, ",")
		}
		return nil
	}, func() string {
		if columns && *list != nil && len(*list) == 0 {
			return "none"
		}
		return strings.Join(*list, ",")
	}}
}

// checked is a value that is one of several texts.
func checked(to *string, takes []string) value {
	return value{func(text string) error {
		if !slices.Contains(takes, text) {
			return fmt.Errorf("found %q, expected one of %s", text, strings.Join(takes, ", "))
		}
		*to = text
		return nil
	}, func() string { return *to }}
}

// splits is a value that adds a split each time it is given.
func splits(list *[]option.Split) value {
	return value{func(text string) error {
		split, err := option.ParseSplit(text)
		*list = append(*list, split)
		return err
	}, func() string { return "" }}
}
