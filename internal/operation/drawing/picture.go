package drawing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/export/picture"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// drawer makes a picture of a graph.
type drawer struct {
	g *picked.Graph
	o *option.Picture
	p *report.Picture
}

// idLabel is the label that stands for the ids of nodes, where no column has its name.
const idLabel = "id"

func (d *drawer) picture(title string) (*report.Picture, error) {
	d.p = picture.Of(d.g, title, d.o.Label != "")
	if err := d.label(); err != nil {
		return nil, err
	}
	return d.p, d.colour()
}

// label adds the labels that were asked for.
func (d *drawer) label() error {
	if d.o.Label == "" {
		return nil
	}
	columns, err := columnOf(d.g, "Label", d.o.Label)
	if err != nil && d.o.Label != idLabel {
		return err
	}
	for i := range d.g.Nodes {
		n := &d.g.Nodes[i]
		switch {
		case err != nil: // the ids
			d.p.Nodes[i].Label = d.g.ID(n).Text
		case columns[n.Type] != nil:
			d.p.Nodes[i].Label = columns[n.Type].Text(n.Row)
		}
	}
	return nil
}

// mostGroups is the most texts that have a colour of their own, and scaleSteps the colours of a scale.
const (
	mostGroups = picture.Colours
	scaleSteps = 10
)

// colour gives each node the group of its value in a column, in place of its type, where one was asked for.
func (d *drawer) colour() error {
	if d.o.Colour == "" {
		return nil
	}
	d.p.Groups = nil
	columns, err := columnOf(d.g, "Colour", d.o.Colour)
	if err != nil {
		return err
	}
	d.p.By = d.o.Colour
	numbers := true
	for _, c := range columns {
		if c == nil {
			continue
		}
		if kind := picked.KindOf(c.Column); kind == picked.Text || kind == picked.Bool {
			numbers = false
		}
	}
	if numbers {
		d.byNumber(columns)
	} else {
		d.byText(columns)
	}
	return nil
}

// byNumber colours by a scale from the least to the greatest number.
func (d *drawer) byNumber(columns []*picked.Series) {
	values := make([]float64, len(d.g.Nodes))
	texts := make([]string, len(d.g.Nodes))
	least, greatest := math.Inf(1), math.Inf(-1)
	distinct := map[float64]bool{}
	for i := range d.g.Nodes {
		n := &d.g.Nodes[i]
		values[i] = math.NaN()
		if c := columns[n.Type]; c != nil {
			if v := c.At(n.Row); v.Kind != picked.Missing && !math.IsInf(v.Of, 0) {
				values[i], texts[i] = v.Of, c.Text(n.Row)
			}
		}
		if v := values[i]; !math.IsNaN(v) {
			least, greatest, distinct[v] = min(least, v), max(greatest, v), true
		}
	}
	steps := min(scaleSteps, len(distinct))
	step := func(v float64) int {
		if steps < 2 {
			return 0
		}
		part := float64(v/2-least/2) / float64(greatest/2-least/2) // halves, so that no difference overflows
		return min(steps-1, int(float64(part*float64(steps))))
	}
	of := make([]int, len(values)) // the step of each node; -1 without a value
	first, last := make([]int, steps), make([]int, steps)
	for s := range steps {
		first[s], last[s] = -1, -1
	}
	for i, v := range values {
		if of[i] = -1; math.IsNaN(v) {
			continue
		}
		s := step(v)
		of[i] = s
		if first[s] < 0 || v < values[first[s]] {
			first[s] = i
		}
		if last[s] < 0 || v > values[last[s]] {
			last[s] = i
		}
	}
	group := make([]int, steps)
	for s := range steps {
		if first[s] < 0 {
			continue
		}
		name := texts[first[s]]
		if values[first[s]] != values[last[s]] {
			name += " to " + texts[last[s]]
		}
		colour := 0
		if steps > 1 {
			colour = s * (scaleSteps - 1) / (steps - 1)
		}
		group[s] = d.group(report.PictureGroup{Name: name, Colour: colour, Scale: true})
	}
	d.assign(of, group)
}

// byText colours by texts: the most frequent ones have a colour each.
func (d *drawer) byText(columns []*picked.Series) {
	of := make([]int, len(d.g.Nodes))
	number := map[string]int{}
	var texts []string
	var counts []int
	for i := range d.g.Nodes {
		n := &d.g.Nodes[i]
		of[i] = -1
		c := columns[n.Type]
		if c == nil || c.At(n.Row).Kind == picked.Missing {
			continue
		}
		text := c.Text(n.Row)
		k, seen := number[text]
		if !seen {
			k = len(texts)
			number[text] = k
			texts, counts = append(texts, text), append(counts, 0)
		}
		of[i] = k
		counts[k]++
	}
	order := make([]int, len(texts))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(texts[a], texts[b])) })
	group := make([]int, len(texts))
	rest := -1
	for i, k := range order {
		if i < mostGroups {
			group[k] = d.group(report.PictureGroup{Name: texts[k], Colour: i})
			continue
		}
		if rest < 0 {
			rest = d.group(report.PictureGroup{Name: fmt.Sprintf("%d others", len(texts)-mostGroups), Colour: -1})
		}
		group[k] = rest
	}
	d.assign(of, group)
}

// group adds a group.
func (d *drawer) group(g report.PictureGroup) int {
	d.p.Groups = append(d.p.Groups, g)
	return len(d.p.Groups) - 1
}

// assign sets the groups of nodes, by the number of their value; -1 has none.
func (d *drawer) assign(of, group []int) {
	none := -1
	for i, k := range of {
		at := none
		if k >= 0 {
			at = group[k]
		} else if none < 0 {
			none = d.group(report.PictureGroup{Name: "none", Colour: -2})
			at = none
		}
		d.p.Nodes[i].Group = at
		d.p.Groups[at].Nodes++
	}
}
