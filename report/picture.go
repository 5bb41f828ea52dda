package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

//go:embed picture.css
var pictureStyle string

// MostPictured is the most nodes of a picture, and mostPicturedEdges the most edges.
const (
	MostPictured      = 300
	mostPicturedEdges = 10 * MostPictured
)

// Picture is a small graph with places for its nodes.
type Picture struct {
	Title string `json:"title"`
	// Types are the names of the node types: PictureNode.Type is an index. Each has a shape.
	Types []string `json:"types"`
	// By says what colours mean: "" for the types, else the name of a column.
	By string `json:"by,omitempty"`
	// Groups are the colours.
	Groups []PictureGroup `json:"groups"`
	// Links are the names of the edge types: PictureEdge.Link is an index.
	Links []string `json:"links"`
	// Radial says that the nodes stand around the place 0, 0, so that labels point away from it.
	Radial bool          `json:"radial,omitempty"`
	Nodes  []PictureNode `json:"nodes"`
	Edges  []PictureEdge `json:"edges"`
}

// PictureGroup is a colour and what it means.
type PictureGroup struct {
	Name string `json:"name"`
	// Colour is 0 to 7 of the colours for kinds, or 0 to 9 of the scale from small to large; -1 is the one for all others, -2 none.
	Colour int  `json:"colour"`
	Scale  bool `json:"scale,omitempty"`
	Nodes  int  `json:"nodes"`
}

// PictureNode is a node. X and Y are in tenths of a unit.
type PictureNode struct {
	X     int    `json:"x"`
	Y     int    `json:"y"`
	Type  int    `json:"type"`
	Group int    `json:"group"`
	Seed  bool   `json:"seed,omitempty"`
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
}

// PictureEdge is an edge, by the indices of its ends.
type PictureEdge struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Link  int `json:"link"`
	Count int `json:"count"` // how often the graph has it
}

// Picture adds a picture.
func (r *Report) Picture(p Picture) { r.Pictures = append(r.Pictures, p) }

// farthest bounds the coordinates of nodes.
const farthest = 1 << 20

func (p *Picture) check() error {
	if len(p.Nodes) > MostPictured || len(p.Edges) > mostPicturedEdges {
		return fmt.Errorf("found %d nodes and %d edges, expected at most %d and %d", len(p.Nodes), len(p.Edges), MostPictured, mostPicturedEdges)
	}
	for i, g := range p.Groups {
		if g.Colour < -2 || g.Colour > 9 || g.Colour > 7 && !g.Scale || g.Nodes < 0 {
			return fmt.Errorf("group %d: found colour %d and %d nodes, expected -2 to 7, or to 9 of a scale, and no negative number", i, g.Colour, g.Nodes)
		}
	}
	for i, n := range p.Nodes {
		if max(n.X, n.Y) > farthest || min(n.X, n.Y) < -farthest || n.Type < 0 || n.Type >= len(p.Types) || n.Group < 0 || n.Group >= len(p.Groups) {
			return fmt.Errorf("node %d: found %+v, expected a place near 0 and a type and group of the picture", i, n)
		}
	}
	for i, e := range p.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= len(p.Nodes) || e.Link < 0 || e.Link >= len(p.Links) {
			return fmt.Errorf("edge %d: found %+v, expected nodes and a link of the picture", i, e)
		}
	}
	return nil
}

// SVG is the picture as a file of its own.
func (p *Picture) SVG() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%w: picture: %w", errInvalid, err)
	}
	text := string(p.draw("picture"))
	style := `<style>` + pictureColours() + pictureStyle + `</style>`
	head, rest, _ := strings.Cut(text, "</desc>")
	return []byte(strings.Replace(head, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1) + "</desc>" + style + rest + "\n"), nil
}

// pictureColours are the lines of the page's style that define colours.
func pictureColours() string {
	root, rest, _ := strings.Cut(pageStyle, "\n* {")
	var b strings.Builder
	b.WriteString(root)
	for line := range strings.Lines(rest) {
		if strings.Contains(line, "-c: var(--") {
			b.WriteString("\n" + strings.TrimSpace(line))
		}
	}
	return b.String()
}

