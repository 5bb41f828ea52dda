package report

import (
	"fmt"
	"html/template"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphmill/graphmill/internal/human"
)

// HeatMap is a plot of values over two numbers: how many graphs have so many nodes
// and edges, how full packs are under two limits.
type HeatMap struct {
	Title string `json:"title"`
	// X and Y name the axes, Value what the colour tells.
	X     string `json:"x"`
	Y     string `json:"y"`
	Value string `json:"value"`
	// Low is the value that has no colour, High the one that has the most; Log says
	// that the scale between them is logarithmic, and Share that they are shares.
	Low   float64    `json:"low"`
	High  float64    `json:"high"`
	Log   bool       `json:"log,omitempty"`
	Share bool       `json:"share,omitempty"`
	Cells []HeatCell `json:"cells"`
}

// HeatCell is a rectangle [X0, X1) x [Y0, Y1) and its value.
type HeatCell struct {
	X0    float64 `json:"x0"`
	X1    float64 `json:"x1"`
	Y0    float64 `json:"y0"`
	Y1    float64 `json:"y1"`
	Value float64 `json:"value"`
}

// maxCells bounds a heat map: more than a screen can show.
const maxCells = 20_000

// Heat adds a heat map.
func (r *Report) Heat(h HeatMap) { r.HeatMaps = append(r.HeatMaps, h) }

func (h *HeatMap) check() error {
	if len(h.Cells) > maxCells {
		return fmt.Errorf("found %d cells, expected at most %d", len(h.Cells), maxCells)
	}
	finite := func(all ...float64) bool {
		for _, f := range all {
			if math.IsNaN(f) || math.Abs(f) > 1e15 {
				return false
			}
		}
		return true
	}
	if !finite(h.Low, h.High) || h.Low >= h.High || h.Log && h.Low <= 0 {
		return fmt.Errorf("found colours from %v to %v, expected ascending numbers, above 0 for a logarithmic scale", h.Low, h.High)
	}
	for i, c := range h.Cells {
		if !finite(c.X0, c.X1, c.Y0, c.Y1, c.Value) || c.X0 >= c.X1 || c.Y0 >= c.Y1 {
			return fmt.Errorf("cell %d: found %+v, expected finite numbers and an area", i, c)
		}
	}
	return nil
}

// heatLevels is the number of shades, the first being nearly none.
const heatLevels = 12

// level is the shade of a value.
func (h *HeatMap) level(v float64) int {
	low, high := h.Low, h.High
	if h.Log {
		v, low, high = math.Log(max(v, low)), math.Log(low), math.Log(high)
	}
	share := (v - low) / (high - low)
	return min(max(int(share*heatLevels), 0), heatLevels-1)
}

// cells draws the cells of a heat map.
type cells struct{ *HeatMap }

// Plot implements plot.Plotter: a path a shade.
func (h cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var paths [heatLevels]vg.Path
	for _, cell := range h.Cells {
		path := &paths[h.level(cell.Value)]
		path.Move(vg.Point{X: x(cell.X0), Y: y(cell.Y0)})
		path.Line(vg.Point{X: x(cell.X1), Y: y(cell.Y0)})
		path.Line(vg.Point{X: x(cell.X1), Y: y(cell.Y1)})
		path.Line(vg.Point{X: x(cell.X0), Y: y(cell.Y1)})
		path.Close()
	}
	for i, path := range paths {
		if len(path) > 0 {
			c.SetColor(shade(i))
			c.Fill(path)
		}
	}
}

// drawHeat draws a heat map; "" when it has no cells.
func drawHeat(h *HeatMap, label string) (string, error) {
	if len(h.Cells) == 0 {
		return "", nil
	}
	p := newPlot()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range h.Cells {
		p.X.Min, p.X.Max = min(p.X.Min, c.X0), max(p.X.Max, c.X1)
		p.Y.Min, p.Y.Max = min(p.Y.Min, c.Y0), max(p.Y.Max, c.Y1)
	}
	p.X.Tick.Marker = plot.ConstantTicks(evenTicks(p.X.Min, p.X.Max, 6, human.Tick))
	p.Y.Tick.Marker = plot.ConstantTicks(evenTicks(p.Y.Min, p.Y.Max, 5, human.Tick))
	x0, x1, y0, y1 := p.X.Min, p.X.Max, p.Y.Min, p.Y.Max
	p.Add(&plotter.Grid{Horizontal: gridLine(), Vertical: gridLine()}, cells{h})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x0, x1, y0, y1
	return drawn(p, plotWidth, plotHeight, label)
}

// figure is the heat map on the page.
func (h *HeatMap) figure(id string) (figure, error) {
	name := human.Number
	if h.Share {
		name = human.Percent
	}
	value := human.Printable(h.Value)
	f := figure{ID: id, Title: human.Printable(h.Title), YAxis: "↑ " + human.Printable(h.Y), XAxis: human.Printable(h.X) + " →"}
	f.Footnote = fmt.Sprintf("Colour: %s, from %s (pale) to %s (full).", value, name(h.Low), name(h.High))
	if h.Log {
		f.Footnote = fmt.Sprintf("Colour: %s, from %s (pale) to %s (full), logarithmic.", value, name(h.Low), name(h.High))
	}
	best := 0
	for i, c := range h.Cells {
		if c.Value > h.Cells[best].Value {
			best = i
		}
	}
	label := f.Title + "."
	if len(h.Cells) > 0 {
		c := h.Cells[best]
		label += fmt.Sprintf(" Largest %s: %s at %s %s, %s %s.", value, name(c.Value), human.Printable(h.X), human.Number(c.X0), human.Printable(h.Y), human.Number(c.Y0))
	}
	svg, err := drawHeat(h, label)
	f.SVG = template.HTML(svg) // built by inline from escaped parts only
	if svg == "" {
		f.NothingYet = "Nothing to draw: there are no values."
	}
	return f, err
}
