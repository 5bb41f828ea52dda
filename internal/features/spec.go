package features

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/structure"
	"github.com/graphmill/graphmill/internal/suggest"
)

// ErrSpec is the kind of the errors of a feature that cannot be made of what it names.
var ErrSpec = errors.New("feature")

// specErrorf is an error of the kind ErrSpec, which its text does not name.
func specErrorf(format string, a ...any) error { return &specError{fmt.Errorf(format, a...)} }

type specError struct{ error }

func (e *specError) Unwrap() []error { return []error{ErrSpec, e.error} }

// Spec is a feature: a column that is made of others of the same type.
//
// With Code it is one whole number per row: a code from 0, which an embedding takes. Its only part is of EncodeCode, EncodeOrdinal or EncodeBuckets, and
// its dtype is Int32. Otherwise its parts stand side by side, in their order.
type Spec struct {
	Name  string
	DType graph.DType // Float32, Float16 or BFloat16; with Code, Int32
	Norm  Norm        // divides each row
	Bits  int         // 8 or 4: the store has codes of so many bits for the numbers; 0: the numbers
	Code  bool
	Parts []Part
	Place string // of the feature in a file, for errors; "" for none
}

// error puts the place and the name of the feature, and the column of a part, before an error.
func (s *Spec) error(typ string, part int, err error) error {
	return s.placed(partError(typ, s.Name, s.Parts[part].Source(), err))
}

// placed puts the place of the feature before an error.
func (s *Spec) placed(err error) error {
	if s.Place == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.Place, err)
}

// partError puts the names of a feature and of the column of a part before an error.
func partError(typ, feature, column string, err error) error {
	return fmt.Errorf("feature %s/%s, %s: %w", typ, feature, column, err)
}

// CheckColumns refuses a feature that cannot be made of the columns of its type, whose values it does not read.
func (s *Spec) CheckColumns(typ string, columns []*graph.Column) error {
	for i := range s.Parts {
		if s.Parts[i].Structure != nil {
			continue
		}
		if _, err := s.Parts[i].columnOf(columns); err != nil {
			return s.error(typ, i, err)
		}
	}
	if graph.FindColumn(columns, s.Name) != nil {
		return s.error(typ, 0, specErrorf("found a column %s, too, expected a name that no column has; rename the feature", s.Name))
	}
	return nil
}

// Norm is the norm that rows are divided by; a row whose norm is 0 stays.
type Norm string

// The norms: the sum of absolute values, the root of the sum of squares, and the greatest absolute value.
const (
	NormNone Norm = ""
	NormL1   Norm = "l1"
	NormL2   Norm = "l2"
	NormMax  Norm = "max"
)

// Encode says how the values of a column become numbers.
type Encode string

// The encodings. None takes numbers as they are. Those of categories take texts, categories, whole numbers and bools; multi-hot, hash and length take
// texts and categories; calendar and age take times.
const (
	EncodeNone      Encode = ""
	EncodeBuckets   Encode = "buckets"
	EncodeCode      Encode = "code"
	EncodeOneHot    Encode = "one-hot"
	EncodeMultiHot  Encode = "multi-hot"
	EncodeFrequency Encode = "frequency"
	EncodeOrdinal   Encode = "ordinal"
	EncodeHash      Encode = "hash"
	EncodeLength    Encode = "length"
	EncodeCalendar  Encode = "calendar"
	EncodeAge       Encode = "age"
)

// Encodes are the names of all encodings.
var Encodes = []string{string(EncodeBuckets), string(EncodeCode), string(EncodeOneHot), string(EncodeMultiHot), string(EncodeFrequency), string(EncodeOrdinal),
	string(EncodeHash), string(EncodeLength), string(EncodeCalendar), string(EncodeAge)}

// Impute says what a missing number becomes.
type Impute string

// What a missing number becomes. Median, mode and mean are of the rows of the fit.
const (
	ImputeNone     Impute = ""
	ImputeMean     Impute = "mean"
	ImputeMedian   Impute = "median"
	ImputeMode     Impute = "mode"
	ImputeConstant Impute = "constant"
)

// Imputes are the names of what a missing number can become.
var Imputes = []string{string(ImputeMean), string(ImputeMedian), string(ImputeMode), string(ImputeConstant)}

// Scales are the names of the scales.
var Scales = []string{string(ScaleStandard), string(ScaleMinMax), string(ScaleMinMaxCut), string(ScaleMaxAbs), string(ScaleRobust), string(ScaleLog),
	string(ScaleSignedLog), string(ScaleUniform), string(ScaleNormal)}

