package profile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/exact"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/report"
)

// Bins is how many ranges a histogram has.
const Bins = 20

// most is how many of the most frequent values a profile has.
const most = 5

// blockValues is how many values are read at a time.
const blockValues = 1 << 12

// shares are the quantiles of a profile, in percent.
var shares = []int{5, 25, 50, 75, 95}

// driftShares is how many quantiles of the other column a drift compares.
const driftShares = 1000

// Column is a column to summarise.
type Column struct {
	*graph.Column
	Mark []byte        // bools of rows that are missing; nil: none
	Rows features.Rows // the rows that count; nil: all
}

// Options bound what Of takes.
type Options struct {
	Memory  int64                   // of what is sorted and counted; 0: no bound
	Touched func(bytes int64) error // counts bytes of columns that were read; nil: not counted
}

// Of summarises a column, against another one unless that is nil.
func Of(ctx context.Context, c, other *Column, o Options) (report.ColumnProfile, error) {
	if o.Memory == 0 {
		o.Memory = math.MaxInt64
	}
	p := profiler{ctx: ctx, c: c, o: o}
	p.out.Name, p.out.Unit = c.Name, string(c.Unit)
	if texts(c.Column) {
		return p.out, p.texts(other)
	}
	return p.out, p.numbers(other)
}

// texts says whether the values of a column are texts.
func texts(c *graph.Column) bool { return c.DType == graph.String || c.Categories != nil }

// profiler summarises a column.
type profiler struct {
	ctx context.Context
	c   *Column
	o   Options
	out report.ColumnProfile
}

