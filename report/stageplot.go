package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

// mostOutside is the largest share of the time outside of all stages that is not shown.
const mostOutside = 0.05

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
		took := human.Duration(seconds(s.Seconds))
		d.text("end", x.from-8, top+16, stageName(s.Name))
		d.rect("bar s0", s.Name+": "+took, x.from, top+5, max(x.at(s.Seconds)-x.from, 0.75), stagePitch-10)
		d.text("start", max(x.at(s.Seconds), x.from)+6, top+16, took)
	}
	d.line("base", x.from, 0, x.from, bottom)
	return d.end()
}

func stageName(s string) string { return human.Cut(human.Printable(s), 26) }

// times returns the plot and the table of the stages for the page.
func (r *Report) times() *timesView {
	total := 0.0
	for _, s := range r.Stages {
		total += s.Seconds
	}
	stages := r.Stages
	if rest := r.ElapsedSeconds - total; total > 0 && rest > mostOutside*r.ElapsedSeconds {
		stages = append(slices.Clone(stages), Stage{Name: "other", Seconds: rest})
		total = r.ElapsedSeconds
	}
	v := &timesView{}
	label := "Time per stage."
	for _, s := range stages {
		sv := stageView{Name: human.Printable(s.Name), Time: viewOf("", Value{Seconds: &s.Seconds})}
		label += fmt.Sprintf(" %s: %s.", sv.Name, sv.Time.Value)
		if total > 0 {
			sv.Share = viewOf("", Share(min(s.Seconds/total, 1)))
		}
		if s.Count > 0 {
			amount := Count(s.Count, s.Unit)
			if s.Unit == "bytes" {
				amount = Bytes(s.Count)
			}
			sv.Amount = viewOf("", amount)
			value, unit, _ := strings.Cut(human.Printable(s.rate()), " ")
			sv.Rate = cell{Value: value, Unit: unit, Numeric: true}
		}
		v.Rows = append(v.Rows, sv)
	}
	v.SVG = drawStages(stages[:min(len(stages), linesDrawn)], label)
	return v
}

func (s *Stage) rate() string {
	return human.Rate(s.Count, max(seconds(s.Seconds), time.Nanosecond), s.Unit)
}
