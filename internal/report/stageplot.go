package report

import (
	"html/template"

	"github.com/graphmill/graphmill/internal/human"
)

// stagePitch is the height of a stage with its gap.
const stagePitch = 24.0

// drawStages draws the time of each stage as a bar, the first on top, or "" where there is nothing to draw.
func drawStages(stages []Stage, description string) template.HTML {
	longest, names := 0.0, 0.0
	for _, s := range stages {
		longest = max(longest, s.Seconds)
		names = max(names, textWidth(stageName(s.Name)))
	}
	if longest == 0 || longest > 1e15 {
		return ""
	}
	const room = 60 // for the time after the longest bar
	bottom := stagePitch * float64(len(stages))
	x := axis{lo: 0, hi: longest, from: names + 10, to: plotWidth - room}
	d := newDrawing("stages", plotWidth, bottom+24, "Time per stage", description)
	for _, t := range timeTicks(longest, 5) {
		d.line("grid", x.at(t.at), 0, x.at(t.at), bottom)
		d.text("mid", x.at(t.at), bottom+17, t.label)
	}
	for i, s := range stages {
		top := stagePitch * float64(i)
		time := human.Duration(seconds(s.Seconds))
		d.text("end", x.from-8, top+16, stageName(s.Name))
		d.rect("bar s0", s.Name+": "+time, x.from, top+5, max(x.at(s.Seconds)-x.from, 0.75), stagePitch-10)
		d.text("start", max(x.at(s.Seconds), x.from)+6, top+16, time)
	}
	d.line("base", x.from, 0, x.from, bottom)
	return d.end()
}

func stageName(s string) string { return human.Cut(human.Printable(s), 26) }
