package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/yamltext"
)

// writer writes lines, and knows their numbers.
type writer struct {
	b     strings.Builder
	lines int
	at    map[string]int // lines by anchor
	terse bool           // comments after a text are left out
}

// longestComment is the most bytes of a comment. Lines of a graph.yaml are short.
const longestComment = 400

// line writes a line at a depth, with a comment that may be empty.
func (w *writer) line(depth int, text, comment string) {
	w.b.WriteString(strings.Repeat("  ", depth) + text)
	if comment != "" && (text == "" || !w.terse) {
		if text != "" {
			w.b.WriteString("  ")
		}
		w.b.WriteString("# " + human.Cut(human.Printable(strings.ToValidUTF8(comment, "?")), longestComment))
	}
	w.b.WriteString("\n")
	w.lines++
}

// marked is line, and remembers the number of the line.
func (w *writer) marked(anchor string, depth int, text, comment string) {
	w.line(depth, text, comment)
	if _, twice := w.at[anchor]; !twice {
		w.at[anchor] = w.lines
	}
}

// write writes the graph.yaml. One that would be larger than an import reads has no reasons, no features and no list of faults.
func (d *drafter) write() {
	d.writeFile(false)
	if len(d.out.YAML) <= yamlfile.MostBytes {
		return
	}
	d.out.Nodes, d.out.Edges = nil, nil
	d.writeFile(true)
	if n := len(d.out.YAML); n > yamlfile.MostBytes {
		d.out.Faults = append(d.out.Faults, Fault{Open: true, Found: fmt.Sprintf("a graph.yaml of %s for %s", human.Bytes(int64(n)), amount(uint64(len(d.columns)), "column")),
			Do: fmt.Sprintf("make it smaller than %s: join columns to vectors, as x: {from: f*, dtype: float32}, or leave some out", human.Bytes(yamlfile.MostBytes))})
	}
}

func (d *drafter) writeFile(terse bool) {
	w := &writer{at: map[string]int{}, terse: terse}
	w.line(0, "", fmt.Sprintf("Drafted by graphmill draft from %s with %s. Check the guesses: each line says why.", human.Counted(int64(len(d.Tables)), "table"), amount(d.out.Rows, "row")))
	if terse {
		w.line(0, "", "Reasons, faults and features are left out, since a graph.yaml has at most "+human.Bytes(yamlfile.MostBytes)+".")
	} else if n := len(d.out.Faults); n > 0 {
		w.line(0, "", fmt.Sprintf("The end of this file lists %s of the tables.", human.Counted(int64(n), "fault")))
	}
	for _, n := range d.Notes {
		w.line(0, "", n)
	}
	if d.Address != "" {
		w.line(0, "source: "+Scalar(d.Address), "")
	}
	if d.hasFault(anchorDuplicates) {
		w.marked(anchorDuplicates, 0, "", "duplicate_nodes: drop")
	}
	if d.hasFault(anchorDangling) {
		w.marked(anchorDangling, 0, "", "dangling_edges: drop")
	}
	if !w.terse {
		d.writeFit(w)
	}
	w.line(0, "nodes:", "")
	for _, t := range d.Tables {
		if !t.edge && len(t.Fields) > 0 {
			d.writeNode(w, t)
		}
	}
	if slices.ContainsFunc(d.Tables, func(t *Table) bool {
		return slices.ContainsFunc(t.keys, func(k *key) bool { return k.to == nil })
	}) {
		w.line(1, implicitType+": {}", "the ends of edges, which no table has as ids")
		d.out.Nodes = append(d.out.Nodes, Type{Name: implicitType})
	}
	names := d.relations()
	none := ""
	if len(names) == 0 {
		none = " {}"
	}
	w.marked(anchorEdges, 0, "edges:"+none, "")
	for _, t := range d.Tables {
		if t.edge {
			d.writeLinks(w, t, names[t.keys[0]])
			continue
		}
		for _, k := range t.keys {
			d.writeForeign(w, t, k, names[k])
		}
	}
	d.writeSplits(w)
	d.settle(w.at)
	if len(d.out.Faults) > 0 && !terse {
		w.line(0, "", "")
		w.line(0, "", "Faults of the tables, with the first place of each:")
		for _, f := range d.out.Faults {
			mark := "-"
			if f.Open {
				mark = "!"
			}
			w.line(0, "", mark+" "+f.Text())
		}
		if d.open() {
			w.line(0, "", "! needs a decision before the tables can be imported.")
		}
	}
	d.out.YAML = []byte(w.b.String())
}

