package drawing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/layout"
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
	d.p = &report.Picture{Title: title}
	for _, t := range d.g.NodeTypes {
		d.p.Types = append(d.p.Types, t.Type)
	}
	for _, t := range d.g.EdgeTypes {
		d.p.Links = append(d.p.Links, t.Type.String())
	}
	for i := range d.g.Nodes {
		n := &d.g.Nodes[i]
		d.p.Nodes = append(d.p.Nodes, report.PictureNode{Type: n.Type, Seed: n.Seed, Name: d.name(n)})
	}
	d.addEdges()
	d.place()
	if err := d.label(); err != nil {
		return nil, err
	}
	return d.p, d.colour()
}

// name is what the pointer on a node shows.
func (d *drawer) name(n *picked.Node) string {
	s := d.g.NodeTypes[n.Type].Type + " " + d.g.ID(n).Text
	if n.Seed {
		return s + ", seed"
	}
	if n.Hop > 0 {
		s += fmt.Sprintf(", hop %d", n.Hop)
	}
	return s
}

// addEdges adds the edges, those with equal ends and types as one.
func (d *drawer) addEdges() {
	at := map[report.PictureEdge]int{}
	for _, e := range d.g.Edges {
		edge := report.PictureEdge{From: e.Source, To: e.Target, Link: e.Type}
		i, seen := at[edge]
		if !seen {
			i = len(d.p.Edges)
			at[edge] = i
			d.p.Edges = append(d.p.Edges, edge)
		}
		d.p.Edges[i].Count++
	}
}

// place lays the nodes out: by their hops from the seeds, or by forces where there are no seeds.
func (d *drawer) place() {
	var edges []layout.Edge
	for _, e := range d.p.Edges {
		edges = append(edges, layout.Edge{A: e.From, B: e.To})
	}
	var hops, seeds []int
	for i, n := range d.g.Nodes {
		hops = append(hops, n.Hop)
		if n.Seed {
			seeds = append(seeds, i)
			hops[i] = 0
		}
	}
	var points []layout.Point
	if len(seeds) == 0 {
		points = layout.Forces(len(d.g.Nodes), edges)
	} else {
		if slices.Min(hops) < 0 { // subgraphs of other kinds than directional ones have no hops
			hops = layout.Hops(len(hops), seeds, edges)
		}
		points, d.p.Radial = layout.Radial(hops, edges), true
	}
	for i, p := range points {
		if d.o.Label != "" && !d.p.Radial { // labels take room
			p.X, p.Y = p.X*8/5, p.Y*8/5
		}
		d.p.Nodes[i].X, d.p.Nodes[i].Y = p.X, p.Y
	}
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
	mostGroups = 8
	scaleSteps = 10
)

// colour gives each node a group: of its type, or of its value in a column.
func (d *drawer) colour() error {
	if d.o.Colour == "" {
		for t, name := range d.p.Types {
			d.p.Groups = append(d.p.Groups, report.PictureGroup{Name: name, Colour: t % mostGroups})
		}
		for i := range d.p.Nodes {
			d.p.Nodes[i].Group = d.p.Nodes[i].Type
			d.p.Groups[d.p.Nodes[i].Type].Nodes++
		}
		return nil
	}
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
