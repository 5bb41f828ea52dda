package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
)

// kind says what the values of a column mean: numbers, times, categories, ...
type kind uint8

const (
	nothing kind = iota // all cells are empty
	integer
	float
	boolean
	moment
	category
	words  // texts of which most differ
	labels // texts that are lists of tags
	list
)

// meaning is how graph.yaml describes a column, and why.
type meaning struct {
	kind    kind
	dtype   string
	missing string // what an empty cell means; empty: graph.yaml need not say it
	why     string
}

// The most texts of a category.
const mostCategories = 1000

// unixLeast and unixLargest bound the seconds that a column named as a time counts: from 1990 to 2100.
const (
	unixLeast   = 631_152_000
	unixLargest = 4_102_444_800
)

// meaningOf describes a column by all its cells.
func meaningOf(c *column) meaning {
	n, numbers := &c.cells, c.cells.ints.n+c.cells.floats.n
	filled := c.filled()
	known := filled - n.words.n - c.goneMarks() // words for missing values are empty cells among numbers, bools and times
	switch r := readingOf(&c.Field); {
	case c.table.Data == nil:
		return meaning{kind: words, dtype: "string", why: "not read"}
	case r == unread, r == asList:
		return meaning{kind: list, dtype: listType(c), why: "lists of values"}
	case r == asTime:
		return meaning{kind: moment, dtype: "datetime", why: "times, as the file declares"}
	case known == 0 && (r == asText || filled == 0):
		return emptyMeaning(c)
	case n.bools.n == known:
		return meaning{boolean, "bool", c.gap("column"), "true or false"}
	case n.vectors.n == c.table.rows && !c.Words:
		if n.width > 0 {
			return meaning{kind: list, dtype: fmt.Sprintf("float32[%d]", n.width), why: "lists of as many numbers, such as " + n.vectors.text}
		}
		return meaning{kind: list, dtype: "float32[]", why: "lists of numbers, such as " + n.vectors.text}
	case n.times.n == known:
		return meaning{kind: moment, dtype: "datetime", why: "times in ISO 8601, such as " + n.times.text}
	case numbers == known && !c.Words && n.zeros.n == 0:
		return numberMeaning(c)
	}
	return textMeaning(c)
}

// gap is the rule for the empty cells of a column, as graph.yaml has it; "" for a column without empty cells.
func (c *column) gap(missing string) string {
	if c.cells.empty.n+c.cells.words.n+c.gone().n == 0 {
		return ""
	}
	return missing
}

// emptyMeaning describes a column without values.
func emptyMeaning(c *column) meaning {
	switch readingOf(&c.Field) {
	case asBool:
		return meaning{nothing, "bool", c.gap("column"), "no values"}
	case asInt64, asUint64:
		return meaning{nothing, c.DType.String(), c.gap("column"), "no values"}
	case asFloat:
		return meaning{nothing, c.DType.String(), c.gap("nan"), "no values"}
	}
	return meaning{kind: nothing, dtype: "string", why: "no values"}
}

// listType is the dtype of lists.
func listType(c *column) string {
	if c.cells.width > 0 {
		return fmt.Sprintf("%s[%d]", c.DType, c.cells.width)
	}
	dims := make([]string, len(c.Shape))
	for i, d := range c.Shape {
		if d > 0 {
			dims[i] = fmt.Sprint(d)
		}
	}
	dtype := c.DType
	if dtype == graph.Invalid {
		dtype = graph.Float32
	}
	return dtype.String() + "[" + strings.Join(dims, ",") + "]"
}

// numberMeaning describes a column of numbers.
func numberMeaning(c *column) meaning {
	n := &c.cells
	unit := graph.Unit("")
	if n.floats.n == 0 && n.big.n == 0 && isTimeName(c.Name) {
		unit = unixUnit(n)
	}
	switch {
	case unit != "":
		return meaning{kind: moment, dtype: fmt.Sprintf("datetime[%s]", unit), why: fmt.Sprintf("named as a time, and the integers count %s since 1970", unitWords[unit])}
	case c.DType.IsInt():
		return meaning{integer, c.DType.String(), c.gap("column"), integersWhy(n)}
	case n.floats.n == 0 && n.big.n > 0 && n.signed.n == 0:
		return meaning{integer, "uint64", c.gap("column"), integersWhy(n)}
	case n.floats.n == 0 && n.big.n == 0:
		return meaning{integer, "int64", c.gap("column"), integersWhy(n)}
	case readingOf(&c.Field) == asFloat:
		return meaning{float, c.DType.String(), c.gap("nan"), "numbers"}
	case n.wide:
		return meaning{float, "float64", c.gap("nan"), "numbers, some of 2^24 or more"}
	}
	return meaning{float, "float32", c.gap("nan"), "numbers"}
}