// figure is the picture on the page.
func (p *Picture) figure(id string) figure {
	f := figure{ID: id, Title: human.Printable(p.Title), SVG: p.draw(id), Wide: true, SeriesTitle: "colours", SeriesHead: []string{"nodes"}}
	for _, g := range p.Groups {
		n := int64(g.Nodes)
		f.Series = append(f.Series, seriesView{human.Printable(g.Name), g.class(), []cell{viewOf("nodes", Value{Count: &n})}})
	}
	return f
}

func (g *PictureGroup) class() string {
	switch {
	case g.Colour == -1:
		return "rest"
	case g.Colour < 0:
		return "none"
	case g.Scale:
		return "h" + strconv.Itoa(g.Colour)
	}
	return "s" + strconv.Itoa(g.Colour)
}

// Sizes of a picture, in units.
const (
	nodeRadius  = 5.0
	seedRadius  = 8.5
	pictureEdge = 26.0  // around the nodes
	labelRoom   = 120.0 // beside them, where nodes have labels
	leastWidth  = 420.0
	legendLine  = 18.0
	mostLabel   = 20 // characters
)

// tenth rounds to a tenth of a unit, so that the last digit is the same on every machine.
func tenth(v float64) float64 { return math.Round(float64(v*10)) / 10 }

// draw draws the picture.
func (p *Picture) draw(id string) template.HTML {
	left, top, right, bottom := p.bounds()
	legend := p.legend(right-left, pictureScale(right-left))
	height := bottom - top + legend.height
	d := newDrawing(id, tenth(right-left), tenth(height), p.Title, p.describe())
	d.b.WriteString(`<g class="picture">`)
	d.rect("sheet", "", 0, 0, tenth(right-left), tenth(height))
	dashes := p.dashes()
	for i := range p.Edges {
		p.drawEdge(d, i, dashes, left, top)
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		x, y := tenth(float64(float64(n.X)/10)-left), tenth(float64(float64(n.Y)/10)-top)
		if n.Seed {
			fmt.Fprintf(&d.b, `<circle class="halo" cx="%s" cy="%s" r="%s"/>`, coord(x), coord(y), coord(seedRadius))
		}
		drawShape(d, "node "+p.Groups[n.Group].class(), n.Name, n.Type, x, y, nodeRadius)
	}
	middle := (left + right) / 2
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Label == "" {
			continue
		}
		x, y := float64(float64(n.X)/10), tenth(float64(float64(n.Y)/10)-top+3)
		label := human.Cut(human.Printable(n.Label), mostLabel)
		if far := 2 * seedRadius * 10; p.Radial && max(math.Abs(float64(n.X)), math.Abs(float64(n.Y))) > far && !n.Seed {
			p.drawTilted(d, n, label, left, top)
			continue
		}
		if x < middle-1 {
			d.text("mark end", tenth(x-left-seedRadius-2), y, label)
		} else {
			d.text("mark", tenth(x-left+seedRadius+2), y, label)
		}
	}
	legend.draw(d, bottom-top)
	d.b.WriteString("</g>")
	return d.end()
}

// drawTilted writes a label that points away from the middle.
func (p *Picture) drawTilted(d *drawing, n *PictureNode, label string, left, top float64) {
	degrees := math.Round(float64(math.Atan2(float64(n.Y), float64(n.X)) * (180 / math.Pi)))
	class, from := "mark", nodeRadius+4
	if n.X < 0 {
		class, from, degrees = "mark end", -from, degrees+180
	}
	x, y := tenth(float64(n.X)/10-left), tenth(float64(n.Y)/10-top)
	fmt.Fprintf(&d.b, `<text class="%s" transform="translate(%s %s)rotate(%s)" x="%s" y="3">%s</text>`, class, coord(x), coord(y), coord(degrees), coord(from), escape(label))
}

// bounds are the sides of the drawing of the nodes.
func (p *Picture) bounds() (left, top, right, bottom float64) {
	labels := false
	for i, n := range p.Nodes {
		x, y := float64(n.X)/10, float64(n.Y)/10
		if i == 0 {
			left, top, right, bottom = x, y, x, y
		}
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
		labels = labels || n.Label != ""
	}
	room := pictureEdge
	if labels {
		room = labelRoom
	}
	above := pictureEdge
	if labels && p.Radial {
		above = labelRoom
	}
	left, top, right, bottom = left-room, top-above, right+room, bottom+above
	if more := leastWidth - (right - left); more > 0 {
		left, right = left-more/2, right+more/2
	}
	return tenth(left), tenth(top), tenth(right), tenth(bottom)
}

