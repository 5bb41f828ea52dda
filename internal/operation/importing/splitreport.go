package importing

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// mostClasses is how many classes of a column a report lists at most.
const mostClasses = 50

// labels are columns whose classes a report counts in each part, where no split names one.
var labels = []string{"label", "y", "class", "target"}

// parted is a column with the parts of the rows of a type.
type parted struct {
	typ  string
	c    *graph.Column
	rows int
	// classes is a column whose values are counted, too; nil: none.
	classes *graph.Column
}

// partedOf returns the columns of splits among the columns of a type.
func partedOf(typ string, columns []*graph.Column, rows int, splits []option.Split) (out []parted) {
	classes := classesOf(typ, columns, splits)
	for _, c := range columns {
		number, numbered := strings.CutPrefix(c.Name, transform.SplitColumn+"_")
		if _, err := strconv.Atoi(number); c.Name != transform.SplitColumn && (!numbered || err != nil) {
			continue
		}
		if c.Categories != nil && len(c.Shape) == 0 && slices.Equal(textsOf(c.Categories), transform.Parts) {
			out = append(out, parted{typ, c, rows, classes})
		}
	}
	slices.SortStableFunc(out, func(a, b parted) int { return cmp.Compare(len(a.c.Name), len(b.c.Name)) })
	return out
}

// classesOf is the column by which a type was stratified, or its label.
func classesOf(typ string, columns []*graph.Column, splits []option.Split) *graph.Column {
	names := labels
	for _, s := range splits {
		if s.Stratify != "" && (s.Of == typ || s.Of == "" || strings.HasPrefix(s.Of, typ+".")) {
			names = []string{s.Stratify}
		}
	}
	for _, name := range names {
		c := graph.FindColumn(columns, name)
		if c != nil && len(c.Shape) == 0 && c.Unit == "" && (c.DType == graph.String || c.DType == graph.Bool || c.DType.IsInt()) {
			return c
		}
	}
	return nil
}

// ratiosOf are the ratios by which a type was divided, or nil.
func ratiosOf(typ string, splits []option.Split) []float64 {
	for _, s := range splits {
		if s.Of == typ || s.Of == "" || strings.HasPrefix(s.Of, typ+".") {
			return s.Ratios
		}
	}
	return nil
}

func textsOf(c *graph.Column) (out []string) {
	for i := range c.Rows {
		out = append(out, string(c.Text(i)))
	}
	return out
}

// reportSplits reports the sizes of the parts of each type, and of each class in each part.
func reportSplits(r *report.Report, s *store.Store, splits []option.Split) error {
	var all []parted
	for _, n := range s.Graph.Nodes {
		all = append(all, partedOf(n.Type, n.Columns, n.Count, splits)...)
	}
	for _, e := range s.Graph.Edges {
		all = append(all, partedOf(e.Type.String(), e.Columns, e.Count, splits)...)
	}
	if len(all) == 0 {
		return nil
	}
	sizes := report.Table{Title: "Splits", Columns: append(append([]string{"type", "column"}, transform.Parts...), "in no part")}
	var lines []string
	var tables []report.Table
	for i := range all {
		p := &all[i]
		first := p.c.Name == transform.SplitColumn || p.c.Name == transform.SplitColumn+"_0"
		if !first || p.rows > fewValues {
			p.classes = nil
		}
		total, classes := p.count()
		if err := s.Touched(int64(p.rows) * 4); err != nil {
			return err
		}
		row := []report.Value{report.Text(p.typ), report.Text(p.c.Name)}
		for _, n := range total {
			row = append(row, report.Count(n, ""))
		}
		sizes.Rows = append(sizes.Rows, row)
		if first && len(splits) > 0 {
			lines = append(lines, p.line(total))
		}
		for k, ratio := range ratiosOf(p.typ, splits) {
			if ratio > 0 && total[k] == 0 && p.rows > 0 {
				r.Note(fmt.Sprintf("split: no row of %s is in the part %s, whose ratio is %g", p.typ, transform.Parts[k], ratio))
			}
		}
		if classes != nil {
			tables = append(tables, p.classTable(total, classes))
		}
	}
	for _, t := range append([]report.Table{sizes}, tables...) {
		r.Table(t)
	}
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("the report has %d more", len(lines)-most))
	}
	if lines != nil {
		r.Note("split: " + strings.Join(lines, "; "))
	}
	return nil
}

// line is the sizes of the parts in a few words.
func (p *parted) line(total [4]int) string {
	var words []string
	for k, n := range total {
		if n > 0 {
			words = append(words, append(slices.Clone(transform.Parts), "in no part")[k]+" "+human.Exact(int64(n)))
		}
	}
	what := p.typ
	if p.c.Name != transform.SplitColumn {
		what += "/" + p.c.Name
	}
	return what + " " + strings.Join(words, ", ")
}

// count counts the rows of each part, the last in no part, and the rows of each class; nil where there are none, or too many.
func (p *parted) count() (total [4]int, classes map[string]*[4]int) {
	if p.classes != nil {
		classes = map[string]*[4]int{}
	}
	var buf []byte
	for row, code := range graph.View[int32](p.c.Values)[:p.rows] {
		part := int(code)
		if part < 0 || part > len(transform.Parts) {
			part = len(transform.Parts)
		}
		total[part]++
		if classes == nil {
			continue
		}
		buf = transform.AppendText(buf[:0], p.classes, row)
		if len(buf) == 0 {
			buf = append(buf, "(missing)"...)
		}
		c := classes[string(buf)]
		if c == nil {
			if len(classes) == mostClasses {
				classes = nil
				continue
			}
			c = &[4]int{}
			classes[string(buf)] = c
		}
		c[part]++
	}
	return total, classes
}

// classTable is the rows and the shares of the classes in each part.
func (p *parted) classTable(total [4]int, classes map[string]*[4]int) report.Table {
	t := report.Table{Title: fmt.Sprintf("Classes of %s/%s by %s", p.typ, p.classes.Name, p.c.Name), Columns: []string{"class"}}
	for _, part := range transform.Parts {
		t.Columns = append(t.Columns, part, "share of "+part)
	}
	t.Columns = append(t.Columns, "in no part")
	var names []string
	for name := range classes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row := []report.Value{report.Text(name)}
		for k := range transform.Parts {
			row = append(row, report.Count(classes[name][k], ""), report.Share(float64(classes[name][k])/float64(max(total[k], 1))))
		}
		t.Rows = append(t.Rows, append(row, report.Count(classes[name][len(transform.Parts)], "")))
	}
	return t
}
