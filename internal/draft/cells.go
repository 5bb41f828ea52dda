package draft

import (
	"bytes"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/isotime"
)

// seen counts cells of a kind, and keeps the first.
type seen struct {
	n, row uint64
	text   string
}

// longestText is the most bytes of a text that is kept as an example.
const longestText = 40

func (s *seen) add(row uint64, text []byte) {
	if s.n == 0 || row < s.row {
		s.row, s.text = row, string(text[:min(len(text), longestText)])
	}
	s.n++
}

func (s *seen) merge(o *seen) {
	if o.n > 0 && (s.n == 0 || o.row < s.row) {
		s.row, s.text = o.row, o.text
	}
	s.n += o.n
}

// cells counts the cells of a column by kind. A cell is of one kind: empty, words, marks, ints, floats, bools, times, dates or texts.
type cells struct {
	empty seen
	words seen // for a missing value, that an import takes as empty among numbers
	marks seen // for a missing value, that an import takes as texts
	ints  seen
	// floats are numbers that are no integers of 64 bits; whole counts those that are written as whole numbers with a point.
	floats seen
	whole  uint64
	bools  seen // true or false
	times  seen // ISO 8601
	dates  seen // with day, month and year in another form
	texts  seen // all others

	signed   seen // integers with a sign
	zeros    seen // integers with leading zeros
	big      seen // integers above the range of int64
	wide24   seen // integers that float32 may round
	wide53   seen // integers that float64 may round
	wide     bool // a number is 2^24 or more
	commas   seen // numbers with a comma in place of the point, which are texts
	units    seen // numbers with a unit or other signs, which are texts
	vectors  seen // lists of numbers, which are texts; width is the number of all of them, 0 if they differ
	width    int
	digits   int // of fractions of seconds
	least    int64
	largest  int64
	below    uint64     // numbers that are not positive
	powers   [64]uint64 // positive numbers, by the power of two
	infinite uint64
	bounds   [2]float64 // the least and the largest finite number, if finite is set
	finite   bool
	bytes    uint64 // of the texts
	few      map[string]uint64
	many     bool // few has not all texts
	nonwhole bool // a number is no integer, so the column has no ids
	tags     tags // of the texts
	// gaps are the texts of words and marks, as they are written: a finite number, since marks are short.
	gaps map[string]*seen
}

// mostFew is the most texts that are kept, and longestFew the most bytes of one.
const (
	mostFew    = 12
	longestFew = 40
)

// marks are texts that people and programs write for a missing value, besides those that an import knows, in lower case.
var marks = []string{"-", "--", "?", ".", "n/a", "na", "none", "null", "nil", "missing", "(null)", "<na>", "#n/a", "\\n"}

// isMark says whether a text is one of marks.
func isMark(text []byte) bool {
	return len(text) <= 7 && slices.Contains(marks, string(bytes.ToLower(text)))
}

// add counts a cell of text.
func (c *cells) add(row uint64, text []byte) {
	text = scalar.Trim(text)
	if len(text) == 0 {
		c.empty.add(row, nil)
		return
	}
	first := text[0]
	if first-'0' <= 9 || first == '-' || first == '+' || first == '.' {
		if _, ok := scalar.ParseInt(text, graph.Int64); ok {
			c.addInt(row, text)
			return
		}
		if _, ok := scalar.ParseInt(text, graph.Uint64); ok {
			c.ints.add(row, text)
			c.big.add(row, text)
			c.wide24.add(row, text)
			c.wide53.add(row, text)
			c.wide = true
			return
		}
	}
	if scalar.IsMissing(text) {
		c.words.add(row, text)
		c.addGap(row, text)
		c.addFew(text)
		return
	}
	if isMark(text) {
		c.marks.add(row, text)
		c.addGap(row, text)
		c.addFew(text)
		return
	}
	if v, ok := scalar.ParseFloat(text, graph.Float64); ok {
		c.addFloat(row, v, text)
		return
	}
	c.addFew(text)
	if t, ok := isotime.Parse(text); ok {
		c.times.add(row, text)
		c.digits = max(c.digits, t.Digits)
		return
	}
	if _, ok := scalar.ParseBool(text); ok && len(text) > 1 {
		c.bools.add(row, text)
		return
	}
	if dateForm(text) != "" {
		c.dates.add(row, text)
		return
	}
	if commaNumber(text) {
		c.commas.add(row, text)
	} else if unitNumber(text) {
		c.units.add(row, text)
	}
	if n := vectorWidth(text); n > 0 {
		c.addVector(row, n, text)
	}
	c.texts.add(row, text)
	c.bytes += uint64(len(text))
	c.tags.add(text)
}

