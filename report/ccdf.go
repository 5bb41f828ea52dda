package report

import (
	"html/template"
	"math"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// ccdfStart is where the x axis of a CCDF starts: below 1, so that a line starts with the share of numbers above 0.
const ccdfStart = 0.75

// point is a number and the share of numbers that are at least as large.
type point struct{ x, y float64 }

// ccdf returns a point for each number above 0 where the share changes. The shares are exact, because each number is
// the least of a bucket.
func ccdf(h *Histogram) []point {
	var pts []point
	left, total := h.Count(), float64(h.Count())
	for b := range h.buckets {
		if b.Low > 0 {
			if len(pts) == 0 {
				pts = append(pts, point{ccdfStart, float64(left) / total})
			}
			pts = append(pts, point{float64(b.Low), float64(left) / total})
		}
		left -= b.Count
	}
	if n := len(pts); n > 0 && float64(h.Max()) > pts[n-1].x {
		pts = append(pts, point{float64(h.Max()), pts[n-1].y})
	}
	return pts
}

// shareFrom returns the share at x: the share of the first point from x on.
func shareFrom(pts []point, x float64) float64 {
	for _, p := range pts {
		if p.x >= x {
			return p.y
		}
	}
	return 0
}

// drawCCDF draws the CCDF of each series, or "" where no number is above 0.
func (d *Distribution) drawCCDF(id string, roles []role) template.HTML {
	largest, least := 0.0, 1.0
	curves := make([][]point, len(d.Series))
	for i, s := range d.Series {
		if roles[i] == roleNone {
			continue
		}
		curves[i] = ccdf(s.Histogram)
		for _, p := range curves[i] {
			largest, least = max(largest, p.x), min(least, p.y)
		}
	}
	if largest == 0 {
		return ""
	}
	x := axis{lo: ccdfStart, hi: max(largest*1.05, 10), log: true, label: d.What}
	y := axis{lo: min(least*0.8, 0.1), hi: 1, log: true, label: "share of " + d.Of + " with at least this " + d.What}
	x.ticks, y.ticks = logTicks(x.lo, x.hi, human.Tick), logTicks(y.lo, y.hi, shareName)
	f := newFrame(x, y, 0)
	f.xGrid = true
	svg := newDrawing(id, plotWidth, plotHeight, d.Title, d.describe())
	f.grid(svg)
	f.ccdfHovers(svg, d, roles, curves)
	for i := len(curves) - 1; i >= 0; i-- { // the first on top
		if len(curves[i]) > 0 {
			f.curve(svg, "line "+roles[i].class(), d.Series[i].Name, curves[i])
		}
	}
	f.labels(svg)
	return svg.end()
}

// curve draws points as steps, down and then to the right. It leaves out points within half a unit of the last one.
func (f *frame) curve(d *drawing, class, hover string, pts []point) {
	var path pathData
	x, y := f.x.at(pts[0].x), f.y.at(pts[0].y)
	path.move(x, y)
	for i, p := range pts[1:] {
		px, py := f.x.at(p.x), f.y.at(p.y)
		if i+2 < len(pts) && math.Abs(px-x) < 0.5 && math.Abs(py-y) < 0.5 {
			continue
		}
		if py != y {
			path.vertical(py)
		}
		path.horizontal(px)
		x, y = px, py
	}
	d.path(class, hover, &path)
}

// ccdfHovers draws clear columns around round numbers that tell the shares there.
func (f *frame) ccdfHovers(d *drawing, dist *Distribution, roles []role, curves [][]point) {
	from := f.x.lo
	for e := 0; math.Pow10(e) <= f.x.hi; e++ {
		for _, m := range []float64{1, 2, 5} {
			at := m * math.Pow10(e)
			to := min(at*math.Sqrt(2), f.x.hi)
			var lines []string
			for i, pts := range curves {
				if y := shareFrom(pts, at); y > 0 && roles[i] != roleRest {
					lines = append(lines, human.Printable(dist.Series[i].Name)+": "+human.Percent(y))
				}
			}
			if len(lines) == 0 || to <= from {
				return
			}
			f.hover(d, from, to, human.Printable(dist.What)+" of at least "+human.Tick(at)+" · "+strings.Join(lines, " · "))
			from = to
		}
	}
}
