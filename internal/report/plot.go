package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphmill/graphmill/internal/human"
)

const (
	plotWidth  = 520.0
	plotHeight = 260.0
	fontSize   = 11
	// linesDrawn bounds the lines of a plot: those with a colour and some more.
	linesDrawn = 40
)

// newPlot is a plot without title, frame or background.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Width = 0
		a.Padding = 4
		a.Tick.LineStyle.Width = 0
		a.Tick.Length = 0
		a.Tick.Label.Font = font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, fontSize)
		a.Tick.Label.Color = roleText.color()
		a.Tick.Label.Handler = text.Plain{Fonts: font.DefaultCache}
	}
	return p
}

func gridLine() draw.LineStyle {
	return draw.LineStyle{Color: roleGrid.color(), Width: 1}
}

// drawn is the plot as an SVG element.
func drawn(p *plot.Plot, w, h float64, label string) (string, error) {
	c := newCanvas(w, h)
	area := draw.New(c)
	// Room for half a tick label past the last tick.
	p.Draw(draw.Crop(area, 2, -18, 2, -8))
	return inline(c, label)
}

// lines draws series over common axes: the first ones of rank in colour, on top.
func lines(p *plot.Plot, curves []curve) error {
	for i := len(curves) - 1; i >= 0; i-- {
		c := curves[i]
		if len(c.points) == 0 {
			continue
		}
		l, err := plotter.NewLine(c.points)
		if err != nil {
			return err
		}
		l.StepStyle = c.step
		l.LineStyle = draw.LineStyle{Color: c.role.color(), Width: 1.75}
		if c.role == roleRest {
			l.LineStyle.Width = 1
		}
		if c.fill {
			l.FillColor = c.role.soft()
		}
		p.Add(l)
	}
	return nil
}

// curve is one series as points of a plot.
type curve struct {
	points plotter.XYs
	step   plotter.StepKind
	role   role
	fill   bool
}

// ccdfStart is where the x axis of a CCDF starts: below 1, so that the share of
// numbers above 0 shows as the start of its line.
const ccdfStart = 0.75

// ccdf is the share of numbers that are at least x, at every x above 0 where it
// changes: exact, since it is known at the least number of a bucket.
func ccdf(h *Histogram) plotter.XYs {
	var pts plotter.XYs
	left, total := h.Count(), float64(h.Count())
	for b := range h.Buckets {
		if b.Low > 0 {
			if len(pts) == 0 {
				pts = append(pts, plotter.XY{X: ccdfStart, Y: float64(left) / total})
			}
			pts = append(pts, plotter.XY{X: float64(b.Low), Y: float64(left) / total})
		}
		left -= b.Count
	}
	if n := len(pts); n > 0 && float64(h.Max()) > pts[n-1].X {
		pts = append(pts, plotter.XY{X: float64(h.Max()), Y: pts[n-1].Y})
	}
	return pts
}

// thin leaves out points that would lie within half a pixel of the last one
// kept. sx and sy give places in pixels. The first and the last point stay.
func thin(pts plotter.XYs, sx, sy func(float64) float64) plotter.XYs {
	if len(pts) < 3 {
		return pts
	}
	kept := pts[:1]
	for _, p := range pts[1 : len(pts)-1] {
		q := kept[len(kept)-1]
		if math.Abs(sx(p.X)-sx(q.X)) >= 0.5 || math.Abs(sy(p.Y)-sy(q.Y)) >= 0.5 {
			kept = append(kept, p)
		}
	}
	return append(kept, pts[len(pts)-1])
}

// logPlace places x in [lo, hi] on a logarithmic axis of size pixels.
func logPlace(lo, hi, size float64) func(float64) float64 {
	l, h := math.Log(lo), math.Log(hi)
	return func(x float64) float64 { return (math.Log(x) - l) / (h - l) * size }
}

