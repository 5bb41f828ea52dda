package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/graphmill/graphmill/internal/human"
)

// profileView is a row of the table of columns.
type profileView struct {
	Name  string
	Part  bool // of the rows of a part of the split, below the line of all rows
	Cells []cell
	SVG   template.HTML // its histogram; "": none
	Top   string
}

// profileHead names the numbers of profileView.
var profileHead = []string{"rows", "missing", "distinct", "least", "median", "greatest", "mean"}

// profileViews are the rows of the table of columns.
func profileViews(profiles []ColumnProfile) []profileView {
	var rows []profileView
	for i := range profiles {
		p := &profiles[i]
		v := profileView{Name: human.Printable(p.Type) + "/" + human.Printable(p.Name), Top: p.topText()}
		if p.Part != "" {
			v.Name, v.Part = human.Printable(p.Part), true
		}
		for _, n := range []int64{p.Rows, p.Missing, p.Distinct} {
			v.Cells = append(v.Cells, viewOf("", Count(n, "")))
		}
		if p.Uncounted {
			v.Cells[len(v.Cells)-1] = cell{Value: "many", Numeric: true}
		}
		n := p.Numbers
		if n == nil {
			v.Cells = append(v.Cells, make([]cell, len(profileHead)-len(v.Cells))...)
			rows = append(rows, v)
			continue
		}
		for _, x := range []float64{n.Least, n.median(), n.Greatest, n.Mean} {
			v.Cells = append(v.Cells, cell{Value: p.numberText(x), Exact: fmt.Sprint(x), Numeric: true})
		}
		v.SVG = sparkline(fmt.Sprintf("spark-%d", i), p)
		rows = append(rows, v)
	}
	return rows
}

const (
	sparkBar    = 5.0 // width of a range
	sparkHeight = 22.0
)

// sparkline draws the histogram of a profile.
func sparkline(id string, p *ColumnProfile) template.HTML {
	n := p.Numbers
	d := newDrawing(id, sparkBar*float64(len(n.Histogram)), sparkHeight, "Histogram", fmt.Sprintf("%d ranges of equal width from %s to %s", len(n.Histogram), p.numberText(n.Least), p.numberText(n.Greatest)))
	most := float64(max(1, slices.Max(n.Histogram)))
	edge := func(i int) float64 { // of range i; a sum of two parts does not overflow
		share := float64(i) / float64(len(n.Histogram))
		return float64(n.Least*(1-share)) + float64(n.Greatest*share)
	}
	for i, count := range n.Histogram {
		if count == 0 {
			continue
		}
		h := max(1, (sparkHeight-1)*float64(count)/most)
		hover := fmt.Sprintf("%s to %s: %s", p.numberText(edge(i)), p.numberText(edge(i+1)), human.Exact(count))
		d.rect("bar s0", hover, sparkBar*float64(i), sparkHeight-h, sparkBar-1, h)
	}
	return d.end()
}