// open says whether a fault needs a decision.
func (d *drafter) open() bool {
	return slices.ContainsFunc(d.out.Faults, func(f Fault) bool { return f.Open })
}

// hasFault says whether a line settles a fault.
func (d *drafter) hasFault(anchor string) bool {
	return slices.ContainsFunc(d.out.Faults, func(f Fault) bool { return f.anchor == anchor })
}

// writeKeys writes the lines that name a table and say how it is read.
func (t *Table) writeKeys(w *writer) {
	for _, k := range t.Keys {
		w.line(2, k, "")
	}
	if line, why := t.missingLine(); line != "" {
		w.line(2, line, why)
	}
}

// writeNode writes a node type.
func (d *drafter) writeNode(w *writer, t *Table) {
	d.out.Nodes = append(d.out.Nodes, Type{t.Name, t.Name, t.rows})
	w.marked(anchorOf(t, ""), 1, Scalar(t.Name)+":", amount(t.rows, "row"))
	t.writeKeys(w)
	if t.id == nil {
		w.line(2, "id: null", "no column is an id: the rows are numbered")
	} else {
		dtype := "string"
		if d.integerIDs(t) {
			dtype = "integer"
		}
		w.marked(anchorOf(t, t.id.Name), 2, fmt.Sprintf("id: {column: %s, dtype: %s}", Scalar(t.id.Name), dtype), t.why+d.referrers(t))
	}
	var own []*column
	for _, c := range t.columns {
		if c != t.id && !t.isKey(c) {
			own = append(own, c)
		}
	}
	d.writeColumns(w, t, own)
	if !w.terse {
		d.writeFeatures(w, own)
	}
}

// isKey says whether a column is a key.
func (t *Table) isKey(c *column) bool {
	return slices.ContainsFunc(t.keys, func(k *key) bool { return k.column == c })
}

// times are the columns of times of a table that are neither its id nor keys.
func (t *Table) times() (times []*column) {
	for _, c := range t.columns {
		if c != t.id && !t.isKey(c) && meaningOf(c).kind == moment {
			times = append(times, c)
		}
	}
	return times
}

