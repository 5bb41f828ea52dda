package ingest

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/suggest"
)

// Missing says what an empty cell means: Value is "error", "column", or the value of the cell. What is a dtype, a kind
// of dtypes, or the name of a column; empty: all dtypes.
type Missing struct{ What, Value string }

// The values of Missing that are none of a cell: an empty cell is an error; or it is zero, and NaN for floats, and a
// column of bools, whose name ends in features.MarkSuffix, says which cells were empty.
const (
	missingError  = "error"
	missingColumn = "column"
)

// missingKinds are the kinds of dtypes.
var missingKinds = []string{"float", "int", "bool", "string", "datetime", "category"}

// ParseMissing reads "WHAT=VALUE", "VALUE", or several of them with commas between.
func ParseMissing(s string) ([]Missing, error) {
	var all []Missing
	for part := range strings.SplitSeq(s, ",") {
		what, value, ok := strings.Cut(part, "=")
		if !ok {
			what, value = "", part
		}
		m := Missing{strings.TrimSpace(what), strings.TrimSpace(value)}
		if ok && m.What == "" || m.Value == "" {
			return nil, usagef("`Missing`: found %q, expected VALUE, or WHAT=VALUE, where WHAT is a dtype, one of %s, or a column", part, strings.Join(missingKinds, ", "))
		}
		all = append(all, m)
	}
	return all, nil
}

// gaps decides what the empty cells of columns mean. The most specific rule holds: first a rule for the column, then for its
// dtype, for its kind, and for all dtypes. Of equally specific rules, one of the options goes first, and then the last one.
type gaps struct {
	given []Missing // of the options
	file  []Missing // of a graph.yaml
	// named are the columns that rules of the options name.
	named map[string]bool
	names []string // of the columns so far
	// prepared are features that fill empty cells, where no rule says what they mean.
	prepared *features.Plan
}

func newGaps(o Options) *gaps {
	g := &gaps{given: o.Missing, named: map[string]bool{}, prepared: o.Features}
	for _, m := range o.Missing {
		if m.What != "" && !isDType(m.What) {
			g.named[m.What] = false
		}
	}
	return g
}

// isDType says whether a word is a kind of dtypes or a dtype.
func isDType(what string) bool {
	_, err := graph.ParseDType(what)
	return err == nil || slices.Contains(missingKinds, what)
}

// dtypeOf returns the name of the dtype of a column, and its kind.
func dtypeOf(c *table.Column) (dtype, kind string) {
	dtype = c.DType.String()
	switch {
	case c.Unit != "":
		return "datetime", "datetime"
	case c.Categories != nil:
		return "category", "category"
	case c.DType.IsFloat():
		return dtype, "float"
	case c.DType.IsInt():
		return dtype, "int"
	}
	return dtype, dtype
}

// rule returns what an empty cell of a column means. own is what the file says of the column itself; empty: nothing.
// all says that the rule is one for all dtypes, and column that it is one for the column.
func (g *gaps) rule(c *table.Column, own string) (value string, all, column bool) {
	dtype, kind := dtypeOf(c)
	last := func(rules []Missing, what string) string {
		for _, m := range slices.Backward(rules) {
			if m.What == what {
				return m.Value
			}
		}
		return ""
	}
	if _, named := g.named[c.Name]; named {
		g.named[c.Name] = true
		return last(g.given, c.Name), false, true
	}
	if own != "" {
		return own, false, true
	}
	for _, what := range []string{dtype, kind} {
		for _, rules := range [][]Missing{g.given, g.file} {
			if v := last(rules, what); v != "" {
				return v, false, false
			}
		}
	}
	return last(g.given, ""), true, false
}

// fill completes a column with what its empty cells mean, and returns it with the column that marks them, if that is
// wanted.
func (g *gaps) fill(c table.Column, own string) []table.Column {
	g.names = append(g.names, c.Name)
	value, all, column := g.rule(&c, own)
	ragged := slices.Contains(c.Shape, -1) // an empty cell has no values
	if value == "" || ragged {
		return []table.Column{c}
	}
	_, kind := dtypeOf(&c)
	text := kind == "string" && len(c.Shape) == 0
	special := text || kind == "datetime" || kind == "category" // an empty cell is a value of its own
	switch {
	case value == missingError:
		c.Given = special && !(all && text)
	case value == missingColumn && all && text:
	case value == missingColumn:
		if !special {
			c.Empty, c.Fill = table.EmptyFill, repeated(zeroOf(kind), &c)
		}
		of := c
		return []table.Column{c, {Name: c.Name + features.MarkSuffix, DType: graph.Bool, Shape: markShape(&c), From: c.From, Missing: &of}}
	case all && special:
	default:
		c.Empty, c.Fill, c.Given = table.EmptyFill, value, column || special
		if !special {
			c.Fill = repeated(value, &c)
		}
	}
	return []table.Column{c}
}

// keptMissing is what an empty cell means if it stays known which cells were empty; empty: they stay known anyway.
func keptMissing(c *table.Column) string {
	switch _, kind := dtypeOf(c); kind {
	case "float":
		return zeroOf(kind)
	case "int", "bool":
		return missingColumn
	}
	return ""
}

// zeroOf is the value in cells that were empty, by kind.
func zeroOf(kind string) string {
	switch kind {
	case "float":
		return "nan"
	case "string":
		return ""
	}
	return "0"
}

// repeated is a value for each value of a cell.
func repeated(value string, c *table.Column) string {
	n := 1
	for _, d := range c.Shape {
		n *= max(d, 0)
	}
	if n <= 1 || c.From != nil || strings.ContainsAny(value, " ,;[") || value == "" {
		return value
	}
	return strings.TrimSpace(strings.Repeat(value+" ", n))
}

// markShape is the shape of the column that marks the empty cells of a column. A vector of several cells has a mark for each
// cell.
func markShape(c *table.Column) []int {
	if c.From != nil {
		return c.Shape
	}
	return nil
}

// check refuses rules of the options for columns that do not exist.
func (g *gaps) check() error {
	for _, m := range g.given {
		if used, named := g.named[m.What]; named && !used {
			words := slices.Concat(missingKinds, g.names)
			return usagef("`Missing`: found %q, expected a dtype, one of %s, or a column that is imported; correct the name%s", m.What, strings.Join(missingKinds, ", "), suggest.Hint(m.What, words))
		}
	}
	return nil
}
