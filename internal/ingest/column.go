package ingest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// parseType parses a dtype with a shape, in which an omitted dimension is variable: "int64", "float32[128]",
// "string[]", "float32[,3]" (a variable number of rows of 3), "int32[,]" (lists of lists), "datetime", "datetime[ms]",
// "category". The unit of "datetime" is autoUnit.
func parseType(s string) (f table.Field, err error) {
	name, dims, shaped := strings.Cut(s, "[")
	switch name {
	case "datetime":
		f.DType, f.Unit = graph.Int64, autoUnit
		word, rest, _ := strings.Cut(dims, "]")
		if unit, bad := graph.ParseUnit(word); bad == nil && shaped {
			f.Unit = unit
			dims, shaped = strings.CutPrefix(rest, "[")
			if !shaped && rest != "" {
				return f, fmt.Errorf("found type %q, expected datetime[%s], or a shape in brackets after it", s, unit)
			}
		} else if shaped && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") {
			return f, fmt.Errorf("found type %q: %w", s, bad)
		}
	case "category":
		f.DType, f.Category = graph.String, true
	default:
		if f.DType, err = graph.ParseDType(name); err != nil {
			return f, fmt.Errorf("%w, datetime or category", err)
		}
	}
	if !shaped {
		return f, nil
	}
	inner, ok := strings.CutSuffix(dims, "]")
	if !ok {
		return f, fmt.Errorf("found type %q, expected a closing ']' at its end; add it", s)
	}
	for part := range strings.SplitSeq(inner, ",") {
		n := -1
		if part = strings.TrimSpace(part); part != "" {
			if n, err = strconv.Atoi(part); err != nil || n < 1 {
				return f, fmt.Errorf("found type %q, expected positive dimensions; leave a variable one out", s)
			}
		}
		f.Shape = append(f.Shape, n)
	}
	return f, nil
}

// parseColumns parses "src,dst,weight:float32,feat:float32[16]". A column without a type has the dtype Invalid.
func parseColumns(s string) ([]table.Field, error) {
	var cols []table.Field
	depth, start := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == ',' && depth == 0:
			name, typ, typed := strings.Cut(s[start:i], ":")
			name = strings.TrimSpace(name)
			var c table.Field
			if typed {
				var err error
				if c, err = parseType(strings.TrimSpace(typ)); err != nil {
					return nil, usagef("`Columns`: column %q: %w", name, err)
				}
			}
			c.Name = name
			if c.Name == "" || slices.ContainsFunc(cols, func(x table.Field) bool { return x.Name == c.Name }) {
				return nil, usagef("found `Columns` %q, expected different names that are not empty", s)
			}
			cols = append(cols, c)
			start = i + 1
		case s[i] == '[':
			depth++
		case s[i] == ']':
			depth--
		}
	}
	return cols, nil
}

// looks is what is known of a field before all rows are read.
type looks struct {
	table.Field // DType is the one to read the field as by default
	unsigned    bool
	integers    bool // as unsigned, but empty cells do not count, and whole numbers do
	whole       bool // integers, of which some have a point, as wholeText does
	wholeText   string
	rows        bool // the values are the row numbers
	mixed       bool // some values are unsigned integers; odd, in row oddRow, is the first that is not
	odd         string
	oddRow      uint64
	text        bool // the values are no numbers
	guess       *table.Guess
}

// describe returns the looks of the fields of a table.
func describe(t table.Table) ([]looks, error) {
	fields := t.Fields()
	out := make([]looks, len(fields))
	var guesses []table.Guess
	if g, ok := t.(interface{ Guess() ([]table.Guess, error) }); ok {
		var err error
		if guesses, err = g.Guess(); err != nil {
			return nil, err
		}
	}
	for i, f := range fields {
		out[i].Field = f
		if f.DType != graph.Invalid {
			out[i].text = f.DType == graph.String
			out[i].unsigned = (f.DType.IsInt() || f.DType.IsFloat()) && len(f.Shape) == 0
			out[i].integers = out[i].unsigned
			continue
		}
		g := guesses[i]
		out[i].Inferred = true
		out[i].guess = &g
		out[i].text = g.Seen && !g.Integer && !g.Unsigned && !g.Number
		out[i].unsigned, out[i].rows = (g.Unsigned || g.Whole) && !g.Empty, g.Rows && g.Seen
		out[i].integers, out[i].whole, out[i].wholeText = g.Seen && (g.Unsigned || g.Whole), g.Whole, g.WholeText
		out[i].mixed, out[i].odd, out[i].oddRow = g.Mixed, g.Odd, g.OddRow
		switch {
		case !g.Seen:
			out[i].DType = graph.String
			out[i].unsigned = !g.Words
		case g.Integer:
			out[i].DType = graph.Int64
		case g.Unsigned:
			out[i].DType = graph.Uint64
		case g.Number && g.Wide:
			out[i].DType = graph.Float64
		case g.Number:
			out[i].DType = graph.Float32
		case g.Bool:
			out[i].DType = graph.Bool
		case g.Time:
			out[i].DType = graph.Int64
			out[i].Unit, _ = g.Unit()
		default:
			out[i].DType = graph.String
		}
	}
	return out, nil
}

// peekIDs examines the first rows of a field of ids that declares its dtype.
func (f *looks) peekIDs(ctx context.Context, t table.Table) error {
	if f == nil || t == nil || f.guess != nil || !f.unsigned {
		return nil
	}
	g, err := table.PeekIDs(ctx, t, f.Field)
	if g != nil {
		f.unsigned, f.integers, f.mixed, f.odd, f.oddRow = g.Unsigned, g.Unsigned, g.Mixed, g.Odd, g.OddRow
	}
	return err
}

// field returns the looks of a field, or nil if there is no field of that name.
func field(fields []looks, name string) *looks {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

func fieldNames(fields []looks) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// blanksNote is a warning of texts of ids in the files of t whose blanks do not count; empty: there are none.
func blanksNote(t table.Table, f *looks) string {
	if f == nil || f.guess == nil || f.guess.Blank == "" || f.guess.Unsigned {
		return ""
	}
	return fmt.Sprintf("%s: column %q: blanks around ids without quotes do not count, as in %q; put the ids in quotes to keep them", t.Files()[0], f.Name, f.guess.Blank)
}

// wholeNumbers returns the columns of ids that hold whole numbers with a point, such as 2.0, each with the first of them, for a warning.
// It returns nil if a column has ids that are no integers, because such texts are kept.
func wholeNumbers(columns ...*looks) (whole []string) {
	for _, f := range columns {
		if !f.integers {
			return nil
		}
	}
	for _, f := range columns {
		if f.whole {
			whole = append(whole, fmt.Sprintf("%q (%s)", f.Name, f.wholeText))
		}
	}
	return whole
}

// keyColumn returns the column to ask for to read an end of edges, or the ids of nodes.
func keyColumn(name string, integer bool) table.Column {
	if integer {
		return table.Column{Name: name, DType: graph.Uint64}
	}
	return table.Column{Name: name, DType: graph.String, ID: true}
}
