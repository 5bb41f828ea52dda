package draft

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// gapsBut are the texts for missing values of a column of text that another column, which has ids, does not have.
func (c *column) gapsBut(id *column) (texts []string) {
	if !c.table.text {
		return nil
	}
	for text := range c.cells.gaps {
		if id.cells.gaps[text] == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// chooseMissing chooses the texts that stand for an empty cell in a table: texts of keys that are no ids, and texts beside numbers, bools
// and times that an import does not take as empty cells anyway. No text is chosen that an id of the table or a key with this id has.
func (t *Table) chooseMissing() {
	if !t.text {
		return
	}
	chosen, meant := map[string]bool{}, map[string]bool{}
	if t.id != nil {
		for text := range t.id.cells.gaps {
			meant[text] = true
		}
	}
	for _, c := range t.columns {
		k := t.keyOf(c)
		switch {
		case c == t.id:
		case k != nil && k.to != nil:
			for text := range c.cells.gaps {
				if k.to.id.cells.gaps[text] != nil {
					meant[text] = true
				} else {
					chosen[text] = true
				}
			}
		case k == nil && c.but(c.cells.marks.n):
			for text := range c.cells.gaps {
				if !scalar.IsMissing([]byte(text)) {
					chosen[text] = true
				}
			}
		}
	}
	maps.DeleteFunc(chosen, func(text string, _ bool) bool { return meant[text] })
	t.missing = slices.Sorted(maps.Keys(chosen))
	for _, k := range t.keys {
		if k.to == nil {
			continue
		}
		for text, s := range k.column.cells.gaps {
			if k.to.id.cells.gaps[text] == nil && meant[text] { // it stays a value, which dangles
				k.found.dangling, k.found.values, k.found.first = k.found.dangling+s.n, k.found.values+1, min(k.found.first, s.row)
			}
		}
	}
}

// keyOf is the key that a column is; nil: it is none.
func (t *Table) keyOf(c *column) *key {
	for _, k := range t.keys {
		if k.column == c {
			return k
		}
	}
	return nil
}

// but says whether all cells of a column of text but the empty ones, words for missing values and a number of marks are numbers, or bools,
// or times, and there are some.
func (c *column) but(marks uint64) bool {
	n := &c.cells
	known := c.filled() - n.words.n - marks
	numbers := n.ints.n + n.floats.n
	return !c.Words && known > 0 && (numbers == known && n.zeros.n == 0 || n.bools.n == known || n.times.n == known)
}

// gone are the cells of a column whose text is one of those that stand for an empty cell in the table.
func (c *column) gone() (all seen) {
	for _, text := range c.table.missing {
		if s := c.cells.gaps[text]; s != nil {
			all.merge(s)
		}
	}
	return all
}

// goneMarks is the number of them that an import would not take as an empty cell among numbers anyway.
func (c *column) goneMarks() (n uint64) {
	for _, text := range c.table.missing {
		if s := c.cells.gaps[text]; s != nil && !scalar.IsMissing([]byte(text)) {
			n += s.n
		}
	}
	return n
}

// kept are the cells of texts for missing values that stay texts.
func (c *column) kept() (all seen) {
	for text, s := range c.cells.gaps {
		if !slices.Contains(c.table.missing, text) {
			all.merge(s)
		}
	}
	return all
}

// missingLine is the line of graph.yaml with the texts that stand for an empty cell, and why; empty: there are none.
func (t *Table) missingLine() (line, why string) {
	if len(t.missing) == 0 {
		return "", ""
	}
	cells := uint64(0)
	for _, c := range t.columns {
		cells += c.gone().n
	}
	return "missing_texts: " + listText(t.missing), fmt.Sprintf("%s with these texts, which count as empty in all columns", amount(cells, "cell"))
}