// pictureScale is how much larger a legend is written in a wide picture, which is shown smaller.
func pictureScale(width float64) float64 { return max(1, tenth(width/900)) }

// describe is the text for those who do not see the picture.
func (p *Picture) describe() string {
	var parts []string
	for t, name := range p.Types {
		n, seeds := 0, 0
		for i := range p.Nodes {
			if p.Nodes[i].Type == t {
				n++
				if p.Nodes[i].Seed {
					seeds++
				}
			}
		}
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s of %s", n, human.Things(int64(n), "nodes"), name)
		if seeds > 0 {
			part += fmt.Sprintf(", %d of them seeds", seeds)
		}
		parts = append(parts, part)
	}
	for _, l := range p.usedLinks() {
		n, name := 0, p.Links[l]
		for _, e := range p.Edges {
			if e.Link == l {
				n += e.Count
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s of %s", n, human.Things(int64(n), "edges"), name))
	}
	return strings.Join(parts, "; ") + "."
}

// drawEdge draws an edge with its direction. Where there is one in the other direction too, both stand beside each other.
func (p *Picture) drawEdge(d *drawing, i int, dashes []int, left, top float64) {
	e := &p.Edges[i]
	from, to := &p.Nodes[e.From], &p.Nodes[e.To]
	hover := fmt.Sprintf("%s: %s → %s", p.Links[e.Link], from.Name, to.Name)
	if e.Count > 1 {
		hover += fmt.Sprintf(", %d times", e.Count)
	}
	class := "edge e" + strconv.Itoa(dashes[e.Link])
	x1, y1 := float64(float64(from.X)/10)-left, float64(float64(from.Y)/10)-top
	x2, y2 := float64(float64(to.X)/10)-left, float64(float64(to.Y)/10)-top
	dx, dy := x2-x1, y2-y1
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if length < 2*nodeRadius {
		if e.From == e.To {
			d.element("path", hover, "class", class, "d", fmt.Sprintf("M%s %sa6 6 0 1 1 5 0", coord(tenth(x1-2.5)), coord(tenth(y1-nodeRadius))))
		}
		return
	}
	ux, uy := float64(dx/length), float64(dy/length)
	if p.both(e) {
		x1, y1, x2, y2 = x1-float64(2*uy), y1+float64(2*ux), x2-float64(2*uy), y2+float64(2*ux)
	}
	stop := nodeRadius + 1.0
	if to.Seed {
		stop = seedRadius + 1
	}
	begin := nodeRadius
	if from.Seed {
		begin = seedRadius
	}
	x1, y1 = x1+float64(begin*ux), y1+float64(begin*uy)
	x2, y2 = x2-float64(stop*ux), y2-float64(stop*uy)
	bx, by := x2-float64(5*ux), y2-float64(5*uy) // of the tip
	d.element("path", hover, "class", class, "d", fmt.Sprintf("M%s %sL%s %s", coord(tenth(x1)), coord(tenth(y1)), coord(tenth(bx)), coord(tenth(by))))
	d.element("path", "", "class", "tip", "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", coord(tenth(x2)), coord(tenth(y2)),
		coord(tenth(bx-float64(2.2*uy))), coord(tenth(by+float64(2.2*ux))), coord(tenth(bx+float64(2.2*uy))), coord(tenth(by-float64(2.2*ux)))))
}

// mostDashes is how many edge types have a line of their own.
const mostDashes = 4

// usedLinks are the edge types that the picture has edges of.
func (p *Picture) usedLinks() (list []int) {
	for k := range p.Links {
		if slices.ContainsFunc(p.Edges, func(e PictureEdge) bool { return e.Link == k }) {
			list = append(list, k)
		}
	}
	return list
}

// dashes are the lines of the edge types. More than a few are drawn alike.
func (p *Picture) dashes() []int {
	dashes := make([]int, len(p.Links))
	if used := p.usedLinks(); len(used) <= mostDashes {
		for i, k := range used {
			dashes[k] = i
		}
	}
	return dashes
}

// both says whether there is an edge in the other direction.
func (p *Picture) both(e *PictureEdge) bool {
	return slices.ContainsFunc(p.Edges, func(o PictureEdge) bool { return o.From == e.To && o.To == e.From })
}

// drawShape draws the shape of a node type around a place.
func drawShape(d *drawing, class, hover string, kind int, x, y, r float64) {
	at := func(v float64) string { return coord(tenth(v)) }
	switch (kind + kind/8) % 4 { // types of one colour differ by their shape
	case 1:
		d.rect(class, hover, tenth(x-0.9*r), tenth(y-0.9*r), tenth(1.8*r), tenth(1.8*r))
	case 2:
		r *= 1.25
		d.element("path", hover, "class", class, "d", fmt.Sprintf("M%s %sL%s %sL%s %sL%s %sZ", at(x), at(y-r), at(x+r), at(y), at(x), at(y+r), at(x-r), at(y)))
	case 3:
		r *= 1.2
		d.element("path", hover, "class", class, "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", at(x), at(y-r), at(x+r), at(y+0.75*r), at(x-r), at(y+0.75*r)))
	default:
		d.element("circle", hover, "class", class, "cx", coord(x), "cy", coord(y), "r", coord(r))
	}
}