// drawCCDF draws the CCDF of the series with the given roles; "" when no number
// is above 0.
func drawCCDF(series []Series, roles []role, label string) (string, error) {
	xmax, ymin := 0.0, 1.0
	curves := make([]curve, 0, len(series))
	for i, s := range series {
		if roles[i] == roleNone {
			continue
		}
		c := curve{points: ccdf(s.Histogram), step: plotter.PreStep, role: roles[i]}
		for _, p := range c.points {
			xmax, ymin = max(xmax, p.X), min(ymin, p.Y)
		}
		curves = append(curves, c)
	}
	if xmax == 0 {
		return "", nil
	}
	p := newPlot()
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Min, p.X.Max = ccdfStart, max(xmax*1.05, 10)
	p.Y.Min, p.Y.Max = min(ymin*0.8, 0.1), 1
	p.X.Tick.Marker = plot.ConstantTicks(decades(p.X.Min, p.X.Max, human.Tick))
	p.Y.Tick.Marker = plot.ConstantTicks(decades(p.Y.Min, p.Y.Max, human.Percent))
	sx, sy := logPlace(p.X.Min, p.X.Max, plotWidth), logPlace(p.Y.Min, p.Y.Max, plotHeight)
	for i := range curves {
		curves[i].points = thin(curves[i].points, sx, sy)
	}
	p.Add(&plotter.Grid{Horizontal: gridLine(), Vertical: gridLine()})
	if err := lines(p, curves); err != nil {
		return "", err
	}
	return drawn(p, plotWidth, plotHeight, label)
}

// drawBins draws the share of each series in equal bins; "" when there is no
// number.
func drawBins(series []Series, roles []role, label string) (string, error) {
	b, ok := chooseBins(series, roles)
	if !ok {
		return "", nil
	}
	p := newPlot()
	ymax := 0.0
	var curves []curve
	for i, s := range series {
		if roles[i] == roleNone || s.Histogram.Count() == 0 {
			continue
		}
		c := curve{points: b.points(s.Histogram), step: plotter.PostStep, role: roles[i], fill: roles[i] != roleRest}
		for _, pt := range c.points {
			ymax = max(ymax, pt.Y)
		}
		curves = append(curves, c)
	}
	if ymax == 0 {
		return "", nil
	}
	if b.log {
		p.X.Scale = plot.LogScale{}
	}
	p.X.Tick.Marker = plot.ConstantTicks(b.ticks())
	p.Y.Tick.Marker = plot.ConstantTicks(evenTicks(0, ymax, 5, human.Percent))
	p.Add(&plotter.Grid{Horizontal: gridLine()})
	if err := lines(p, curves); err != nil {
		return "", err
	}
	p.X.Min, p.X.Max = b.edges[0], b.edges[len(b.edges)-1]
	p.Y.Min, p.Y.Max = 0, ymax*1.04
	return drawn(p, plotWidth, plotHeight, label)
}

// drawStages draws the time of each stage as a bar, the first on top.
func drawStages(stages []Stage, label string) (string, error) {
	n := len(stages)
	values := make(plotter.Values, n)
	ticks := make([]plot.Tick, n)
	longest := 0.0
	for i, s := range stages {
		at := n - 1 - i
		values[at] = s.Seconds
		longest = max(longest, s.Seconds)
		ticks[at] = plot.Tick{Value: float64(at), Label: human.Cut(human.Printable(s.Name), 26)}
	}
	if longest == 0 || longest > 1e15 {
		return "", nil
	}
	bars, err := plotter.NewBarChart(values, vg.Length(14))
	if err != nil {
		return "", err
	}
	bars.Horizontal = true
	bars.LineStyle.Width = 0
	bars.Color = roleSeries0.color()
	p := newPlot()
	p.Add(&plotter.Grid{Vertical: gridLine()}, bars)
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.X.Min, p.X.Max = 0, longest*1.04
	p.X.Tick.Marker = plot.ConstantTicks(evenTicks(0, longest, 4, func(s float64) string {
		return human.Duration(seconds(s))
	}))
	return drawn(p, plotWidth, float64(26*n+34), label)
}
