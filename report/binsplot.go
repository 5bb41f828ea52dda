package report

import (
	"html/template"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// mostBars is the most bars of a plot of several series; more are drawn as steps.
const mostBars = 96

// filledSteps is the most series of steps whose area is filled; more would make a grey of all colours.
const filledSteps = 2

// binned is a series in bins.
type binned struct {
	name   string
	role   role
	shares []float64
}

// drawBins draws the share of each series in each bin, or "" where there is no number.
func (d *Distribution) drawBins(id string, roles []role) template.HTML {
	b, ok := chooseBins(d.Series, roles)
	if !ok {
		return ""
	}
	var all []binned
	most := 0.0
	for i, s := range d.Series {
		if roles[i] == roleNone || s.Histogram.Count() == 0 {
			continue
		}
		shares := b.shares(s.Histogram)
		for _, y := range shares {
			most = max(most, y)
		}
		all = append(all, binned{s.Name, roles[i], shares})
	}
	lo, hi := b.ends()
	top, ticks := upTo(most, 5, shareName)
	f := newFrame(axis{lo: lo, hi: hi, log: b.log, ticks: b.ticks(), label: d.What},
		axis{lo: 0, hi: top, ticks: ticks, label: "share of " + d.Of}, 0)
	svg := newDrawing(id, plotWidth, plotHeight, d.Title, d.describe())
	f.grid(svg)
	if len(all) == 1 || b.single() && len(all)*(len(b.edges)-1) <= mostBars {
		f.bars(svg, &b, all)
		f.binHovers(svg, &b, all, human.Printable(d.What))
	} else {
		f.binHovers(svg, &b, all, human.Printable(d.What)) // under the lines, which have tooltips too
		for i := len(all) - 1; i >= 0; i-- {               // the first on top
			f.steps(svg, &b, &all[i], len(all) <= filledSteps)
		}
	}
	f.labels(svg)
	return svg.end()
}

// bars draws the bars of each bin next to each other.
func (f *frame) bars(d *drawing, b *bins, all []binned) {
	for i := range len(b.edges) - 1 {
		x0, x1 := f.x.at(b.edges[i]), f.x.at(b.edges[i+1])
		gap := min(0.12*(x1-x0), 6)
		w := (x1 - x0 - gap) / float64(len(all))
		for k, s := range all {
			if s.shares[i] > 0 {
				y := min(f.y.at(s.shares[i]), f.y.from-0.5) // what is there shows
				d.rect("bar "+s.role.class(), "", x0+gap/2+float64(k)*w, y, w, f.y.from-y)
			}
		}
	}
}

// steps draws a series as a line over the bins.
func (f *frame) steps(d *drawing, b *bins, s *binned, fill bool) {
	var p pathData
	p.move(f.x.from, f.y.from)
	last := 0.0
	for i, y := range s.shares {
		if y != last {
			p.horizontal(f.x.at(b.edges[i]))
			p.vertical(f.y.at(y))
			last = y
		}
	}
	p.horizontal(f.x.to)
	p.vertical(f.y.from)
	if fill {
		d.path("area "+s.role.class(), "", &p)
	}
	d.path("line "+s.role.class(), s.name, &p)
}

// binHovers draws a clear column over each bin that tells its numbers.
func (f *frame) binHovers(d *drawing, b *bins, all []binned, what string) {
	for i := range len(b.edges) - 1 {
		var lines []string
		for _, s := range all {
			if s.role != roleRest && s.shares[i] > 0 {
				lines = append(lines, human.Printable(s.name)+": "+human.Percent(s.shares[i]))
			}
		}
		if len(lines) > 0 {
			f.hover(d, b.edges[i], b.edges[i+1], what+" "+b.name(i)+" · "+strings.Join(lines, " · "))
		}
	}
}

// hover draws a clear column from x0 to x1 that shows a tooltip.
func (f *frame) hover(d *drawing, x0, x1 float64, tooltip string) {
	from, to := f.x.at(x0), f.x.at(x1)
	d.rect("hit", tooltip, from, f.y.to, to-from, f.y.from-f.y.to)
}
