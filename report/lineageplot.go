package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

const (
	boxesAcross = 3    // the most steps beside each other
	boxHeight   = 60.0 // of a step
	boxGap      = 16.0 // between steps beside each other
	rowGap      = 44.0 // between rows
	boxPad      = 10.0 // before the text of a step
)

// box is where a step is drawn.
type box struct{ x, y, w float64 }

// place puts each step below all of its inputs, at most boxesAcross beside each other, and returns the height of all.
func (l *Lineage) place() (boxes []box, height float64) {
	level := make([]int, len(l.Steps))
	var levels [][]int
	for i := range l.Steps {
		for _, in := range l.Steps[i].Inputs {
			level[i] = max(level[i], level[in]+1)
		}
	}
	// A step that nothing made stands just above the first step that reads it.
	first := make([]int, len(l.Steps))
	for i := range l.Steps {
		for _, in := range l.Steps[i].Inputs {
			if first[in] == 0 || level[i] < first[in] {
				first[in] = level[i]
			}
		}
	}
	for i := range l.Steps {
		if len(l.Steps[i].Inputs) == 0 && first[i] > 0 {
			level[i] = first[i] - 1
		}
		for len(levels) <= level[i] {
			levels = append(levels, nil)
		}
		levels[level[i]] = append(levels[level[i]], i)
	}
	boxes = make([]box, len(l.Steps))
	y := 1.0
	for _, steps := range levels {
		for len(steps) > 0 {
			n := min(len(steps), boxesAcross)
			w := (plotWidth - 2 - boxGap*(boxesAcross-1)) / boxesAcross
			if n < boxesAcross {
				w = (plotWidth - 2 - boxGap) / 2
			}
			left := (plotWidth - (float64(n)*w + float64(n-1)*boxGap)) / 2
			for k, i := range steps[:n] {
				boxes[i] = box{left + float64(k)*(w+boxGap), y, w}
			}
			steps = steps[n:]
			y += boxHeight + rowGap
		}
	}
	return boxes, max(y-rowGap+1, 1)
}

// draw draws the steps and what each reads, or "" where there is no step. links are the pages of the steps, "" for none.
func (l *Lineage) draw(links []string) template.HTML {
	if len(l.Steps) == 0 {
		return ""
	}
	boxes, height := l.place()
	d := newDrawing("flow", plotWidth, height, "Steps and their inputs", l.describe())
	d.links()
	for i := range l.Steps {
		for _, in := range l.Steps[i].Inputs {
			from, to := boxes[in], boxes[i]
			x0, y0 := from.x+from.w/2, from.y+boxHeight
			x1, y1 := to.x+to.w/2, to.y
			if y1-y0 > rowGap+1 { // around the steps between
				x0, y0, x1, y1 = from.x+from.w, from.y+boxHeight/2, to.x+to.w, to.y+boxHeight/2
				out := max(x0, x1) + 40
				d.element("path", "", "class", "flow", "d", fmt.Sprintf("M%s %sC%s %s %s %s %s %s",
					coord(x0), coord(y0), coord(out), coord(y0), coord(out), coord(y1), coord(x1+5), coord(y1)))
				d.element("path", "", "class", "tip", "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", coord(x1+7), coord(y1-4), coord(x1+7), coord(y1+4), coord(x1), coord(y1)))
				continue
			}
			half := (y1 - y0) / 2
			d.element("path", "", "class", "flow", "d", fmt.Sprintf("M%s %s C%s %s %s %s %s %s",
				coord(x0), coord(y0), coord(x0), coord(y0+half), coord(x1), coord(y1-half), coord(x1), coord(y1-5)))
			d.element("path", "", "class", "tip", "d", fmt.Sprintf("M%s %sL%s %sL%s %sZ", coord(x1-4), coord(y1-7), coord(x1+4), coord(y1-7), coord(x1), coord(y1)))
		}
	}
	for i := range l.Steps {
		s, b := &l.Steps[i], boxes[i]
		class := "step"
		if !s.Found {
			class += " away"
		}
		if links[i] != "" {
			d.b.WriteString(`<a href="` + template.HTMLEscapeString(links[i]) + `">`)
		}
		fmt.Fprintf(&d.b, `<rect class="%s" rx="6" x="%s" y="%s" width="%s" height="%s"/>`, class, coord(b.x), coord(b.y), coord(b.w), coord(boxHeight))
		for k, line := range s.lines(int((b.w - 2*boxPad) / textWidth("0"))) {
			class := "start"
			if k == 0 {
				class = "start axis strong"
			}
			d.text(class, b.x+boxPad, b.y+19+17*float64(k), line)
		}
		if links[i] != "" {
			d.b.WriteString("</a>")
		}
	}
	return d.end()
}

// lines returns the lines of a step in the drawing, each of at most width characters.
func (s *LineageStep) lines(width int) []string {
	size, took, memory, warnings := s.numbers()
	second, third := []string{s.what()}, []string(nil)
	add := func(to *[]string, text string) {
		if text != "" {
			*to = append(*to, text)
		}
	}
	add(&second, took)
	if !s.Found {
		third = append(third, notFound)
	}
	add(&third, size)
	add(&third, memory)
	if warnings != "" {
		third = append(third, "⚠ "+warnings)
	}
	var lines []string
	for _, text := range []string{human.Printable(s.Name), strings.Join(second, " · "), strings.Join(third, " · ")} {
		lines = append(lines, human.Cut(text, max(width, 4)))
	}
	return lines
}

// describe says for screen readers what the drawing shows.
func (l *Lineage) describe() string {
	var b strings.Builder
	for i := range l.Steps {
		s := &l.Steps[i]
		var from []string
		for _, in := range s.Inputs {
			from = append(from, l.Steps[in].Name)
		}
		fmt.Fprintf(&b, "%s, %s", s.Name, s.what())
		if !s.Found {
			b.WriteString(", " + notFound)
		}
		if len(from) > 0 {
			b.WriteString(", from " + strings.Join(from, " and "))
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}