// rows calls fn with ranges of rows that count, one after another.
func (p *profiler) rows(c *Column, fn func(first, last int) error) error {
	keep := make([]bool, blockValues)
	bytes := int64(0)
	if c.Column.Rows > 0 {
		bytes = c.Bytes()/int64(c.Column.Rows) + 1
	}
	for first := 0; first < c.Column.Rows; first += len(keep) {
		block := keep[:min(len(keep), c.Column.Rows-first)]
		for i := range block {
			block[i] = true
		}
		if c.Rows != nil {
			c.Rows(first, block)
		}
		for i := 0; i < len(block); {
			j := i
			for j < len(block) && block[j] {
				j++
			}
			if j > i {
				if err := fn(first+i, first+j); err != nil {
					return err
				}
			}
			i = j + 1
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if p.o.Touched != nil {
			if err := p.o.Touched(bytes * int64(len(block))); err != nil {
				return err
			}
		}
	}
	return nil
}

// tally counts the values of a column that are none of its numbers.
type tally struct{ rows, values, missing, infinite int64 }

// pass calls fn with the finite numbers of a column.
func (p *profiler) pass(c *Column, t *tally, fn func(values []float64) error) error {
	buffer := make([]float64, blockValues)
	return p.rows(c, func(first, last int) error {
		t.rows += int64(last - first)
		for row := first; row < last; {
			end := last
			if c.Mark != nil { // marks are per row
				end = row + 1
			}
			from, to := c.Span(row, end)
			missing := c.Mark != nil && c.Mark[row] != 0
			for at := from; at < to; at += len(buffer) {
				block := buffer[:min(len(buffer), to-at)]
				t.values += int64(len(block))
				if missing {
					t.missing += int64(len(block))
					continue
				}
				if err := fn(p.finite(c, at, block, t)); err != nil {
					return err
				}
			}
			row = end
		}
		return nil
	})
}

// finite reads values from at on, and keeps those that are finite numbers.
func (p *profiler) finite(c *Column, at int, block []float64, t *tally) []float64 {
	features.Float64s(c.Column, at, 1, block)
	known := 0
	for i, x := range block {
		switch {
		case x != x, c.Unit != "" && graph.View[int64](c.Values)[at+i] == graph.NoTime:
			t.missing++
		case math.IsInf(x, 0):
			t.infinite++
		default:
			block[known] = x
			known++
		}
	}
	return block[:known]
}

// numbers summarises a column of numbers or times.
func (p *profiler) numbers(other *Column) error {
	var t tally
	var sums exact.Sums
	least, greatest := math.Inf(1), math.Inf(-1)
	if err := p.pass(p.c, &t, func(values []float64) error {
		for _, x := range values {
			least, greatest = min(least, x), max(greatest, x)
		}
		sums.Add(values)
		return nil
	}); err != nil {
		return err
	}
	out := &p.out
	out.Rows, out.Values, out.Missing, out.Infinite = t.rows, t.values, t.missing, t.infinite
	n := int(sums.N())
	if n == 0 {
		return nil
	}
	number := &report.NumberProfile{Least: least, Greatest: greatest, Histogram: make([]int64, Bins)}
	number.Mean, number.Deviation = sums.Moments()
	number.Mean = min(max(number.Mean, least), greatest)
	if !(number.Deviation <= math.MaxFloat64) { // of numbers near the greatest that there is
		number.Deviation = math.MaxFloat64
	}
	out.Numbers = number
	top := frequent{}
	places := placesOf(n, shares, 100)
	var found []float64
	var sorter exact.Sorter
	err := sorter.Visit(p.ctx, p.finiteNumbers(p.c), n, p.o.Memory, func(sorted []float64, each, first int) {
		for k := len(found); k < len(places) && places[k] < first+len(sorted)*each; k++ {
			found = append(found, sorted[(places[k]-first)/each])
		}
		for i := 0; i < len(sorted); {
			j := i + 1
			for j < len(sorted) && sorted[j] == sorted[i] {
				j++
			}
			count := int64(j-i) * int64(each)
			number.Histogram[binOf(sorted[i], least, greatest)] += count
			out.Distinct++
			top.add(count, sorted[i])
			i = j
		}
	})
	if err != nil {
		return err
	}
	for i, share := range shares {
		low, high := found[2*i], found[2*i+1]
		rest := float64(share*(n-1)%100) / 100
		between := low + float64((high-low)*rest)
		if math.IsInf(between, 0) { // the distance has no number
			between = float64(low*(1-rest)) + float64(high*rest)
		}
		number.Quantiles = append(number.Quantiles, between)
	}
	for _, v := range top.of {
		out.Top = append(out.Top, report.ValueCount{Value: p.shown(v.x), Count: v.count})
	}
	if other == nil {
		return nil
	}
	drift, err := p.numbersDrift(other, n)
	out.Drift = drift
	return err
}

// finiteNumbers are the finite numbers of a column, for a sort.
func (p *profiler) finiteNumbers(c *Column) exact.Numbers {
	return func(fn func([]float64) error) error { return p.pass(c, &tally{}, fn) }
}

// placesOf are the places of the two numbers between which each share of n sorted numbers lies, ascending.
func placesOf(n int, shares []int, of int) (places []int) {
	for _, share := range shares {
		at := share * (n - 1) / of
		places = append(places, at, min(at+1, n-1))
	}
	return places
}

// binOf is the range of a histogram that has x.
func binOf(x, least, greatest float64) int {
	if !(greatest > least) {
		return 0
	}
	share := (x/2 - least/2) / (greatest/2 - least/2) // halves do not overflow
	return min(Bins-1, int(share*Bins))
}

// shown is a number or a time as text.
func (p *profiler) shown(x float64) string {
	if p.c.Unit == "" {
		bits := 64
		if p.c.DType == graph.Float32 {
			bits = 32
		}
		return strconv.FormatFloat(x, 'g', -1, bits)
	}
	per := p.c.Unit.PerSecond()
	seconds := math.Floor(x / float64(per))
	return time.Unix(int64(seconds), int64((x-seconds*float64(per))*float64(1e9/per))).UTC().Format(time.RFC3339Nano)
}

// frequent keeps the most frequent numbers; of equally frequent ones the least.
type frequent struct{ of []counted }

// counted is a number and how often it occurs.
type counted struct {
	x     float64
	count int64
}

// add adds a number that is greater than those before.
func (f *frequent) add(count int64, x float64) {
	if len(f.of) == most && count <= f.of[most-1].count {
		return
	}
	at := len(f.of)
	for at > 0 && f.of[at-1].count < count {
		at--
	}
	f.of = slices.Insert(f.of, at, counted{x, count})
	f.of = f.of[:min(len(f.of), most)]
}

// numbersDrift compares the shares of n numbers that are at most the quantiles of another column.
func (p *profiler) numbersDrift(other *Column, n int) (*float64, error) {
	if texts(other.Column) || other.Unit != p.c.Unit {
		return nil, nil
	}
	count := 0
	numbers := p.finiteNumbers(other)
	if err := numbers(func(values []float64) error { count += len(values); return nil }); err != nil || count == 0 {
		return nil, err
	}
	points := make([]float64, 0, driftShares+1)
	var sorter exact.Sorter
	err := sorter.Visit(p.ctx, numbers, count, p.o.Memory, func(sorted []float64, each, first int) {
		for len(points) <= driftShares {
			place := len(points) * (count - 1) / driftShares
			if place >= first+len(sorted)*each {
				return
			}
			points = append(points, sorted[(place-first)/each])
		}
	})
	if err != nil {
		return nil, err
	}
	points = slices.Compact(points)
	theirs, err := p.sharesAt(other, points, count)
	if err != nil {
		return nil, err
	}
	ours, err := p.sharesAt(p.c, points, n)
	if err != nil {
		return nil, err
	}
	drift := 0.0
	for i := range ours {
		drift = max(drift, math.Abs(ours[i]-theirs[i]))
	}
	return &drift, nil
}

// sharesAt are the shares of the n numbers of a column that are below each point, and that are at most it.
func (p *profiler) sharesAt(c *Column, points []float64, n int) ([]float64, error) {
	between, equal := make([]int, len(points)), make([]int, len(points))
	err := p.finiteNumbers(c)(func(values []float64) error {
		for _, x := range values {
			switch at, is := slices.BinarySearch(points, x); {
			case is:
				equal[at]++
			case at < len(points):
				between[at]++
			}
		}
		return nil
	})
	var shares []float64
	below := 0
	for i := range points {
		below += between[i]
		shares = append(shares, float64(below)/float64(n))
		below += equal[i]
		shares = append(shares, float64(below)/float64(n))
	}
	return shares, err
}

// texts summarises a column of texts or categories.
func (p *profiler) texts(other *Column) error {
	var t tally
	counts, err := p.countTexts(p.c, &t)
	if err != nil {
		return err
	}
	out := &p.out
	out.Rows, out.Values, out.Missing, out.Distinct = t.rows, t.values, t.missing, int64(len(counts))
	order := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for _, text := range order[:min(len(order), most)] {
		out.Top = append(out.Top, report.ValueCount{Value: text, Count: counts[text]})
	}
	if other == nil || !texts(other.Column) {
		return nil
	}
	var u tally
	theirs, err := p.countTexts(other, &u)
	if err != nil {
		return err
	}
	ours, all := float64(t.values-t.missing), float64(u.values-u.missing)
	if ours == 0 || all == 0 {
		return nil
	}
	drift := 0.0
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		drift += math.Abs(float64(counts[text])/ours - float64(theirs[text])/all)
	}
	for _, text := range slices.Sorted(maps.Keys(theirs)) {
		if counts[text] == 0 {
			drift += float64(theirs[text]) / all
		}
	}
	drift /= 2
	out.Drift = &drift
	return nil
}

