package features

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/graph"
)

// Counts are how often texts occur in the rows of a fit. Rows without a text are not counted.
type Counts map[string]int64

// Categories is the state of a fitted part of texts. Its methods may be called from several goroutines after Index.
type Categories struct {
	Texts []string `json:"texts"` // in the order of their bytes; those of whole numbers in the order of the numbers
	Of    []int64  `json:"counts"`
	Rows  int64    `json:"rows"`           // of the fit, that have a text
	Rare  []string `json:"rare,omitempty"` // texts of the fit that are not among Texts, in the same order

	codes map[string]int32
	ints  map[int64]int32
	// byCode are the codes of the categories of a column.
	byCode     []int32
	categories *graph.Column
}

// Fit keeps texts of at least `least` rows. Unless most is 0, it keeps only the most frequent ones, so that they and a position for the others
// are at most `most`; of texts with equal counts it keeps those that are later in the order, as scikit-learn does.
func (c Counts) Fit(least int64, most int) *Categories {
	return c.fit(slices.Sorted(maps.Keys(c)), least, most)
}

// fit is Fit with the texts in their order.
func (c Counts) fit(texts []string, least int64, most int) *Categories {
	kept := make([]int, 0, len(texts))
	s := &Categories{}
	for i, text := range texts {
		s.Rows += c[text]
		if c[text] >= least {
			kept = append(kept, i)
		}
	}
	if most > 0 && len(kept)+1 > most {
		slices.SortFunc(kept, func(a, b int) int { return cmp.Or(cmp.Compare(c[texts[b]], c[texts[a]]), cmp.Compare(b, a)) })
		kept = kept[:most-1]
		slices.Sort(kept)
	}
	for i, text := range texts {
		if len(kept) > 0 && kept[0] == i {
			kept = kept[1:]
			s.Texts, s.Of = append(s.Texts, text), append(s.Of, c[text])
			continue
		}
		s.Rare = append(s.Rare, text)
	}
	return s
}

// rareCode is the code of a text that is rare in the rows of the fit. It is used only where rare texts and unknown texts are treated differently.
const rareCode = -1

// Index prepares the codes of the texts, and of the values of a column: nil is none. With rare, rare texts get rareCode, and are not taken for unknown ones.
func (s *Categories) Index(c *graph.Column, rare bool) {
	s.codes = make(map[string]int32, len(s.Texts))
	if rare {
		for _, t := range s.Rare {
			s.codes[t] = rareCode
		}
	}
	for i, t := range s.Texts {
		s.codes[t] = int32(i + 1)
	}
	switch {
	case c == nil:
	case c.Categories != nil:
		s.categories, s.byCode = c.Categories, make([]int32, c.Categories.Rows)
		for code := range s.byCode {
			s.byCode[code] = s.codes[string(c.Categories.Text(code))]
		}
	case c.DType != graph.String:
		s.ints = make(map[int64]int32, len(s.codes))
		for t, code := range s.codes {
			if v, err := parseInteger(t, c.DType); err == nil {
				s.ints[v] = code
			}
		}
	}
}

// Code is 1, 2, ... for the texts in their order, rareCode for rare ones that Index tells apart, and 0 for all others.
func (s *Categories) Code(text []byte) int32 { return s.codes[string(text)] }

// ofCode is Code of a category of the column of Index.
func (s *Categories) ofCode(categories *graph.Column, code int32) int32 {
	if s.categories == categories {
		return s.byCode[code]
	}
	return s.Code(categories.Text(int(code)))
}

// ofInt is Code of a whole number, as source.integer returns it.
func (s *Categories) ofInt(v int64) int32 { return s.ints[v] }

// Share is the share of the rows of the fit with a text that have the text of a code.
func (s *Categories) Share(code int32) float64 {
	if code <= 0 {
		return 0
	}
	return float64(s.Of[code-1]) / float64(s.Rows)
}

// integerText is the text of a whole number, as source.integer returns it.
func integerText(v int64, d graph.DType) string {
	if d == graph.Uint64 {
		return strconv.FormatUint(uint64(v), 10)
	}
	return strconv.FormatInt(v, 10)
}

// parseInteger is the whole number of a text, as source.integer returns it.
func parseInteger(text string, d graph.DType) (int64, error) {
	if d == graph.Uint64 {
		v, err := strconv.ParseUint(text, 10, 64)
		return int64(v), err
	}
	return strconv.ParseInt(text, 10, 64)
}
