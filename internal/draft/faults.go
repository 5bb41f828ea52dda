package draft

import (
	"fmt"
	"slices"
)

// The lines of graph.yaml that settle faults, besides the lines of columns.
const (
	anchorDangling   = "dangling_edges"
	anchorDuplicates = "duplicate_nodes"
	anchorEdges      = "edges"
)

// anchorOf names the line of a column, or of a table if column is empty.
func anchorOf(t *Table, column string) string { return t.Name + "\x00" + column }

// findFaults lists what is wrong, in the order of the tables and their columns.
func (d *drafter) findFaults() {
	edges := false
	for _, t := range d.Tables {
		for _, f := range t.Faults {
			f.anchor = anchorOf(t, f.Column)
			d.out.Faults = append(d.out.Faults, f)
		}
		if t.ragged.n > 0 {
			d.fault(t, nil, &t.ragged, true, "row", " with another number of cells than there are columns, or with a stray quote", "write every cell, also empty ones, and put a cell that contains the delimiter or a quote in quotes", "")
		}
		for _, c := range t.columns {
			d.columnFaults(t, c)
		}
		edges = edges || len(t.keys) > 0
	}
	if !edges {
		d.out.Faults = append(d.out.Faults, Fault{Found: "no column whose values are the ids of a table", Do: "write an edge type that names the columns of its ends: a graph has at least one", Open: true, anchor: anchorEdges})
	}
}

// fault adds a fault of the cells of a column; c is nil for rows.
//
// Its text is the count, noun and rest.
func (d *drafter) fault(t *Table, c *column, s *seen, open bool, noun, rest, do, anchor string) {
	f := Fault{Table: t.Name, Count: s.n, Found: amount(s.n, noun) + rest, Do: do, Open: open, anchor: anchor}
	name := ""
	if c != nil {
		name, f.Column = c.Name, c.Name
	}
	if f.anchor == "" {
		f.anchor = anchorOf(t, name)
	}
	if t.Data != nil {
		f.First = t.place(s.row, name)
	}
	d.out.Faults = append(d.out.Faults, f)
}

// columnFaults lists what is wrong with the cells of a column.
func (d *drafter) columnFaults(t *Table, c *column) {
	if readingOf(&c.Field) >= asList || t.Data == nil {
		return
	}
	isKey := false
	for _, k := range t.keys {
		if k.column == c {
			isKey = true
			d.keyFaults(t, k)
		}
	}
	switch {
	case c == t.id && !t.edge:
		d.idFaults(t, c)
	case !isKey && c != t.id:
		d.valueFaults(t, c)
	}
}

// idFaults lists what is wrong with ids.
func (d *drafter) idFaults(t *Table, c *column) {
	if c.cells.empty.n > 0 {
		d.fault(t, c, &c.cells.empty, true, "row", " without an id", "fill the cells, or write id: null, which numbers the rows", "")
	}
	if c.repeats > 0 {
		d.fault(t, c, &seen{n: c.repeats, row: c.firstRepeat}, true, "row", " with the id of an earlier row", "remove the # before duplicate_nodes: drop, which leaves these rows out, or correct the ids", anchorDuplicates)
	}
}

// keyFaults lists what is wrong with a key.
func (d *drafter) keyFaults(t *Table, k *key) {
	if k.to != nil && k.found.dangling > 0 {
		what := fmt.Sprintf(" that no row of %s has as its id (%s)", k.to.Name, amount(k.found.values, "distinct value"))
		d.fault(t, k.column, &seen{n: k.found.dangling, row: k.found.first}, true, "value", what, "remove the # before dangling_edges: drop, which leaves these edges out (zeros adds the nodes), or correct the cells", anchorDangling)
	}
	if gone := k.column.gone(); gone.n > 0 {
		d.fault(t, k.column, &gone, false, "text", fmt.Sprintf(" for a missing value, such as %q", gone.text), "they count as empty cells, as missing_texts says: an empty key is no edge", "")
	}
	if kept := k.column.kept(); kept.n > 0 && !(k.to != nil && t.text) { // else they are ids, or dangle
		d.fault(t, k.column, &kept, false, "text", fmt.Sprintf(" for a missing value, such as %q, taken as ids", kept.text), "leave these cells empty: an empty key is no edge", "")
	}
}

