package features

import (
	"cmp"
	"maps"
	"slices"
)

// Counts are how often texts occur in the rows of a fit. Rows without a text are not counted. Counts of several parts of the rows are added by Merge.
type Counts map[string]int64

// Merge adds other counts.
func (c Counts) Merge(other Counts) {
	for text, n := range other {
		c[text] += n
	}
}

// Categories is the state of a fitted part of texts.
type Categories struct {
	Texts []string `json:"texts"` // in the order of their bytes
	Of    []int64  `json:"counts"`
	Rows  int64    `json:"rows"`           // of the fit, that have a text
	Rare  []string `json:"rare,omitempty"` // texts of the fit that are not among Texts, in the order of their bytes
	codes map[string]int32
}

// Fit keeps texts of at least `least` rows. Unless most is 0, it keeps only the most frequent ones, so that they and a position for the others, if there are
// any, are at most `most`; of texts with equal counts it keeps those that are later in the order of their bytes, as scikit-learn does.
func (c Counts) Fit(least int64, most int) *Categories {
	texts := slices.Sorted(maps.Keys(c))
	kept := make([]int, 0, len(texts))
	s := &Categories{}
	for i, text := range texts {
		s.Rows += c[text]
		if c[text] >= least {
			kept = append(kept, i)
		}
	}
	others := 0
	if len(kept) < len(texts) {
		others = 1
	}
	if most > 0 && len(kept)+others > most {
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

// Code is 1, 2, ... for the texts in their order, and 0 for all others.
func (s *Categories) Code(text []byte) int32 {
	if s.codes == nil {
		s.codes = make(map[string]int32, len(s.Texts))
		for i, t := range s.Texts {
			s.codes[t] = int32(i + 1)
		}
	}
	return s.codes[string(text)]
}

// Share is the share of the rows of the fit with a text that have the text of a code.
func (s *Categories) Share(code int32) float64 {
	if code == 0 {
		return 0
	}
	return float64(s.Of[code-1]) / float64(s.Rows)
}
