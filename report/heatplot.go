package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/human"
)

const (
	// heatLevels is the number of colours of page.css for heat maps.
	heatLevels = 10
	// hoverCells is the most cells that have a tooltip each; of more, the cells of a colour are one path.
	hoverCells = 2000
	// peakCells is how many of the largest cells are listed in a table.
	peakCells = 5
)

// level returns the colour of a value.
func (h *HeatMap) level(v float64) int {
	low, high := h.Low, h.High
	if h.Log {
		v, low, high = math.Log(max(v, low)), math.Log(low), math.Log(high)
	}
	share := (v - low) / (high - low)
	return min(max(int(share*heatLevels), 0), heatLevels-1)
}

func (h *HeatMap) valueName(v float64) string {
	if h.Share {
		return human.Percent(v)
	}
	return human.Tick(v)
}

// draw draws the heat map, or returns "" where it has no cells.
func (h *HeatMap) draw(id string) template.HTML {
	if len(h.Cells) == 0 {
		return ""
	}
	x := axis{lo: math.Inf(1), hi: math.Inf(-1), label: h.X}
	y := axis{lo: math.Inf(1), hi: math.Inf(-1), label: h.Y}
	for _, c := range h.Cells {
		x.lo, x.hi = min(x.lo, c.X0), max(x.hi, c.X1)
		y.lo, y.hi = min(y.lo, c.Y0), max(y.hi, c.Y1)
	}
	x.ticks, y.ticks = evenTicks(x.lo, x.hi, 6, human.Tick), evenTicks(y.lo, y.hi, 7, human.Tick)
	if h.Numbered {
		x.ticks, y.ticks = middles(x.lo, x.hi), middles(y.lo, y.hi)
	}
	bar := h.colourAxis()
	room := 0.0
	for _, t := range bar.ticks {
		room = max(room, textWidth(t.label))
	}
	f := newFrame(x, y, room+barWidth+16)
	f.xGrid = true
	d := newDrawing(id, plotWidth, plotHeight, h.Title, h.describe())
	if !h.Numbered {
		f.grid(d)
	}
	if len(h.Cells) <= hoverCells {
		for _, c := range h.Cells {
			f.cell(d, h, &c)
		}
	} else {
		f.cells(d, h)
	}
	f.labels(d)
	bar.from, bar.to = f.y.from, f.y.to
	drawColours(d, &bar, f.x.to+18, h.Value)
	return d.end()
}

// middles returns a tick in the middle of each cell of a heat map of numbered things, or of every 2nd, 5th, ... where they
// are many.
func middles(lo, hi float64) []tick {
	const most = 16
	every := newStep(max((hi-lo)/most, 1)).times(1)
	var ticks []tick
	for v := math.Ceil(lo/every) * every; v < hi; v += every {
		ticks = append(ticks, tick{v + 0.5, human.Tick(v)})
	}
	return ticks
}

func (f *frame) cell(d *drawing, h *HeatMap, c *HeatCell) {
	x0, x1, y0, y1 := f.x.at(c.X0), f.x.at(c.X1), f.y.at(c.Y0), f.y.at(c.Y1)
	d.rect(fmt.Sprintf("cell h%d", h.level(c.Value)), fmt.Sprintf("%s · %s %s · %s %s",
		h.valueName(c.Value), h.X, cellStart(c.X0), h.Y, cellStart(c.Y0)),
		x0, y1, x1-x0, y0-y1)
}

// cellStart names the least whole number of a side of a cell.
func cellStart(from float64) string { return human.Count(int64(math.Ceil(from))) }

// cells draws all cells of a colour as one path.
func (f *frame) cells(d *drawing, h *HeatMap) {
	var paths [heatLevels]pathData
	for _, c := range h.Cells {
		p := &paths[h.level(c.Value)]
		p.move(f.x.at(c.X0), f.y.at(c.Y0))
		p.horizontal(f.x.at(c.X1))
		p.vertical(f.y.at(c.Y1))
		p.horizontal(f.x.at(c.X0))
		p.close()
	}
	for i := range paths {
		if paths[i].b.Len() > 0 {
			d.path(fmt.Sprintf("cell h%d", i), "", &paths[i])
		}
	}
}