// addInt counts an integer in the range of int64.
func (c *cells) addInt(row uint64, text []byte) {
	v, _ := scalar.ParseInt(text, graph.Int64)
	n := int64(v)
	c.addFew(text)
	if text[0] == '-' || text[0] == '+' {
		c.signed.add(row, text)
	}
	if scalar.LeadingZero(text) {
		c.zeros.add(row, text)
	}
	c.addNumber(row, n, text)
}

// addNumber counts an integer; text is empty if the file declares integers.
func (c *cells) addNumber(row uint64, n int64, text []byte) {
	if c.ints.n == 0 {
		c.least, c.largest = n, n
	}
	c.least, c.largest = min(c.least, n), max(c.largest, n)
	c.ints.add(row, text)
	if n >= 1<<24 || n <= -1<<24 {
		c.wide = true
		c.wide24.add(row, text)
		if n >= 1<<53 || n <= -1<<53 {
			c.wide53.add(row, text)
		}
	}
	c.addPower(float64(n))
}

// addFloat counts a number that is no integer of 64 bits as it is written.
func (c *cells) addFloat(row uint64, v float64, text []byte) {
	c.floats.add(row, text)
	if len(scalar.WholeDigits(text)) < len(text) {
		c.whole++
	} else {
		c.nonwhole = true
	}
	c.wide = c.wide || math.Abs(v) >= scalar.WideFloat && !math.IsInf(v, 0)
	c.addPower(v)
}

func (c *cells) addPower(v float64) {
	if math.IsInf(v, 0) {
		c.infinite++
	} else if !math.IsNaN(v) {
		c.bound(v, v)
	}
	if !(v > 0) || math.IsInf(v, 0) {
		c.below++
		return
	}
	_, e := math.Frexp(v)
	c.powers[min(max(e+32, 0), len(c.powers)-1)]++
}

// bound widens the bounds to two numbers.
func (c *cells) bound(least, largest float64) {
	if c.finite {
		least, largest = min(least, c.bounds[0]), max(largest, c.bounds[1])
	}
	c.bounds, c.finite = [2]float64{least, largest}, true
}

func (c *cells) addFew(text []byte) {
	if c.many {
		return
	}
	if _, has := c.few[string(text)]; !has && (len(c.few) == mostFew || len(text) > longestFew) {
		c.few, c.many = nil, true
		return
	}
	if c.few == nil {
		c.few = map[string]uint64{}
	}
	c.few[string(text)]++
}

// addGap counts a text for a missing value.
func (c *cells) addGap(row uint64, text []byte) {
	c.gapOf(string(text)).add(row, text)
}

// gapOf is the count of a text for a missing value.
func (c *cells) gapOf(text string) *seen {
	if c.gaps == nil {
		c.gaps = map[string]*seen{}
	}
	if c.gaps[text] == nil {
		c.gaps[text] = &seen{}
	}
	return c.gaps[text]
}

// addVector counts a list of numbers.
func (c *cells) addVector(row uint64, width int, text []byte) {
	if c.vectors.n == 0 {
		c.width = width
	} else if c.width != width {
		c.width = 0
	}
	c.vectors.add(row, text)
}

// addLists counts lists that a file declares, by their lengths.
func (c *cells) addLists(first uint64, lengths []uint32) {
	for i, n := range lengths {
		c.addVector(first+uint64(i), int(n), nil)
	}
}

// merge adds the counts of other rows of the column.
func (c *cells) merge(o *cells) {
	if o.ints.n > 0 && c.ints.n == 0 {
		c.least, c.largest = o.least, o.largest
	} else if o.ints.n > 0 {
		c.least, c.largest = min(c.least, o.least), max(c.largest, o.largest)
	}
	if c.vectors.n == 0 {
		c.width = o.width
	} else if o.vectors.n > 0 && o.width != c.width {
		c.width = 0
	}
	for _, p := range [][2]*seen{{&c.empty, &o.empty}, {&c.words, &o.words}, {&c.marks, &o.marks}, {&c.ints, &o.ints}, {&c.floats, &o.floats},
		{&c.bools, &o.bools}, {&c.times, &o.times}, {&c.dates, &o.dates}, {&c.texts, &o.texts}, {&c.signed, &o.signed}, {&c.zeros, &o.zeros},
		{&c.big, &o.big}, {&c.wide24, &o.wide24}, {&c.wide53, &o.wide53}, {&c.commas, &o.commas}, {&c.units, &o.units}, {&c.vectors, &o.vectors}} {
		p[0].merge(p[1])
	}
	c.whole, c.below, c.bytes, c.infinite = c.whole+o.whole, c.below+o.below, c.bytes+o.bytes, c.infinite+o.infinite
	if o.finite {
		c.bound(o.bounds[0], o.bounds[1])
	}
	c.wide, c.nonwhole, c.digits = c.wide || o.wide, c.nonwhole || o.nonwhole, max(c.digits, o.digits)
	for i, n := range o.powers {
		c.powers[i] += n
	}
	c.tags.merge(&o.tags)
	for text, of := range o.gaps {
		c.gapOf(text).merge(of)
	}
	c.many = c.many || o.many
	for text, n := range o.few {
		if c.few == nil {
			c.few = map[string]uint64{}
		}
		c.few[text] += n
	}
	if c.many || len(c.few) > mostFew {
		c.few, c.many = nil, true
	}
}

