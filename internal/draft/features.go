package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/yamltext"
)

// writeFit writes which rows the statistics of features come from: those for training, if a column says so. If none does, and edges
// have times, a line to be taken divides them by time.
func (d *drafter) writeFit(w *writer) {
	split := false
	for _, t := range d.Tables {
		for _, c := range t.columns {
			if !c.divides() {
				continue
			}
			if split = true; t.prepared() {
				w.line(0, "fit: {split: train}", fmt.Sprintf("as %s.%s says", t.Name, c.Name))
				return
			}
		}
	}
	if split {
		w.line(0, "fit: all", "no table with features has a split")
		return
	}
	w.line(0, "fit: all", "no column says which rows are for training")
	if splits := d.splitsByTime(); len(splits) > 0 {
		line := fmt.Sprintf("transforms: {split: {%s}}  # the first 80 %% by time for training: remove the # before it, and the line fit: all", strings.Join(splits, ", "))
		if len(line) <= longestComment { // a part of it would be no YAML
			w.line(0, "", line)
		}
	}
}

// prepared says whether features are made of columns of a table.
func (t *Table) prepared() bool {
	return slices.ContainsFunc(t.columns, func(c *column) bool {
		if c == t.id || t.isKey(c) || isLabel(c) || c.divides() {
			return false
		}
		kind := meaningOf(c).kind
		return kind != nothing && kind != list
	})
}

// splitsByTime are the splits by time of edge types whose tables have one column of times.
func (d *drafter) splitsByTime() (splits []string) {
	names := d.relations()
	for _, t := range d.Tables {
		if !t.edge {
			continue
		}
		if times := t.times(); len(times) == 1 {
			name := t.keys[0].typ() + ":" + names[t.keys[0]] + ":" + t.keys[1].typ()
			splits = append(splits, fmt.Sprintf("%s: {by: %s, ratios: [0.8, 0.1, 0.1]}", Scalar(name), Scalar(times[0].Name)))
		}
	}
	return splits
}

// The distinct texts up to which a category has a position for each, and the average bytes from which a text is one to hash.
const (
	mostOneHot = 64
	leastHash  = 32
)

// writeFeatures writes the key features of a type: the parts of one column x, from columns that are no ids, keys, labels or splits.
// Categories of many texts are codes in columns of their own.
func (d *drafter) writeFeatures(w *writer, columns []*column) {
	var parts, codes []string
	whys := map[string]string{} // of parts that are no matter of course
	for _, c := range columns {
		if isLabel(c) || c.divides() {
			continue
		}
		name := Scalar(c.Name)
		switch m := meaningOf(c); m.kind {
		case integer, float:
			scale := "standard"
			if c.cells.skewed() {
				scale = "normal-quantiles"
			}
			if c.cells.infinite > 0 {
				b := c.cells.bounds
				if b[0] == b[1] { // nothing to tell apart but infinities, and clip needs a range
					continue
				}
				part := fmt.Sprintf("{from: %s, clip: [%s, %s], impute: median, scale: %s}", name, strconv.FormatFloat(b[0], 'g', -1, 64), strconv.FormatFloat(b[1], 'g', -1, 64), scale)
				parts, whys[part] = append(parts, part), fmt.Sprintf("%s infinite values, which become the least or the largest of the others", human.Exact(int64(c.cells.infinite)))
				continue
			}
			parts = append(parts, fmt.Sprintf("{from: %s, impute: median, scale: %s}", name, scale))
		case boolean:
			parts = append(parts, fmt.Sprintf("{from: %s, encode: one-hot}", name))
		case moment:
			parts = append(parts, fmt.Sprintf("{from: %s, encode: calendar, parts: [year, month-cycle, weekday-cycle], impute: mean, scale: standard}", name))
		case category:
			if c.distinct > mostOneHot {
				codes = append(codes, codeOf(c, columns))
				continue
			}
			parts = append(parts, fmt.Sprintf("{from: %s, encode: one-hot, least: 10, unknown: other}", name))
		case labels:
			sep, distinct := c.tagged()
			part := fmt.Sprintf("{from: %s, encode: multi-hot, separator: %s}", name, yamltext.Quoted(sep))
			parts, whys[part] = append(parts, part), fmt.Sprintf("a text is a list of tags, of which there are %s", human.Exact(int64(distinct)))
		case words:
			if n := c.cells.texts.n; n > 0 && c.cells.bytes >= leastHash*n {
				parts = append(parts, fmt.Sprintf("{from: %s, encode: hash, dim: 64}", name))
			} else {
				codes = append(codes, codeOf(c, columns))
			}
		}
	}
	if len(parts)+len(codes) == 0 {
		return
	}
	w.line(2, "features:", "")
	if len(parts) > 0 {
		w.line(3, freeName("x", columns)+":", "")
		for _, p := range parts {
			w.line(4, "- "+strings.TrimSpace(p), whys[p])
		}
	}
	for _, c := range codes {
		w.line(3, c, "")
	}
}

// codeOf is the feature with the codes of a column of texts.
func codeOf(c *column, columns []*column) string {
	return fmt.Sprintf("%s: {from: %s, encode: code, unknown: 0}", Scalar(freeName(c.Name+"_code", columns)), Scalar(c.Name))
}

// freeName is a name of a feature that no column has.
func freeName(name string, columns []*column) string {
	for slices.ContainsFunc(columns, func(c *column) bool { return c.Name == name }) {
		name += "_"
	}
	return name
}