// integersWhy is the range of integers.
func integersWhy(n *cells) string {
	if n.big.n > 0 {
		return "integers up to 2^64"
	}
	return fmt.Sprintf("integers from %s to %s", human.Exact(n.least), human.Exact(n.largest))
}

var unitWords = map[graph.Unit]string{graph.Seconds: "seconds", graph.Milliseconds: "milliseconds", graph.Microseconds: "microseconds", graph.Nanoseconds: "nanoseconds"}

// isTimeName says whether a column is named as a time.
func isTimeName(name string) bool {
	return hasWord(name, "time", "timestamp", "date", "datetime", "ts", "at", "when") || strings.HasSuffix(strings.ToLower(name), "time") || strings.HasSuffix(strings.ToLower(name), "date")
}

// unixUnit is the unit in which all integers are times from 1990 to 2100; empty: there is none.
func unixUnit(n *cells) graph.Unit {
	for _, u := range []struct {
		unit  graph.Unit
		scale int64
	}{{graph.Seconds, 1}, {graph.Milliseconds, 1e3}, {graph.Microseconds, 1e6}, {graph.Nanoseconds, 1e9}} {
		if n.least >= unixLeast*u.scale && n.largest <= unixLargest*u.scale {
			return u.unit
		}
	}
	return ""
}

// textMeaning describes a column of texts.
func textMeaning(c *column) meaning {
	n, distinct := c.filled()-c.gone().n, c.distinct
	for _, text := range c.table.missing {
		if c.cells.gaps[text] != nil {
			distinct--
		}
	}
	if sep, _ := c.tagged(); sep != "" {
		return meaning{kind: labels, dtype: "string", why: c.tagsWhy()}
	}
	if c.hashed && distinct <= mostCategories && 2*distinct <= n && !c.nearly() {
		why := fmt.Sprintf("%s in %s", amount(distinct, "distinct text"), amount(c.table.rows, "row"))
		texts := slices.Sorted(maps.Keys(c.cells.few))
		if texts = slices.DeleteFunc(texts, func(s string) bool { return slices.Contains(c.table.missing, s) }); len(texts) > 0 {
			why += ": " + human.Cut(strings.Join(texts, ", "), 80)
		}
		return meaning{kind: category, dtype: "category", why: why}
	}
	if readingOf(&c.Field) != asText {
		return meaning{kind: words, dtype: c.DType.String(), why: "values"}
	}
	why := "texts"
	if c.hashed {
		why = fmt.Sprintf("%s in %s", amount(distinct, "distinct text"), amount(c.table.rows, "row"))
	}
	return meaning{kind: words, dtype: "string", why: why}
}

// nearly says whether most cells are numbers or dates that an import does not take as such: one day they are no texts.
func (c *column) nearly() bool {
	n := &c.cells
	return !c.Words && n.zeros.n == 0 && 2*max(n.ints.n+n.floats.n, n.times.n+n.dates.n, n.commas.n) >= c.filled()
}

// labelNames are names of columns that a model may be trained to predict.
var labelNames = []string{"label", "labels", "target", "y", "class", "outcome", "churn", "churned", "fraud", "is_fraud", "isfraud", "default", "clicked", "converted", "survived", "returned"}

// isLabel says whether a column is named as a label.
func isLabel(c *column) bool {
	return slices.Contains(labelNames, strings.ToLower(c.Name)) && readingOf(&c.Field) < asList
}

// splitParts are the texts of the parts of a split, in lower case.
var splitParts = map[string]string{"train": "train", "training": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid", "eval": "valid", "test": "test", "testing": "test", "holdout": "test"}

// splitOf returns the texts of a column that says which rows are for training, by part; nil: it does not.
func splitOf(c *column) map[string][]string {
	parts := map[string][]string{}
	for _, text := range slices.Sorted(maps.Keys(c.cells.few)) {
		part := splitParts[strings.ToLower(text)]
		if part == "" {
			return nil
		}
		parts[part] = append(parts[part], text)
	}
	if len(parts["train"]) == 0 || len(parts) < 2 {
		return nil
	}
	return parts
}