// textBytes is about what a text takes in a map beside its bytes.
const textBytes = 64

// countTexts counts the texts of a column; an empty one is missing.
func (p *profiler) countTexts(c *Column, t *tally) (map[string]int64, error) {
	places, counts := map[string]int32{}, []int64{}
	held := int64(0)
	err := p.rows(c, func(first, last int) error {
		t.rows += int64(last - first)
		for row := first; row < last; row++ {
			from, to := c.Span(row, row+1)
			for i := from; i < to; i++ {
				t.values++
				var text []byte
				switch {
				case c.Mark != nil && c.Mark[row] != 0:
				case c.Categories == nil:
					text = c.Text(i)
				case graph.View[int32](c.Values)[i] >= 0:
					text = c.Categories.Text(int(graph.View[int32](c.Values)[i]))
				}
				if len(text) == 0 {
					t.missing++
					continue
				}
				if at, known := places[string(text)]; known {
					counts[at]++
					continue
				}
				if held += int64(len(text)) + textBytes; held > p.o.Memory {
					return fmt.Errorf("column %s: %w: found more than %d distinct texts, expected those that fit into the memory; give a larger `Memory`", c.Name, limits.ErrMemory, len(counts))
				}
				places[string(text)] = int32(len(counts))
				counts = append(counts, 1)
			}
		}
		return nil
	})
	out := make(map[string]int64, len(places))
	for text, at := range places {
		out[text] = counts[at]
	}
	return out, err
}