// Units are the units of an age, in seconds.
var Units = map[string]int64{"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 7 * 86400, "years": 31556952}

// By says how buckets are made.
type By string

// Buckets have equal widths, or about equal numbers of rows.
const (
	ByWidth By = "width"
	ByRows  By = "rows"
)

// Unknown says what becomes of a text that the rows of the fit do not have.
type Unknown string

// A text that is unknown is one of the others, or an error.
const (
	UnknownOther Unknown = "other"
	UnknownError Unknown = "error"
)

// Part is what one column gives to a feature: its values are encoded, clipped, filled and scaled, in this order. A row gives one number or several.
type Part struct {
	From string `json:"from,omitempty"` // a column of the type
	// Structure is in place of From: numbers of the nodes of the type that follow from the graph.
	Structure *structure.Spec `json:"structure,omitempty"`

	Encode Encode `json:"encode,omitempty"`

	Clip   *[2]float64 `json:"clip,omitempty"`
	Impute Impute      `json:"impute,omitempty"`
	Value  float64     `json:"value,omitempty"` // of ImputeConstant
	Flag   bool        `json:"flag,omitempty"`  // adds a number that is 1 where the value is missing
	Scale  Scale       `json:"scale,omitempty"`

	Edges []float64 `json:"edges,omitempty"` // of buckets, with both ends; else there are Count of them, made By
	Count int       `json:"count,omitempty"`
	By    By        `json:"by,omitempty"`

	Least     int64    `json:"least,omitempty"` // a text of fewer rows of the fit is one of the others
	Most      int      `json:"most,omitempty"`  // of the texts and the others together; 0 is no bound
	Unknown   Unknown  `json:"unknown,omitempty"`
	Order     []string `json:"order,omitempty"` // of ordinal: the texts
	Separator string   `json:"separator,omitempty"`

	Hash  *Hash    `json:"hash,omitempty"`
	Parts []string `json:"parts,omitempty"` // of calendar
	Zone  string   `json:"zone,omitempty"`
	At    int64    `json:"at,omitempty"` // of age: seconds since 1970-01-01T00:00:00Z
	Unit  string   `json:"unit,omitempty"`
}

// orList lists words.
func orList[T ~string](of []T) string {
	texts := make([]string, len(of))
	for i, t := range of {
		texts[i] = string(t)
	}
	return strings.Join(texts, " or ")
}

// Check refuses a feature that says what contradicts itself, without its columns.
func (s *Spec) Check() error {
	if len(s.Parts) == 0 {
		return specErrorf("found no parts, expected at least one column")
	}
	if s.Code && (len(s.Parts) != 1 || s.Norm != "") {
		return specErrorf("found a code with a norm or %d parts, expected one column", len(s.Parts))
	}
	if s.Norm != "" && !slices.Contains([]Norm{NormL1, NormL2, NormMax}, s.Norm) {
		return specErrorf("found norm %q, expected one of l1, l2, max", s.Norm)
	}
	if err := checkBits(s.Bits, s.Code); err != nil {
		return err
	}
	for i := range s.Parts {
		if err := s.Parts[i].check(s.Code); err != nil {
			return fmt.Errorf("part %d, of %s: %w", i+1, s.Parts[i].Source(), err)
		}
	}
	return nil
}

// known refuses a word that is none of the known ones.
func known(what, word string, words []string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return specErrorf("found %s %q, expected one of %s%s", what, word, strings.Join(words, ", "), suggest.Hint(word, words))
}

// Source is what a part is made of: a column, or a structure of the graph.
func (p *Part) Source() string {
	if p.Structure != nil {
		return p.Structure.Structure
	}
	return p.From
}

// structureKey is a text that is the same for equal structures.
func structureKey(s *structure.Spec) string {
	text, _ := json.Marshal(s) // of numbers and texts
	return string(text)
}

// check refuses what a part says twice, or beside an encoding that does not take it.
func (p *Part) check(code bool) error {
	only := func(what string, is bool, with ...Encode) error {
		if is && !slices.Contains(with, p.Encode) {
			return specErrorf("found %s with encode %q, expected it with %s; leave it out", what, p.Encode, orList(with))
		}
		return nil
	}
	numbers := []Encode{EncodeNone, EncodeFrequency, EncodeLength, EncodeCalendar, EncodeAge, EncodeOrdinal}
	clipped := append(slices.Clone(numbers), EncodeBuckets)
	if err := errors.Join(known("encode", string(p.Encode), Encodes), known("impute", string(p.Impute), Imputes), known("scale", string(p.Scale), Scales),
		known("by", string(p.By), []string{string(ByWidth), string(ByRows)}), known("unknown", string(p.Unknown), []string{string(UnknownOther), string(UnknownError)})); err != nil {
		return err
	}
	categories := []Encode{EncodeCode, EncodeOneHot, EncodeMultiHot, EncodeFrequency}
	err := errors.Join(
		only("clip", p.Clip != nil, clipped...), only("impute", p.Impute != "", clipped...), only("flag", p.Flag, numbers...), only("scale", p.Scale != "", numbers...),
		only("edges", p.Edges != nil, EncodeBuckets), only("count", p.Count != 0, EncodeBuckets), only("by", p.By != "", EncodeBuckets),
		only("least", p.Least != 0, categories...), only("most", p.Most != 0, categories...), only("unknown", p.Unknown != "", append(slices.Clone(categories), EncodeOrdinal)...),
		only("order", p.Order != nil, EncodeOrdinal), only("separator", p.Separator != "", EncodeMultiHot), only("parts", p.Parts != nil, EncodeCalendar),
		only("zone", p.Zone != "", EncodeCalendar), only("at", p.At != 0, EncodeAge), only("unit", p.Unit != "", EncodeAge),
		only("dim, words and characters", p.Hash != nil, EncodeHash))
	if err != nil {
		return err
	}
	codes := []Encode{EncodeCode, EncodeOrdinal, EncodeBuckets}
	switch {
	case p.Structure != nil && (p.From != "" || p.Encode != EncodeNone || code):
		return specErrorf("found structure %s with a column, an encoding or as a code, expected it by itself in a list of parts; leave the others out", p.Structure.Structure)
	case p.Structure != nil:
		if err := p.Structure.Validate(); err != nil {
			return specErrorf("%w", err)
		}
	case p.From == "":
		return specErrorf("found no column, expected its name as from, or a structure")
	}
	switch {
	case code && !slices.Contains(codes, p.Encode):
		return specErrorf("found encode %q of one column alone, expected %s; write the feature as a list of parts", p.Encode, orList(codes))
	case code && (p.Scale != "" || p.Flag || p.Encode != EncodeBuckets && (p.Clip != nil || p.Impute != "")):
		return specErrorf("found clip, impute, flag or scale of a code, expected none; write the feature as a list of parts")
	case !code && p.Encode == EncodeCode:
		return specErrorf("found encode code beside other numbers, expected one-hot, frequency or hash, because a code is no quantity; make the code a feature of its own: {from: %s, encode: code}", p.From)
	case p.Clip != nil && !(p.Clip[0] < p.Clip[1]):
		return specErrorf("found clip from %g to %g, expected the lower bound first", p.Clip[0], p.Clip[1])
	case p.Value != 0 && p.Impute != ImputeConstant:
		return specErrorf("found a value without impute constant, expected both")
	case p.Least < 0 || p.Most < 0:
		return specErrorf("found least %d and most %d, expected numbers from 1", p.Least, p.Most)
	case p.Encode == EncodeOrdinal && len(p.Order) == 0:
		return specErrorf("found no order, expected the texts of encode ordinal, the least first")
	}
	switch p.Encode {
	case EncodeBuckets:
		return p.checkBuckets()
	case EncodeHash:
		return p.Hash.check()
	case EncodeAge:
		if _, is := Units[p.Unit]; p.Unit != "" && !is {
			return known("unit", p.Unit, []string{"seconds", "minutes", "hours", "days", "weeks", "years"})
		}
	case EncodeCalendar:
		if len(p.Parts) == 0 {
			return specErrorf("found no parts, expected some of %s, or their cycles such as month-cycle", strings.Join(CalendarParts, ", "))
		}
		for _, part := range p.Parts {
			if _, err := NewCalendar(part, p.Zone); err != nil {
				return specErrorf("%w", err)
			}
		}
	}
	for i, text := range p.Order {
		if slices.Contains(p.Order[:i], text) {
			return specErrorf("found %q twice in order, expected each text once", text)
		}
	}
	return nil
}

func (p *Part) checkBuckets() error {
	switch {
	case (p.Edges != nil) == (p.Count != 0):
		return specErrorf("found %d edges and a count of %d, expected edges, or the count of the buckets", len(p.Edges), p.Count)
	case p.Edges != nil && (len(p.Edges) < 2 || p.By != ""):
		return specErrorf("found %d edges, expected at least two, and no by", len(p.Edges))
	case p.Edges == nil && (p.Count < 2 || p.Count > MostPositions):
		return specErrorf("found a count of %d, expected 2 to %d", p.Count, MostPositions)
	}
	for i := 1; i < len(p.Edges); i++ {
		if !(p.Edges[i-1] < p.Edges[i]) {
			return specErrorf("found edge %g after %g, expected edges that grow", p.Edges[i], p.Edges[i-1])
		}
	}
	return nil
}

// check refuses a hash without numbers, or with runs of none.
func (h *Hash) check() error {
	switch {
	case h == nil || h.Dim < 1 || h.Dim > MostPositions:
		return specErrorf("found no dim from 1 to %d, expected the count of numbers of encode hash", MostPositions)
	case h.Least < 1 || h.Most < h.Least || h.Most > 10:
		return specErrorf("found runs of %d to %d, expected 1 to at most 10", h.Least, h.Most)
	}
	return nil
}

// MostPositions is the most numbers that a row of one part gives.
const MostPositions = 4096

// columnOf checks that a part can be made of its column, and returns it.
func (p *Part) columnOf(columns []*graph.Column) (*graph.Column, error) {
	c := graph.FindColumn(columns, p.From)
	if c == nil {
		var names []string
		for _, c := range columns {
			if !strings.HasPrefix(c.Name, "#") {
				names = append(names, c.Name)
			}
		}
		if len(names) == 0 {
			names = []string{"none: the type has no columns"}
		}
		return nil, specErrorf("found no column %q, expected one of %s%s", p.From, strings.Join(names, ", "), suggest.Hint(p.From, names))
	}
	numbers := c.Categories == nil && c.Unit == "" && c.DType != graph.String
	texts := c.Categories != nil || c.DType == graph.String
	refuse := func(expected string) error {
		return specErrorf("found a column of %s, expected %s", meaning(c), expected)
	}
	switch p.Encode {
	case EncodeNone:
		if !numbers {
			return nil, refuse("numbers, or encode: one of " + strings.Join(encodesOf(c), ", "))
		}
	case EncodeBuckets:
		if !numbers {
			return nil, refuse("numbers for encode buckets")
		}
	case EncodeCalendar, EncodeAge:
		if c.Unit == "" {
			return nil, refuse(fmt.Sprintf("times for encode %s; import the column as datetime", p.Encode))
		}
		if most := math.MaxInt64 / c.Unit.PerSecond(); p.At > most || p.At < -most {
			return nil, specErrorf("found at: %s, expected a time that the unit %s of the column has", time.Unix(p.At, 0).UTC().Format(time.DateOnly), c.Unit)
		}
	case EncodeHash, EncodeLength:
		if !texts {
			return nil, refuse(fmt.Sprintf("texts for encode %s", p.Encode))
		}
	case EncodeMultiHot:
		switch {
		case !texts:
			return nil, refuse("texts for encode multi-hot")
		case !c.Ragged() && p.Separator == "":
			return nil, specErrorf("found no separator, expected the text between the tags of a row, such as separator: \";\"")
		case c.Ragged() && p.Separator != "":
			return nil, specErrorf("found a separator of a column of lists, expected none; leave it out")
		}
	default:
		if c.DType.IsFloat() || c.Unit != "" {
			return nil, refuse(fmt.Sprintf("texts, categories, whole numbers or bools for encode %s", p.Encode))
		}
	}
	if lists := p.Encode == EncodeMultiHot; c.Ragged() && (!lists || len(c.Shape) != 1) {
		return nil, specErrorf("found lists of shape %v, expected one value per row, or a vector; lists of texts take encode multi-hot", c.Shape)
	}
	if c.RowValues() == 0 && !c.Ragged() {
		return nil, specErrorf("found vectors of no values, expected at least one")
	}
	if p.Encode != EncodeNone && !c.Ragged() && c.RowValues() != 1 {
		return nil, specErrorf("found vectors of %d values, expected one value per row for encode %s", c.RowValues(), p.Encode)
	}
	return c, nil
}

// encodesOf lists the encodings that a column that is no number takes.
func encodesOf(c *graph.Column) []string {
	if c.Unit != "" {
		return []string{string(EncodeCalendar), string(EncodeAge)}
	}
	return []string{string(EncodeOneHot), string(EncodeMultiHot), string(EncodeFrequency), string(EncodeOrdinal), string(EncodeHash), string(EncodeLength), "or code by itself"}
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
	case c.DType == graph.Bool:
		return "bools"
	}
	return c.DType.String()
}

// ParseTime returns the seconds since 1970-01-01T00:00:00Z of a date or a time in ISO 8601, in UTC where it has no zone.
func ParseTime(text string) (int64, error) {
	t, ok := isotime.Parse([]byte(text))
	if ok {
		if seconds, whole, fits := t.In(1); whole && fits {
			return seconds, nil
		}
	}
	return 0, specErrorf("found the time %q, expected a date such as 2024-04-01, or a time of whole seconds such as 2024-04-01T12:00:00Z", text)
}
