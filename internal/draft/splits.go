package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maskNames are the names of masks of the parts of a split, as PyG and DGL have them.
var maskNames = [3][]string{{"train_mask"}, {"val_mask", "valid_mask"}, {"test_mask"}}

// masks are the columns of a table of nodes that are true for the rows of train, valid and test; nil for a part without one. Without one for train and another, all are nil.
func (t *Table) masks() (out [3]*column) {
	if t.edge {
		return out
	}
	some := 0
	for p, names := range maskNames {
		for _, c := range t.columns {
			if slices.Contains(names, strings.ToLower(c.Name)) && meaningOf(c).kind == boolean {
				out[p] = c
			}
		}
		if out[p] != nil {
			some++
		}
	}
	if out[0] == nil || some < 2 {
		return [3]*column{}
	}
	return out
}

// mostFolds is how many folds the numbers of a column can be.
const mostFolds = 20

// folds is the number of folds of a column of a table of nodes that is named for it; 0: it has none.
func (c *column) folds() int {
	n := &c.cells
	named := slices.Contains([]string{"fold", "folds", "cv_fold", "kfold"}, strings.ToLower(c.Name))
	if !named || c.table.edge || c.table.isKey(c) || n.ints.n == 0 || n.ints.n != c.filled() || n.least != 0 || n.largest < 1 || n.largest >= mostFolds {
		return 0
	}
	return int(n.largest) + 1
}

// divides says whether a column says which rows are for training, by texts, a mask or folds.
func (c *column) divides() bool {
	if splitOf(c) != nil || c.folds() > 0 {
		return true
	}
	if !slices.ContainsFunc(maskNames[:], func(names []string) bool { return slices.Contains(names, strings.ToLower(c.Name)) }) {
		return false // the other columns are looked at for few
	}
	masks := c.table.masks()
	return slices.Contains(masks[:], c)
}

// splitText is the split of a table in graph.yaml, and why; "" for none.
func (t *Table) splitText() (text, why string) {
	parts := []string{"train", "valid", "test"}
	for _, c := range t.columns {
		texts := splitOf(c)
		if texts == nil || c == t.id || t.isKey(c) {
			continue
		}
		text = "{by: " + Scalar(c.Name)
		for _, part := range parts {
			if texts[part] != nil {
				text += ", " + part + ": " + listText(texts[part])
			}
		}
		return text + "}", "the texts of " + c.Name
	}
	if masks := t.masks(); masks[0] != nil {
		for p, c := range masks {
			if c != nil {
				text += ", " + parts[p] + ": " + Scalar(c.Name)
			}
		}
		return "{masks: {" + text[2:] + "}}", "columns of bools, one for each part"
	}
	for _, c := range t.columns {
		k := c.folds()
		if k == 0 || c == t.id {
			continue
		}
		var rest []string
		for f := range max(1, k-2) {
			rest = append(rest, strconv.Itoa(f))
		}
		text = "{by: " + Scalar(c.Name) + ", train: [" + strings.Join(rest, ", ") + "]"
		if k > 2 {
			text += fmt.Sprintf(", valid: [%d]", k-2)
		}
		return text + fmt.Sprintf(", test: [%d]}", k-1), fmt.Sprintf("the last of %d folds for the test", k)
	}
	return "", ""
}

// writeSplits writes the splits that columns of other names than split say.
func (d *drafter) writeSplits(w *writer) {
	begun := false
	for _, t := range d.Tables {
		if t.edge || slices.ContainsFunc(t.columns, func(c *column) bool { return strings.EqualFold(c.Name, "split") }) {
			continue
		}
		text, why := t.splitText()
		if text == "" {
			continue
		}
		if !begun {
			w.line(0, "transforms:", "")
			w.line(1, "split:", "")
			begun = true
		}
		w.line(2, Scalar(t.Name)+": "+text, why)
	}
}
