package table

import (
	"bytes"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Guess describes what the cells of a field look like.
type Guess struct {
	// Unsigned: all are integers from 0 to 2^64-1, written without a sign or leading zeros, so that different texts
	// are different numbers.
	Unsigned bool
	Integer  bool // all are integers in the range of int64
	Number   bool // all are numbers
	// Wide: some number has more digits before its point than float32 holds: 2^24 or more.
	Wide bool
	Bool bool // all are true or false, in any case
	// Time: all are dates or times of ISO 8601. Digits is the largest number of digits of a fraction.
	Time   bool
	Digits int
	// Zeros is the first integer with leading zeros, if Integer is set; empty: there is none.
	Zeros string
	// Largest is the largest of the integers without their signs, if Integer is set.
	Largest uint64
	Rows    bool // each is the number of its row, from 0
	// Whole: all are such integers, or these with a point and zeros after them, as programs write integers of a column that has
	// empty cells; some have a point. WholeText is the first of these.
	Whole     bool
	WholeText string
	// Comma: all are numbers if a comma is their point, and some have one.
	Comma bool
	Empty bool // some are empty; the fields above ignore them
	// Blank is the first text without quotes that has blanks around it; empty: there is none.
	Blank string
	// Words: some are words for a missing value, such as NA, which the fields above ignore, except Unsigned and Rows: they are
	// texts as ids.
	Words bool
	Seen  bool // some are neither empty nor such words
	// Mixed: some are Unsigned and some are not. Odd is the first that is not, and OddRow is its row.
	Mixed  bool
	Odd    string
	OddRow uint64

	whole  bool // some cell is Unsigned
	parts  bool // some cell is neither Unsigned nor a whole number with a point
	commas bool // some cell is a number with a comma
	others bool // some cell is no number, even if a comma is its point
}

// Add notes a cell of a row.
func (g *Guess) Add(cell []byte, row uint64) {
	text := bytes.TrimSpace(cell)
	if len(text) == 0 {
		g.Empty, g.Rows = true, false
		return
	}
	word := scalar.IsMissing(text)
	g.Words, g.Seen = g.Words || word, g.Seen || !word
	if g.Unsigned || !g.Mixed {
		c := text[0]
		v, ok := scalar.ParseInt(text, graph.Uint64)
		ok = ok && len(text) == len(cell) && c != '+' && c != '-' && (c != '0' || len(text) == 1)
		g.Rows = g.Rows && ok && v == row
		if !ok && g.Unsigned {
			g.Odd, g.OddRow = string(cell[:min(len(cell), 40)]), row
		}
		g.whole = g.whole || ok
		g.Unsigned = g.Unsigned && ok
		g.Mixed = g.whole && !g.Unsigned
	}
	if word {
		return
	}
	if !g.parts {
		g.wholeNumber(cell)
	}
	if !g.others {
		comma, ok := decimalComma(text)
		g.commas, g.others = g.commas || comma, !ok
		g.Comma = g.commas && ok
	}
	if g.Integer {
		g.integer(text)
	}
	if g.Bool {
		_, ok := scalar.ParseBool(text)
		g.Bool = ok && len(text) > 1
	}
	if g.Time {
		g.time(text)
	}
	if g.Number {
		v, ok := scalar.ParseFloat(text, graph.Float64)
		g.Number = ok
		g.Wide = g.Wide || math.Abs(v) >= scalar.WideFloat && !math.IsInf(v, 0)
	}
}

// And is what holds for the cells of two fields. Odd, Rows and what only warnings say are those of g.
func (g Guess) And(o Guess) Guess {
	if !g.Seen || !o.Seen { // the words for missing values say nothing of the dtype
		if o.Seen {
			g, o = o, g
		}
		g.Empty, g.Words = g.Empty || o.Empty, g.Words || o.Words
		return g
	}
	g.Whole = g.Whole && (o.Whole || o.Unsigned) || o.Whole && g.Unsigned
	g.Unsigned, g.Integer, g.Number = g.Unsigned && o.Unsigned, g.Integer && o.Integer, g.Number && o.Number
	g.Bool, g.Time, g.Comma = g.Bool && o.Bool, g.Time && o.Time, g.Comma && o.Comma
	g.Wide, g.Empty, g.Words = g.Wide || o.Wide, g.Empty || o.Empty, g.Words || o.Words
	g.Digits, g.Largest = max(g.Digits, o.Digits), max(g.Largest, o.Largest)
	if g.Zeros == "" {
		g.Zeros = o.Zeros
	}
	return g
}

// wholeNumber notes a text that may be a whole number.
func (g *Guess) wholeNumber(text []byte) {
	digits := scalar.WholeDigits(text)
	if len(digits) < len(text) && g.WholeText == "" {
		g.WholeText = string(text[:min(len(text), 40)])
	}
	_, ok := scalar.ParseInt(digits, graph.Uint64)
	g.parts = !ok || digits[0] == '+' || digits[0] == '-' || digits[0] == '0' && len(digits) > 1
	g.Whole = !g.parts && g.WholeText != ""
}

// decimalComma says whether a text is digits, which may have a sign and one comma between them, and whether it has a comma.
func decimalComma(text []byte) (comma, ok bool) {
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	digit := false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c == ',' && digit && !comma:
			comma, digit = true, false
		default:
			return comma, false
		}
	}
	return comma, digit
}
