package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// View is how a Distribution is drawn.
type View string

const (
	// CCDF draws the share of numbers that are at least x over logarithmic axes. It suits degrees: a power law is a
	// straight line.
	CCDF View = "ccdf"
	// Bins draws the share of numbers in each bin. It suits sizes. The bins are logarithmic where linear bins would
	// show only a spike and a tail.
	Bins View = "bins"
)

// Distribution is a plot of how numbers are distributed, such as the in-degrees of each edge type, or the nodes and
// edges of subgraphs.
type Distribution struct {
	Title string `json:"title"`
	// Of names the things that have the number, in the plural: "nodes", "subgraphs".
	Of string `json:"of"`
	// What names the number: "in-degree", "size".
	What   string   `json:"what"`
	View   View     `json:"view"`
	Series []Series `json:"series"`
}

// Series is one line of a Distribution.
type Series struct {
	Name      string     `json:"name"`
	Histogram *Histogram `json:"histogram"`
}

func (d *Distribution) check() error {
	if d.View != CCDF && d.View != Bins {
		return fmt.Errorf("found view %q, expected %q or %q", d.View, CCDF, Bins)
	}
	for i, s := range d.Series {
		if s.Histogram == nil {
			return fmt.Errorf("series %d (%q): found no histogram, expected one", i, s.Name)
		}
	}
	return nil
}

// roles gives colours to the series with the most numbers and grey to the next ones. The rest is not drawn, and is in
// the table only.
func (d *Distribution) roles() []role {
	order := make([]int, 0, len(d.Series))
	for i, s := range d.Series {
		if h := s.Histogram; h.Count() > 0 && (d.View != CCDF || h.Max() > 0) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(d.Series[b].Histogram.Count(), d.Series[a].Histogram.Count())
	})
	roles := make([]role, len(d.Series))
	coloured := slices.Clone(order[:min(len(order), seriesColours)])
	slices.Sort(coloured)
	for k, i := range coloured {
		roles[i] = roleSeries0 + role(k)
	}
	for k, i := range order {
		if k >= seriesColours && k < linesDrawn {
			roles[i] = roleRest
		}
	}
	return roles
}

// figure returns the plot for the page, with the numbers of its series.
func (d *Distribution) figure(id string) figure {
	of, withZeros := human.Printable(d.Of), false
	f := figure{ID: id, Title: human.Printable(d.Title), SeriesTitle: "quantiles", Wide: len(d.Series) > 4}
	roles := d.roles()
	if d.View == CCDF {
		f.SVG = d.drawCCDF(id, roles)
	} else {
		f.SVG = d.drawBins(id, roles)
	}
	if f.SVG == "" {
		f.NothingYet = "Nothing to draw: there is no number above 0."
	}
	grey, hidden := 0, 0
	for i, s := range d.Series {
		h := s.Histogram
		withZeros = withZeros || h.Zeros() > 0
		switch {
		case roles[i] == roleRest:
			grey++
		case roles[i] == roleNone && h.Count() > 0 && h.Max() > 0:
			hidden++
		}
	}
	if grey > 0 {
		f.Footnote = fmt.Sprintf("In colour: the %d with the most %s; grey: %d more.", seriesColours, of, grey)
	}
	if hidden > 0 {
		f.Footnote += fmt.Sprintf(" Not drawn: %d.", hidden)
	}
	f.SeriesHead = append(f.SeriesHead, of)
	if withZeros {
		f.SeriesHead = append(f.SeriesHead, "at 0")
	}
	f.SeriesHead = append(f.SeriesHead, "mean", "median", "p90", "p99", "max")
	for i, s := range d.Series {
		f.Series = append(f.Series, seriesView{human.Printable(s.Name), roles[i].class(), s.cells(withZeros)})
	}
	return f
}

// cells returns the numbers of the series for its row of the table, with the share of zeros if zeros is set.
func (s *Series) cells(zeros bool) []cell {
	h := s.Histogram
	num := func(n uint64) cell { return cell{human.CountU(n), "", human.ExactU(n), true} }
	cells := []cell{num(h.Count())}
	if zeros {
		share := 0.0
		if h.Count() > 0 {
			share = float64(h.Zeros()) / float64(h.Count())
		}
		cells = append(cells, cell{human.Percent(share), "", human.ExactU(h.Zeros()), true})
	}
	cells = append(cells, cell{human.Number(h.Mean()), "", fmt.Sprint(h.Mean()), true})
	for _, q := range []float64{0.5, 0.9, 0.99} {
		cells = append(cells, num(h.Quantile(q)))
	}
	return append(cells, num(h.Max()))
}

// describe says for screen readers what the plot shows.
func (d *Distribution) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s.", human.Printable(d.Title), human.Printable(d.What), human.Printable(d.Of))
	for i, s := range d.Series {
		if i == 3 && len(d.Series) > 4 {
			fmt.Fprintf(&b, " %d more in the table below.", len(d.Series)-i)
			break
		}
		h := s.Histogram
		fmt.Fprintf(&b, " %s: median %s, 99th percentile %s, largest %s.", human.Printable(s.Name),
			human.CountU(h.Quantile(0.5)), human.CountU(h.Quantile(0.99)), human.CountU(h.Max()))
	}
	return b.String()
}
