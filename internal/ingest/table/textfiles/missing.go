package textfiles

import "github.com/graphmill/graphmill/internal/ingest/table/scalar"

// missingTexts are the texts that make a cell an empty one, whatever its column; nil: none does.
type missingTexts map[string]bool

func newMissing(texts []string) missingTexts {
	if len(texts) == 0 {
		return nil
	}
	m := missingTexts{}
	for _, t := range texts {
		m[t] = true
	}
	return m
}

// has says whether a cell is one of the texts, in quotes or not, with any blanks around it.
func (m missingTexts) has(cell []byte) bool { return m != nil && m[string(scalar.Trim(cell))] }

// digits says whether one of the texts begins with a digit, so that it may be a number.
func (m missingTexts) digits() bool {
	for t := range m {
		if t[0] >= '0' && t[0] <= '9' {
			return true
		}
	}
	return false
}

// value is a value of JSON, or null if its text is one of the texts.
func (m missingTexts) value(v jsonValue) jsonValue {
	if (v.kind == jsonString || v.kind == jsonNumber) && m.has(v.text) {
		return jsonValue{}
	}
	return v
}