const barWidth = 11.0 // of the colour bar

// colourAxis returns the axis of the colour bar. Its end labels say that values beyond them have the same colour.
func (h *HeatMap) colourAxis() axis {
	a := axis{lo: h.Low, hi: h.High, log: h.Log, label: h.Value}
	if h.Log {
		a.ticks = logTicks(h.Low, h.High, h.valueName)
	} else {
		a.ticks = evenTicks(h.Low, h.High, 5, h.valueName)
	}
	last := len(a.ticks) - 1
	for _, c := range h.Cells {
		if c.Value < h.Low && a.ticks[0].at == h.Low && a.ticks[0].label == h.valueName(h.Low) {
			a.ticks[0].label = "≤ " + a.ticks[0].label
		}
		if c.Value > h.High && a.ticks[last].at == h.High && a.ticks[last].label == h.valueName(h.High) {
			a.ticks[last].label = "≥ " + a.ticks[last].label
		}
	}
	return a
}

// drawColours draws the colour bar with its left side at x.
func drawColours(d *drawing, a *axis, x float64, name string) {
	height := (a.from - a.to) / heatLevels
	for i := range heatLevels {
		d.rect(fmt.Sprintf("cell h%d", i), "", x, a.from-float64(i+1)*height, barWidth, height)
	}
	for _, t := range a.ticks {
		if t.label != "" {
			d.text("start", x+barWidth+5, a.at(t.at)+4, t.label)
		}
	}
	d.text("axis end", plotWidth, 11, human.Cut(human.Printable(name), 40))
}

// peaks returns the cells with the largest values, the largest first. Of what is between two things of the same kind, which
// has two cells, it returns one.
func (h *HeatMap) peaks() []HeatCell {
	cells := slices.Clone(h.Cells)
	slices.SortStableFunc(cells, func(a, b HeatCell) int { return cmp.Compare(b.Value, a.Value) })
	var peaks []HeatCell
	for _, c := range cells {
		if len(peaks) == peakCells {
			break
		}
		if h.Numbered && h.X == h.Y && slices.Contains(peaks, HeatCell{c.Y0, c.Y1, c.X0, c.X1, c.Value}) {
			continue
		}
		peaks = append(peaks, c)
	}
	return peaks
}

// describe says for screen readers what the heat map shows.
func (h *HeatMap) describe() string {
	s := fmt.Sprintf("Heat map of %s over %s and %s.", h.Value, h.X, h.Y)
	if c := h.peaks(); len(c) > 0 {
		s += fmt.Sprintf(" The largest is %s, at %s %s and %s %s.", h.valueName(c[0].Value), h.X, cellStart(c[0].X0), h.Y, cellStart(c[0].Y0))
	}
	return s
}

// figure returns the heat map for the page, with its largest cells as a table.
func (h *HeatMap) figure(id string) figure {
	f := figure{ID: id, Title: human.Printable(h.Title), SVG: h.draw(id)}
	if f.SVG == "" {
		f.NothingYet = "Nothing to draw: there are no values."
		return f
	}
	peaks := tableView{ID: id, Title: "The largest values and where their cells begin"}
	if h.Numbered {
		peaks.Title = "The largest values"
	}
	for _, name := range []string{h.Value, h.X, h.Y} {
		peaks.Columns = append(peaks.Columns, columnView{human.Printable(name), true})
	}
	for _, c := range h.peaks() {
		peaks.Rows = append(peaks.Rows, []cell{
			{Value: h.valueName(c.Value), Exact: fmt.Sprint(c.Value), Numeric: true},
			{Value: cellStart(c.X0), Exact: fmt.Sprint(c.X0), Numeric: true}, {Value: cellStart(c.Y0), Exact: fmt.Sprint(c.Y0), Numeric: true}})
	}
	f.Peaks = &peaks
	return f
}
