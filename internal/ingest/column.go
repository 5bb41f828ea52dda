package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// parseType parses a dtype with a shape, in which an omitted dimension is variable: "int64", "float32[128]",
// "string[]", "float32[,3]" (a variable number of rows of 3), "int32[,]" (lists of lists).
func parseType(s string) (graph.DType, []int, error) {
	name, dims, shaped := strings.Cut(s, "[")
	d, err := graph.ParseDType(name)
	if err != nil || !shaped {
		return d, nil, err
	}
	inner, ok := strings.CutSuffix(dims, "]")
	if !ok {
		return d, nil, fmt.Errorf("found type %q, expected a closing ']' at its end", s)
	}
	var shape []int
	for part := range strings.SplitSeq(inner, ",") {
		n := -1
		if part = strings.TrimSpace(part); part != "" {
			if n, err = strconv.Atoi(part); err != nil || n < 1 {
				return d, nil, fmt.Errorf("found type %q, expected positive dimensions; leave a variable one out", s)
			}
		}
		shape = append(shape, n)
	}
	return d, shape, nil
}

// parseColumns parses "src,dst,weight:float32,feat:float32[16]". A column without a type has the dtype Invalid.
func parseColumns(s string) ([]table.Column, error) {
	var cols []table.Column
	depth, start := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == ',' && depth == 0:
			name, typ, typed := strings.Cut(s[start:i], ":")
			c := table.Column{Name: strings.TrimSpace(name)}
			if typed {
				var err error
				if c.DType, c.Shape, err = parseType(strings.TrimSpace(typ)); err != nil {
					return nil, usagef("`Columns`: column %q: %w", c.Name, err)
				}
			}
			if c.Name == "" || slices.ContainsFunc(cols, func(x table.Column) bool { return x.Name == c.Name }) {
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
	rows        bool // the values are the row numbers
	mixed       bool // some values are unsigned integers; odd, in row oddRow, is the first that is not
	odd         string
	oddRow      uint64
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
			out[i].unsigned = f.DType.IsInt() && len(f.Shape) == 0
			continue
		}
		g := guesses[i]
		out[i].unsigned, out[i].rows = g.Unsigned && !g.Empty, g.Rows && g.Seen
		out[i].mixed, out[i].odd, out[i].oddRow = g.Mixed, g.Odd, g.OddRow
		switch {
		case !g.Seen:
			out[i].DType = graph.String
			out[i].unsigned = true
		case g.Integer:
			out[i].DType = graph.Int64
		case g.Unsigned:
			out[i].DType = graph.Uint64
		case g.Number:
			out[i].DType = graph.Float32
		default:
			out[i].DType = graph.String
		}
	}
	return out, nil
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

// The usual names of the columns that contain ids, in order of preference.
var (
	idNames  = []string{"#id", "id"}
	srcNames = []string{"#source", "src", "source", "from"}
	dstNames = []string{"#target", "dst", "target", "destination", "to"}
)

// pick returns the given field or, if none is given, the first of the usual names that the table has.
func pick(t table.Table, fields []looks, given string, usual []string) (*looks, error) {
	if given != "" {
		usual = []string{given}
	}
	for _, n := range usual {
		if f := field(fields, n); f != nil {
			return f, nil
		}
	}
	expected := fmt.Sprintf("%q among them", usual[0])
	if len(usual) > 1 {
		expected = "one of " + strings.Join(usual, ", ") + " among them"
	}
	return nil, sourcef("%s: found the columns %s, expected %s", t.Files()[0], strings.Join(fieldNames(fields), ", "), expected)
}

// end returns the column to ask for to read an end of edges, or the ids of nodes.
func end(name string, integer bool) table.Column {
	if integer {
		return table.Column{Name: name, DType: graph.Uint64}
	}
	return table.Column{Name: name, DType: graph.String, ID: true}
}

// featureOf returns the column to ask for to read a feature, with the options' policy for empty cells.
func featureOf(f table.Field, o Options) table.Column {
	return table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Empty: o.Empty, Fill: o.Fill}
}
