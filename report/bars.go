package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// MostBars is the most things that a Bars can have.
const MostBars = 64

// Bars is a plot of numbers of a few things, such as the nodes of each part: a bar for each thing and series.
type Bars struct {
	Title string `json:"title"`
	// X names the things: "part". Y names the numbers: "bytes", or any plural.
	X string `json:"x"`
	Y string `json:"y"`
	// Names has the name of each thing.
	Names  []string    `json:"names"`
	Series []BarSeries `json:"series"`
}

// BarSeries is a number for each thing of Bars.
type BarSeries struct {
	Name   string   `json:"name"`
	Values []uint64 `json:"values"`
}

// Bar adds a plot of bars.
func (r *Report) Bar(b Bars) { r.Bars = append(r.Bars, b) }

func (b *Bars) check() error {
	if n := len(b.Names); n > MostBars {
		return fmt.Errorf("found %d names, expected at most %d", n, MostBars)
	}
	if n := len(b.Series); n > seriesColours {
		return fmt.Errorf("found %d series, expected at most %d", n, seriesColours)
	}
	for i, s := range b.Series {
		if len(s.Values) != len(b.Names) {
			return fmt.Errorf("series %d (%q): found %d values, expected %d, one per name", i, s.Name, len(s.Values), len(b.Names))
		}
	}
	return nil
}

// value names a number of the plot for people.
func (b *Bars) value(v uint64) string {
	if b.Y == "bytes" && v <= math.MaxInt64 {
		return human.Bytes(int64(v))
	}
	return human.CountU(v)
}

// axis returns the axis of the numbers, which ends at a round number of them, or of KiB, MiB, ...
func (b *Bars) axis(most float64) axis {
	unit, name := 1.0, human.Tick
	if b.Y == "bytes" {
		suffix := " B"
		for _, s := range []string{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"} {
			if most < 1024*unit {
				break
			}
			unit, suffix = 1024*unit, s
		}
		name = func(v float64) string { return human.Tick(v) + suffix }
	}
	top, ticks := upTo(most/unit, 5, name)
	for i := range ticks {
		ticks[i].at *= unit
	}
	return axis{lo: 0, hi: top * unit, ticks: ticks, label: b.Y}
}

// draw draws the bars, or returns "" where no number is above 0.
func (b *Bars) draw(id string) template.HTML {
	most := uint64(0)
	for _, s := range b.Series {
		for _, v := range s.Values {
			most = max(most, v)
		}
	}
	if most == 0 {
		return ""
	}
	x := axis{lo: 0, hi: float64(len(b.Names)), label: b.X}
	for i, name := range b.Names {
		x.ticks = append(x.ticks, tick{float64(i) + 0.5, human.Cut(human.Printable(name), 12)})
	}
	f := newFrame(x, b.axis(float64(most)), 0)
	d := newDrawing(id, plotWidth, plotHeight, b.Title, b.describe())
	f.grid(d)
	for i, name := range b.Names {
		x0, x1 := f.x.at(float64(i)), f.x.at(float64(i+1))
		gap := min(0.2*(x1-x0), 10)
		w := (x1 - x0 - gap) / float64(len(b.Series))
		tooltip := []string{human.Printable(b.X) + " " + human.Printable(name)}
		for k, s := range b.Series {
			if v := s.Values[i]; v > 0 {
				y := min(f.y.at(float64(v)), f.y.from-0.5) // what is there shows
				d.rect("bar s"+strconv.Itoa(k), "", x0+gap/2+float64(k)*w, y, w, f.y.from-y)
			}
			tooltip = append(tooltip, human.Printable(s.Name)+": "+b.value(s.Values[i]))
		}
		f.hover(d, float64(i), float64(i+1), strings.Join(tooltip, " · "))
	}
	f.labels(d)
	return d.end()
}

// describe says for screen readers what the plot shows.
func (b *Bars) describe() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s of each %s.", human.Printable(b.Title), human.Printable(b.Y), human.Printable(b.X))
	for _, x := range b.Series {
		least, _, most := x.span()
		fmt.Fprintf(&s, " %s: %s to %s.", human.Printable(x.Name), b.value(least), b.value(most))
	}
	return s.String()
}

// span returns the least number, the mean and the largest number.
func (s *BarSeries) span() (least uint64, mean float64, most uint64) {
	for i, v := range s.Values {
		if i == 0 || v < least {
			least = v
		}
		most = max(most, v)
		mean += float64(v) / float64(len(s.Values))
	}
	return least, mean, most
}

// figure returns the plot for the page, with the range of each series.
func (b *Bars) figure(id string) figure {
	f := figure{ID: id, Title: human.Printable(b.Title), SVG: b.draw(id), SeriesTitle: "range", SeriesHead: []string{"least", "mean", "most", "most to mean"}}
	if f.SVG == "" {
		f.NothingYet = "Nothing to draw: there is no number above 0."
	}
	for k, s := range b.Series {
		least, mean, most := s.span()
		num := func(v uint64) cell { return cell{b.value(v), "", human.ExactU(v), true} }
		ratio := 1.0
		if mean > 0 {
			ratio = float64(most) / mean
		}
		f.Series = append(f.Series, seriesView{human.Printable(s.Name), "s" + strconv.Itoa(k), []cell{
			num(least), {b.value(uint64(min(mean, math.MaxInt64))), "", fmt.Sprint(mean), true}, num(most),
			{human.Number(ratio), "", fmt.Sprint(ratio), true}}})
	}
	return f
}