// referrers names columns that refer to a table.
func (d *drafter) referrers(t *Table) string {
	var names []string
	for _, o := range d.Tables {
		for _, k := range o.keys {
			if k.to == t {
				names = append(names, o.Name+"."+k.column.Name)
			}
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return ", and " + names[0] + " refers to it"
	case n > 3:
		return fmt.Sprintf(", and %s and %d others refer to it", strings.Join(names[:2], ", "), n-2)
	default:
		return ", and " + strings.Join(names, ", ") + " refer to it"
	}
}

// writeColumns writes the columns of a type.
func (d *drafter) writeColumns(w *writer, t *Table, columns []*column) {
	if len(columns) == 0 {
		w.line(2, "columns: {}", "")
		return
	}
	w.line(2, "columns:", "")
	for _, c := range columns {
		m := meaningOf(c)
		value, why := Scalar(m.dtype), m.why
		if m.missing != "" {
			value = fmt.Sprintf("{dtype: %s, missing: %s}", value, m.missing)
		}
		if strings.EqualFold(c.Name, "split") && isPlainSplit(splitOf(c)) {
			value, why = "{categories: [train, valid, test]}", why+"; says which rows are for training"
		} else if c.divides() {
			why += "; says which rows are for training"
		}
		if isLabel(c) {
			why += "; named as a label"
		}
		if len(c.maybe) > 0 {
			why += fmt.Sprintf("; %s have all its values as ids, and the name does not say whether it is a key", strings.Join(c.maybe, " and "))
		}
		if n := c.cells.empty.n; n > 0 {
			why += "; " + amount(n, "empty cell")
		}
		if n := c.gone().n; n > 0 {
			why += "; " + amount(n, "cell") + " of missing_texts"
		}
		w.marked(anchorOf(t, c.Name), 3, Scalar(c.Name)+": "+value, why)
	}
}

// isPlainSplit says whether the parts of a split have the names that a split of an import has.
func isPlainSplit(parts map[string][]string) bool {
	for part, texts := range parts {
		if len(texts) != 1 || texts[0] != part {
			return false
		}
	}
	return parts != nil
}

// writeLinks writes the edge type of a table whose rows are edges.
func (d *drafter) writeLinks(w *writer, t *Table, rel string) {
	src, dst := t.keys[0], t.keys[1]
	name := src.typ() + ":" + rel + ":" + dst.typ()
	d.out.Edges = append(d.out.Edges, Type{name, t.Name, t.rows})
	why := fmt.Sprintf("%s, each an edge: the table has two keys, and nothing refers to it", amount(t.rows, "row"))
	if t.id != nil && !t.isKey(t.id) {
		why += fmt.Sprintf("; its id %s is left out, as edges have none", t.id.Name)
	}
	w.marked(anchorOf(t, ""), 1, Scalar(name)+":", why)
	t.writeKeys(w)
	w.marked(anchorOf(t, src.column.Name), 2, "src: "+Scalar(src.column.Name), src.why)
	w.marked(anchorOf(t, dst.column.Name), 2, "dst: "+Scalar(dst.column.Name), dst.why)
	w.line(2, "reverse: "+Scalar("rev_"+rel), "")
	d.out.Edges = append(d.out.Edges, Type{dst.typ() + ":rev_" + rel + ":" + src.typ(), t.Name, t.rows})
	var own []*column
	for _, c := range t.columns {
		if c != t.id && !t.isKey(c) {
			own = append(own, c)
		}
	}
	d.writeColumns(w, t, own)
	if !w.terse {
		d.writeFeatures(w, own)
	}
}

// writeForeign writes the edge type of a foreign key. Its edges have the time of their rows, if that is one column.
func (d *drafter) writeForeign(w *writer, t *Table, k *key, rel string) {
	name := t.Name + ":" + rel + ":" + k.typ()
	d.out.Edges = append(d.out.Edges, Type{name, t.Name, k.column.filled()})
	w.line(1, Scalar(name)+":", "")
	t.writeKeys(w)
	w.marked(anchorOf(t, k.column.Name), 2, "dst: "+Scalar(k.column.Name), k.why)
	w.line(2, "reverse: "+Scalar("rev_"+rel), "")
	d.out.Edges = append(d.out.Edges, Type{k.typ() + ":rev_" + rel + ":" + t.Name, t.Name, k.column.filled()})
	if times := t.times(); len(times) == 1 {
		d.writeColumns(w, t, times)
	} else {
		w.line(2, "columns: {}", "")
	}
}

var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./+-]*(:[A-Za-z_][A-Za-z0-9_.+-]*)*$`)

// yamlWords are texts that YAML may take for something else.
var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}

// Scalar is a text as a value in YAML: as it is, or in quotes.
func Scalar(s string) string {
	if plainScalar.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\'' }) {
		return "'" + s + "'"
	}
	return yamltext.Quoted(s)
}

// listText is a list of texts in YAML.
func listText(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = Scalar(s)
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			out[i] = s
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}