// legend says what shapes, colours and lines mean.
type legend struct {
	scale, width, height float64
	entries              []legendEntry
}

type legendEntry struct {
	text string
	mark func(d *drawing, x, y float64)
	x, y float64
}

// mostLegend is the most characters of an entry.
const mostLegend = 40

func (p *Picture) legend(width, scale float64) *legend {
	l := &legend{scale: scale, width: width}
	used := make([]bool, len(p.Types))
	seeds := false
	for i := range p.Nodes {
		used[p.Nodes[i].Type] = true
		seeds = seeds || p.Nodes[i].Seed
	}
	shape := func(class string, kind int) func(d *drawing, x, y float64) {
		return func(d *drawing, x, y float64) { drawShape(d, class, "", kind, x, y, tenth(nodeRadius*scale)) }
	}
	if p.By == "" {
		for t, name := range p.Types {
			if used[t] {
				l.add(name, shape("node "+p.Groups[t].class(), t))
			}
		}
	} else {
		for _, g := range p.Groups {
			l.add(p.By+" "+g.Name, shape("node "+g.class(), 0))
		}
		if len(p.Types) > 1 {
			for t, name := range p.Types {
				if used[t] {
					l.add(name, shape("none", t))
				}
			}
		}
	}
	if seeds {
		l.add("seed", func(d *drawing, x, y float64) {
			fmt.Fprintf(&d.b, `<circle class="halo" cx="%s" cy="%s" r="%s"/>`, coord(tenth(x)), coord(tenth(y)), coord(tenth(6*scale)))
		})
	}
	dashes := p.dashes()
	line := func(k int) func(d *drawing, x, y float64) {
		return func(d *drawing, x, y float64) {
			d.line("edge e"+strconv.Itoa(k), tenth(x-float64(7*scale)), tenth(y), tenth(x+float64(7*scale)), tenth(y))
		}
	}
	if used := p.usedLinks(); len(used) > mostDashes {
		l.add(fmt.Sprintf("edges of %d types", len(used)), line(0))
	} else {
		for _, k := range used {
			l.add(p.Links[k], line(dashes[k]))
		}
	}
	l.place()
	return l
}

func (l *legend) add(text string, mark func(d *drawing, x, y float64)) {
	l.entries = append(l.entries, legendEntry{text: human.Cut(human.Printable(text), mostLegend), mark: mark})
}

// place puts the entries beside each other, in as many lines as they need.
func (l *legend) place() {
	x, y := 12*l.scale, 0.0
	for i := range l.entries {
		e := &l.entries[i]
		w := tenth(float64((float64(textWidth(e.text)*0.82) + 38) * l.scale))
		if x+w > l.width && x > 12*l.scale {
			x, y = 12*l.scale, y+legendLine*l.scale
		}
		e.x, e.y = tenth(x), tenth(y)
		x += w
	}
	l.height = tenth(y + (legendLine+6)*l.scale)
}

// draw draws the entries below y.
func (l *legend) draw(d *drawing, y float64) {
	for _, e := range l.entries {
		at := tenth(y + e.y + 8*l.scale)
		e.mark(d, tenth(e.x+8*l.scale), at)
		fmt.Fprintf(&d.b, `<text class="axis" x="%s" y="%s" style="font-size:%spx">%s</text>`,
			coord(tenth(e.x+20*l.scale)), coord(tenth(at+4*l.scale)), coord(tenth(11*l.scale)), escape(e.text))
	}
}