// valueFaults lists what is wrong with a column that is neither an id nor a key.
func (d *drafter) valueFaults(t *Table, c *column) {
	n, m := &c.cells, meaningOf(c)
	numbers, filled := n.ints.n+n.floats.n, c.filled()
	switch m.kind {
	case integer, float, boolean:
		if n.empty.n > 0 {
			d.fault(t, c, &n.empty, false, "empty cell", " in a column of "+m.dtype, "missing: "+m.missing+" makes them "+missingWords(m.missing, c.Name), "")
		}
		if n.words.n > 0 {
			d.fault(t, c, &n.words, false, "text", fmt.Sprintf(" for a missing value, such as %q, in a column of %s", n.words.text, m.dtype), "they count as empty cells, as missing: "+m.missing+" says", "")
		}
		if gone := c.gone(); c.goneMarks() > 0 {
			d.fault(t, c, &gone, false, "text", fmt.Sprintf(" for a missing value, such as %q, in a column of %s", gone.text, m.dtype), "they count as empty cells, as missing_texts says; missing: "+m.missing+" makes them "+missingWords(m.missing, c.Name), "")
		}
	case moment:
		if gone := c.gone(); gone.n > 0 {
			d.fault(t, c, &gone, false, "text", fmt.Sprintf(" for a missing time, such as %q", gone.text), "they count as empty cells, as missing_texts says", "")
		}
	case nothing:
		if t.rows > 0 {
			d.fault(t, c, &seen{n: t.rows}, false, "row", ", none of which has a value", "remove the line of the column", "")
		}
	case category, words, labels:
		d.textFaults(t, c, numbers, filled)
	}
	if m.kind == integer && n.wide53.n > 0 {
		d.fault(t, c, &n.wide53, false, "integer", " of 2^53 or more, which "+m.dtype+" keeps and a feature rounds", "read codes as category or string", "")
	} else if m.kind == integer && n.wide24.n > 0 {
		d.fault(t, c, &n.wide24, false, "integer", " of 2^24 or more, which "+m.dtype+" keeps and a feature of float32 rounds", "read codes as category or string, or scale the numbers", "")
	}
}

// missingWords says what a value of missing does.
func missingWords(missing, column string) string {
	if missing == "column" {
		return "0, and true in the column " + column + "_missing"
	}
	return "NaN"
}

// textFaults lists what keeps a column of texts from being one of numbers or times.
func (d *drafter) textFaults(t *Table, c *column, numbers, filled uint64) {
	n := &c.cells
	missing := c.kept()
	if gone := c.gone(); gone.n > 0 {
		d.fault(t, c, &gone, false, "text", fmt.Sprintf(" for a missing value, such as %q", gone.text), "they count as empty cells, as missing_texts says", "")
		filled -= gone.n
	}
	others := n.texts
	others.merge(&n.dates)
	others.merge(&n.bools)
	switch {
	case c.Words:
	case n.zeros.n > 0 && n.ints.n == filled-missing.n:
		d.fault(t, c, &n.zeros, false, "integer", fmt.Sprintf(" with leading zeros, such as %q", n.zeros.text), "they are texts, which keep the zeros; give the column int64 if they do not matter", "")
	case numbers > 0 && numbers+missing.n == filled:
		d.fault(t, c, &missing, false, "text", fmt.Sprintf(" for a missing value, such as %q, among %s", missing.text, amount(numbers, "number")), "leave these cells empty, and give the column float32; until then it has texts", "")
		return
	case 2*n.commas.n >= filled:
		d.fault(t, c, &n.commas, false, "number", fmt.Sprintf(" with a comma as the point, such as %q", n.commas.text), "write a point, and give the column float32; until then it has texts", "")
	case 2*n.units.n >= filled:
		d.fault(t, c, &n.units, false, "number", fmt.Sprintf(" with a unit or other signs, such as %q", n.units.text), "write the number alone, with a point, and give the column float32; until then it has texts", "")
	case 2*numbers >= filled && others.n+n.times.n > 0:
		others.merge(&n.times)
		d.fault(t, c, &others, false, "text", fmt.Sprintf(" such as %q among %s", others.text, amount(numbers, "number")), "correct the cells, and give the column float32; until then it has texts", "")
	case n.times.n > 0 && 2*n.times.n >= filled:
		others.merge(&missing)
		others.merge(&n.ints)
		others.merge(&n.floats)
		d.fault(t, c, &others, false, "text", fmt.Sprintf(" such as %q in place of a time in ISO 8601, beside %s with one", others.text, amount(n.times.n, "cell")), "correct the cells, or leave them empty, and give the column datetime; until then it has texts", "")
		return
	case n.dates.n > 0 && 2*n.dates.n >= filled:
		d.fault(t, c, &n.dates, false, "date", fmt.Sprintf(" as %s, such as %q", dateForm([]byte(n.dates.text)), n.dates.text), "write them as 2024-02-29, and give the column datetime; until then it has texts", "")
	}
	if missing.n > 0 {
		d.fault(t, c, &missing, false, "text", fmt.Sprintf(" for a missing value, such as %q, taken as texts like others", missing.text), leaveEmpty(t), "")
	}
}

// leaveEmpty is the advice for cells such as "-" in a column of texts, which probably stand for missing values.
func leaveEmpty(t *Table) string {
	if t.text {
		return "name them in missing_texts of the table, or leave these cells empty"
	}
	return "leave these cells empty"
}

// settle gives faults their lines, and orders those that need a decision first.
func (d *drafter) settle(lines map[string]int) {
	for i := range d.out.Faults {
		d.out.Faults[i].Line = lines[d.out.Faults[i].anchor]
	}
	slices.SortStableFunc(d.out.Faults, func(a, b Fault) int {
		switch {
		case a.Open == b.Open:
			return 0
		case a.Open:
			return -1
		}
		return 1
	})
}

// Text is a fault as a line for people.
func (f *Fault) Text() string {
	place := f.First
	if place == "" && f.Table != "" {
		place = "table " + f.Table
	}
	if place != "" {
		place += ": "
	}
	what := f.Found
	if f.Column != "" {
		what = fmt.Sprintf("column %q: %s", f.Column, what)
	}
	text := place + what + "; " + f.Do
	if f.Line > 0 {
		text += fmt.Sprintf(" (graph.yaml:%d)", f.Line)
	}
	return text
}
