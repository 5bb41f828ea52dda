package report

import (
	"math"

	"github.com/graphmill/graphmill/internal/human"
)

const (
	plotWidth  = 480.0
	plotHeight = 264.0
)

// axis maps numbers from lo to hi to the units of a drawing.
type axis struct {
	lo, hi float64
	log    bool
	ticks  []tick
	label  string

	from, to float64 // where lo and hi are; newFrame sets them
}

func (a *axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// frame is the area of a plot between its axes.
type frame struct {
	x, y  axis
	xGrid bool // lines at the ticks of x too
}

// newFrame places the axes in a drawing of plotWidth x plotHeight, with room for the labels, and room to the right
// of the area.
func newFrame(x, y axis, room float64) *frame {
	f := &frame{x: x, y: y}
	left := 0.0
	for _, t := range y.ticks {
		left = max(left, textWidth(t.label))
	}
	f.x.from, f.x.to = left+8, plotWidth-14-room
	f.y.from, f.y.to = plotHeight-38, 24
	return f
}

// grid draws what lies under the data.
func (f *frame) grid(d *drawing) {
	class := func(t tick) string {
		if t.label == "" {
			return "minor"
		}
		return "grid"
	}
	for _, t := range f.y.ticks {
		if y := f.y.at(t.at); y < f.y.from-0.5 { // the x axis lies on the lowest line
			d.line(class(t), f.x.from, y, f.x.to, y)
		}
	}
	for _, t := range f.x.ticks {
		if x := f.x.at(t.at); f.xGrid {
			d.line(class(t), x, f.y.from, x, f.y.to)
		}
	}
}

// labels draws the x axis and the labels of both.
func (f *frame) labels(d *drawing) {
	d.line("base", f.x.from, f.y.from, f.x.to, f.y.from)
	for _, t := range f.y.ticks {
		if t.label != "" {
			d.text("end", f.x.from-6, f.y.at(t.at)+4, t.label)
		}
	}
	end := math.Inf(-1) // of the label before
	for _, t := range f.x.ticks {
		x, half := f.x.at(t.at), textWidth(t.label)/2
		if t.label == "" || x-half < end+4 {
			continue
		}
		end = x + half
		d.line("base", x, f.y.from, x, f.y.from+4)
		d.text("mid", x, f.y.from+17, t.label)
	}
	d.text("axis", 0, 11, "↑ "+axisName(f.y.label))
	d.text("axis end", f.x.to, plotHeight-4, axisName(f.x.label)+" →")
}

// axisName fits a name above or below a plot.
func axisName(s string) string { return human.Cut(human.Printable(s), 64) }
