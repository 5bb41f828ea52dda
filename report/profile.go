package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

// ColumnProfile summarises the values of a column in some rows.
type ColumnProfile struct {
	Type string `json:"type"` // node type, or edge type as "src:rel:dst"
	Name string `json:"name"`
	// Unit is the unit of a column of times, whose numbers count units since 1970-01-01T00:00:00Z; "" of others.
	Unit string `json:"unit,omitempty"`
	// Part is the part of the split that the rows are in; "" is all rows.
	Part    string `json:"part,omitempty"`
	Rows    int64  `json:"rows"`
	Values  int64  `json:"values"`  // of all rows: more than rows in a column of vectors or lists
	Missing int64  `json:"missing"` // values that are NaN, missing times and categories, empty texts, and those that NAME_missing marks
	// Infinite counts infinities, which no other figure has.
	Infinite int64 `json:"infinite,omitempty"`
	Distinct int64 `json:"distinct"`
	// Uncounted says that Distinct and Top are not known, because the texts take more than the memory.
	Uncounted bool `json:"uncounted,omitempty"`
	// Of numbers and times, which are in their unit; nil for others, and where there is no value.
	Numbers *NumberProfile `json:"numbers,omitempty"`
	// Top are the most frequent values, at most 5.
	Top []ValueCount `json:"top,omitempty"`
	// Drift is how far the values are from the same column of another store, from 0 (equal) to 1 (nothing in common). For numbers it is the greatest difference
	// between the shares of values below any one value, for texts half the sum of the differences of their shares. Nil where nothing is compared.
	Drift *float64 `json:"drift,omitempty"`
}

// NumberProfile is where numbers lie.
type NumberProfile struct {
	Least     float64   `json:"least"`
	Greatest  float64   `json:"greatest"`
	Mean      float64   `json:"mean"`
	Deviation float64   `json:"deviation"` // root of the mean square of the distances to the mean
	Quantiles []float64 `json:"quantiles"` // at 5, 25, 50, 75 and 95 %
	Histogram []int64   `json:"histogram"` // numbers in 20 ranges of equal width from the least to the greatest
}

// ValueCount is how often a value occurs.
type ValueCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// check refuses a profile that the page cannot show.
func (p *ColumnProfile) check() error {
	for _, n := range []int64{p.Rows, p.Values, p.Missing, p.Infinite, p.Distinct} {
		if n < 0 {
			return fmt.Errorf("found the count %d, expected 0 or more", n)
		}
	}
	for _, v := range p.Top {
		if v.Count < 0 {
			return fmt.Errorf("found the count %d of %q, expected 0 or more", v.Count, v.Value)
		}
	}
	n := p.Numbers
	if n == nil {
		return nil
	}
	if len(n.Quantiles) != 5 || len(n.Histogram) != 20 || slices.Min(n.Histogram) < 0 {
		return fmt.Errorf("found %d quantiles and the histogram %v, expected 5 and 20 counts", len(n.Quantiles), n.Histogram)
	}
	return nil
}

// median is the middle of the numbers.
func (n *NumberProfile) median() float64 { return n.Quantiles[len(n.Quantiles)/2] }

// bars are the heights of a histogram in a line of text.
var bars = []rune("▁▂▃▄▅▆▇█")

// writeProfiles writes a line per profile.
func writeProfiles(w io.Writer, profiles []ColumnProfile) {
	if len(profiles) == 0 {
		return
	}
	drift := slices.ContainsFunc(profiles, func(p ColumnProfile) bool { return p.Drift != nil })
	fmt.Fprint(w, "\nVALUES OF\tROWS\tMISSING\tDISTINCT\t")
	if drift {
		fmt.Fprint(w, "DRIFT\t")
	}
	fmt.Fprintln(w, "LEAST, MEDIAN, GREATEST; OR MOST FREQUENT")
	for i := range profiles {
		p := &profiles[i]
		name := human.Printable(p.Type) + "/" + human.Printable(p.Name)
		if p.Part != "" {
			name = "  " + human.Printable(p.Part)
		}
		distinct := human.Exact(p.Distinct)
		if p.Uncounted {
			distinct = "many"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t", name, human.Exact(p.Rows), human.Exact(p.Missing), distinct)
		switch {
		case p.Drift != nil:
			fmt.Fprintf(w, "%.3f\t", *p.Drift)
		case drift:
			fmt.Fprint(w, "\t")
		}
		if n := p.Numbers; n != nil { // the last cell of a line widens no column
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.numberText(n.Least), p.numberText(n.median()), p.numberText(n.Greatest), histogramText(n.Histogram))
		} else {
			fmt.Fprintln(w, p.topText())
		}
	}
}

// topText lists the values that occur more than once, the most frequent first.
func (p *ColumnProfile) topText() string {
	var top []string
	for _, v := range p.Top[:min(len(p.Top), shownCategories)] {
		if v.Count > 1 {
			top = append(top, fmt.Sprintf("%s (%s)", human.Printable(human.Cut(v.Value, longestValue)), human.Exact(v.Count)))
		}
	}
	return strings.Join(top, ", ")
}

// longestValue is how many characters of a value are shown.
const longestValue = 40

// numberText is a number of a column in a few digits, or the day of a time.
func (p *ColumnProfile) numberText(x float64) string {
	per := map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[p.Unit]
	seconds := x / per
	if per == 0 || math.Abs(seconds) > 1<<38 { // a year of five digits
		return human.Number(x)
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC().Format(time.DateOnly)
}

// histogramText draws a histogram, two ranges in a character.
func histogramText(counts []int64) string {
	most := 1.0
	var pairs []float64
	for pair := range slices.Chunk(counts, 2) {
		n := 0.0
		for _, count := range pair {
			n += float64(count)
		}
		pairs, most = append(pairs, n), max(most, n)
	}
	var b strings.Builder
	for _, n := range pairs {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(bars[min(len(bars)-1, int(n*float64(len(bars))/most))])
	}
	return strings.TrimRight(b.String(), " ")
}