// skewed says whether the numbers are positive and of very different sizes: a tenth of them is 16 times as large as another tenth.
func (c *cells) skewed() bool {
	n := c.ints.n + c.floats.n
	if c.below > 0 || n < 20 {
		return false
	}
	low, high, at := -1, 0, uint64(0)
	for e, k := range c.powers {
		at += k
		if low < 0 && at*10 >= n {
			low = e
		}
		if at*10 <= 9*n {
			high = e
		}
	}
	return high-low >= 4
}

// vectorWidth is the number of numbers in a list of at least two, with spaces or semicolons between them, or in brackets also commas;
// 0: the text is none.
func vectorWidth(text []byte) int {
	between := " ;"
	if text[0] == '[' && text[len(text)-1] == ']' {
		text, between = text[1:len(text)-1], " ;,"
	}
	n := 0
	for part := range bytes.FieldsFuncSeq(text, func(r rune) bool { return bytes.ContainsRune([]byte(between), r) }) {
		if _, ok := scalar.ParseFloat(part, graph.Float32); !ok {
			return 0
		}
		n++
	}
	if n < 2 {
		return 0
	}
	return n
}

// commaNumber says whether a text is a number with a comma as its point.
func commaNumber(text []byte) bool {
	at := bytes.IndexByte(text, ',')
	if at < 1 || bytes.Count(text, []byte{','}) > 1 || bytes.IndexByte(text[at:], '.') >= 0 {
		return false
	}
	whole := bytes.ReplaceAll(text[:at], []byte{'.'}, nil)
	_, ok := scalar.ParseInt(whole, graph.Int64)
	_, also := scalar.ParseInt(text[at+1:], graph.Uint64)
	return ok && also && text[at+1]-'0' <= 9
}

// currencies are the signs that stand before or after a number without a blank.
const currencies = "$€£¥"

// longestUnit is the most bytes of a unit after a number, and currencyCode the letters of a currency before one, such as EUR.
const (
	longestUnit  = 4
	currencyCode = 3
)

// unitNumber says whether a text is a number with a currency before or after it, a percent sign, a unit after it and a blank, or commas between thousands.
func unitNumber(text []byte) bool {
	rest := bytes.Trim(text, currencies+"% ")
	if i := bytes.LastIndexByte(rest, ' '); i > 0 && len(rest)-i-1 <= longestUnit && !bytes.ContainsAny(rest[i+1:], "0123456789") {
		rest = bytes.TrimRight(rest[:i], " ")
	} else if i := bytes.IndexByte(rest, ' '); i == currencyCode && len(bytes.Trim(rest[:i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) == 0 {
		rest = bytes.TrimLeft(rest[i:], " ")
	}
	whole, _, _ := bytes.Cut(rest, []byte{'.'})
	groups := bytes.Split(whole, []byte{','})
	if slices.ContainsFunc(groups[1:], func(g []byte) bool { return len(g) != 3 }) {
		return false
	}
	digits := bytes.ReplaceAll(rest, []byte{','}, nil)
	if len(digits) == len(text) || len(digits) == 0 || digits[len(digits)-1]-'0' > 9 {
		return false
	}
	_, ok := scalar.ParseFloat(digits, graph.Float64)
	return ok
}

// dateForm names the form of a date that is none of ISO 8601, such as D/M/Y; empty: the text is no date.
func dateForm(text []byte) string {
	if text[0]-'0' > 9 {
		return ""
	}
	day, _, _ := bytes.Cut(text, []byte{' '})
	for _, sep := range []string{"/", ".", "-"} {
		p := bytes.Split(day, []byte(sep))
		if len(p) != 3 || !allDigits(p) {
			continue
		}
		switch {
		case len(p[0]) == 4 && len(p[1]) <= 2 && len(p[2]) <= 2:
			return "Y" + sep + "M" + sep + "D"
		case len(p[2]) == 4 && len(p[0]) <= 2 && len(p[1]) <= 2 && sep == ".":
			return "D.M.Y"
		case len(p[2]) == 4 && len(p[0]) <= 2 && len(p[1]) <= 2:
			return "D" + sep + "M" + sep + "Y or M" + sep + "D" + sep + "Y"
		}
	}
	return ""
}

func allDigits(parts [][]byte) bool {
	for _, p := range parts {
		if len(p) == 0 || len(p) > 4 {
			return false
		}
		for _, c := range p {
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	return true
}
