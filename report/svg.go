package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// drawing builds one SVG element. It escapes every text and rounds every coordinate, and it takes classes and ids
// from the package alone, so no name of the input becomes markup. Colours, widths and fonts come from page.css.
type drawing struct{ b strings.Builder }

// newDrawing starts a drawing of w x h units, which are CSS pixels at the usual width. title and desc are read by
// screen readers in place of the picture.
func newDrawing(id string, w, h float64, title, desc string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg role="img" focusable="false" viewBox="0 0 %s %s" aria-labelledby="%s-title" aria-describedby="%s-desc">`,
		coord(w), coord(h), id, id)
	fmt.Fprintf(&d.b, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, id, escape(title), id, escape(desc))
	return d
}

// links makes a group of the drawing, which was a picture: what is in a picture cannot be followed by keyboard.
func (d *drawing) links() {
	text := strings.Replace(d.b.String(), `role="img" focusable="false"`, `role="group"`, 1)
	d.b.Reset()
	d.b.WriteString(text)
}

// end returns the finished element.
func (d *drawing) end() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

// element writes an element with the given pairs of attribute and value, and hover as its tooltip, if there is one.
func (d *drawing) element(name, hover string, attributes ...string) {
	d.b.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		d.b.WriteString(" " + attributes[i] + `="` + attributes[i+1] + `"`)
	}
	if hover == "" {
		d.b.WriteString("/>")
		return
	}
	d.b.WriteString("><title>" + escape(hover) + "</title></" + name + ">")
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.element("line", "", "class", class, "x1", coord(x1), "y1", coord(y1), "x2", coord(x2), "y2", coord(y2))
}

func (d *drawing) rect(class, hover string, x, y, w, h float64) {
	d.element("rect", hover, "class", class, "x", coord(x), "y", coord(y), "width", coord(w), "height", coord(h))
}

func (d *drawing) path(class, hover string, p *pathData) {
	d.element("path", hover, "class", class, "d", p.b.String())
}

// text writes s at (x, y); the class says which end of s is there.
func (d *drawing) text(class string, x, y float64, s string) {
	fmt.Fprintf(&d.b, `<text class="%s" x="%s" y="%s">%s</text>`, class, coord(x), coord(y), escape(s))
}

// pathData builds the d attribute of a path.
type pathData struct{ b strings.Builder }

func (p *pathData) move(x, y float64) { p.b.WriteString("M" + coord(x) + " " + coord(y)) }
func (p *pathData) horizontal(x float64) {
	p.b.WriteString("H" + coord(x))
}
func (p *pathData) vertical(y float64) { p.b.WriteString("V" + coord(y)) }
func (p *pathData) close()             { p.b.WriteString("Z") }

// coord rounds to a hundredth of a unit.
func coord(v float64) string {
	r := math.Round(v * 100)
	if r == 0 {
		return "0" // never -0
	}
	return strconv.FormatFloat(r/100, 'f', -1, 64)
}

func escape(s string) string { return html.EscapeString(human.Printable(s)) }

// textWidth estimates the width of s in units, from the width of a digit at the largest font size of page.css, which is for narrow
// screens.
func textWidth(s string) float64 {
	const digit = 7.6
	return digit * float64(width(s))
}
