package profile

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/exact"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/report"
)

// Bins is how many ranges a histogram has.
const Bins = 20

// most is how many of the most frequent values a profile has.
const most = 5

// shares are the quantiles of a profile, in percent.
var shares = []int{5, 25, 50, 75, 95}

// driftShares is how many quantiles of the other column a drift compares.
const driftShares = 1000

// Column is a column to summarise.
type Column struct {
	*graph.Column
	Mark    []byte                  // bools of what is missing, of rows or of all their values; nil: none
	Rows    features.Rows           // the rows that count; nil: all
	Touched func(bytes int64) error // counts bytes of the column that were read; nil: not counted
}

// Of summarises a column, against another one unless that is nil. Sorts and counts take at most memory; 0 is no bound. Distinct texts that do not fit are not counted.
func Of(ctx context.Context, c, other *Column, memory int64) (report.ColumnProfile, error) {
	if memory == 0 {
		memory = math.MaxInt64
	}
	p := profiler{ctx: ctx, c: c, memory: memory}
	p.out.Name, p.out.Unit = c.Name, string(c.Unit)
	var err error
	if texts(c.Column) {
		err = p.texts(other)
	} else {
		err = p.numbers(other)
	}
	return p.out, err
}

// texts says whether the values of a column are texts.
func texts(c *graph.Column) bool { return c.DType == graph.String || c.Categories != nil }

// profiler summarises a column.
type profiler struct {
	ctx    context.Context
	c      *Column
	memory int64
	sorter exact.Sorter
	out    report.ColumnProfile
}

// numbers summarises a column of numbers or times.
func (p *profiler) numbers(other *Column) error {
	var t tally
	var sums exact.Sums
	least, greatest := math.Inf(1), math.Inf(-1)
	if err := p.finiteNumbers(p.c, &t)(func(values []float64) error {
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
	number := &report.NumberProfile{Least: least, Greatest: greatest, Deviation: sums.Deviation(), Histogram: make([]int64, Bins)}
	number.Mean, _ = sums.Moments()
	out.Numbers = number
	top := frequent{}
	picked := exact.Picked[uint64]{At: placesOf(n)}
	if err := p.sorter.VisitKeys(p.ctx, p.keys(p.c), n, p.memory, func(sorted []uint64, each, first int) {
		picked.Add(sorted, each, first)
		exact.Runs(sorted, each, func(key uint64, count int) {
			number.Histogram[binOf(p.number(key), least, greatest)] += int64(count)
			out.Distinct++
			top.add(int64(count), key)
		})
	}); err != nil {
		return err
	}
	for i, share := range shares {
		low, high := p.number(picked.Values[2*i]), p.number(picked.Values[2*i+1])
		number.Quantiles = append(number.Quantiles, between(low, high, float64(share*(n-1)%100)/100))
	}
	for _, v := range top.of {
		out.Top = append(out.Top, report.ValueCount{Value: p.shown(v.key), Count: v.count})
	}
	if other == nil {
		return nil
	}
	drift, err := p.numbersDrift(other, n)
	out.Drift = drift
	return err
}

// placesOf are the places of the two numbers between which each quantile of n sorted numbers lies, ascending.
func placesOf(n int) (places []int) {
	for _, share := range shares {
		at := share * (n - 1) / 100
		places = append(places, at, min(at+1, n-1))
	}
	return places
}

// between is the number at a share of the way from one number to another.
func between(low, high, share float64) float64 {
	if math.IsInf(high-low, 0) { // the distance has no number
		return float64(low*(1-share)) + float64(high*share)
	}
	return low + float64((high-low)*share)
}

// binOf is the range of a histogram that has x.
func binOf(x, least, greatest float64) int {
	if !(greatest > least) {
		return 0
	}
	share := (x - least) / (greatest - least)
	if math.IsInf(greatest-least, 0) {
		share = (x/2 - least/2) / (greatest/2 - least/2)
	}
	return min(Bins-1, int(share*Bins))
}

// shown is the number or time of a key as text.
func (p *profiler) shown(key uint64) string {
	switch {
	case p.c.Unit != "":
		return timeText(p.c.Unit, int64(key^1<<63))
	case p.c.DType == graph.Int64:
		return strconv.FormatInt(int64(key^1<<63), 10)
	case p.c.DType == graph.Uint64:
		return strconv.FormatUint(key, 10)
	}
	x := exact.Number(key)
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// timeText is a time in a unit as text.
func timeText(unit graph.Unit, ticks int64) string {
	per := unit.PerSecond()
	seconds, rest := ticks/per, ticks%per
	if rest < 0 {
		seconds, rest = seconds-1, rest+per
	}
	return time.Unix(seconds, rest*(1e9/per)).UTC().Format(time.RFC3339Nano)
}

// frequent keeps the most frequent numbers; of equally frequent ones the least.
type frequent struct{ of []counted }

// counted is the key of a number and how often it occurs.
type counted struct {
	key   uint64
	count int64
}

// add adds a number that is greater than those before.
func (f *frequent) add(count int64, key uint64) {
	if len(f.of) == most && count <= f.of[most-1].count {
		return
	}
	at := len(f.of)
	for at > 0 && f.of[at-1].count < count {
		at--
	}
	f.of = slices.Insert(f.of, at, counted{key, count})
	f.of = f.of[:min(len(f.of), most)]
}

// numbersDrift compares the shares of n numbers that are at most the quantiles of another column.
func (p *profiler) numbersDrift(other *Column, n int) (*float64, error) {
	if texts(other.Column) || other.Unit != p.c.Unit {
		return nil, nil
	}
	count := 0
	numbers := p.finiteNumbers(other, &tally{})
	if err := numbers(func(values []float64) error { count += len(values); return nil }); err != nil || count == 0 {
		return nil, err
	}
	picked := exact.Picked[float64]{}
	for i := range driftShares + 1 {
		picked.At = append(picked.At, i*(count-1)/driftShares)
	}
	if err := p.sorter.Visit(p.ctx, numbers, count, p.memory, picked.Add); err != nil {
		return nil, err
	}
	points := slices.Compact(picked.Values)
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
	inside, equal := make([]int, len(points)), make([]int, len(points)) // below a point and above the one before, and equal to it
	err := p.finiteNumbers(c, &tally{})(func(values []float64) error {
		for _, x := range values {
			switch at, is := slices.BinarySearch(points, x); {
			case is:
				equal[at]++
			case at < len(points):
				inside[at]++
			}
		}
		return nil
	})
	var shares []float64
	below := 0
	for i := range points {
		below += inside[i]
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
	out.Rows, out.Values, out.Missing = t.rows, t.values, t.missing
	if counts == nil {
		out.Uncounted = true
		return nil
	}
	out.Distinct = int64(len(counts))
	order := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(*counts[b], *counts[a]), cmp.Compare(a, b)) })
	for _, text := range order[:min(len(order), most)] {
		out.Top = append(out.Top, report.ValueCount{Value: text, Count: *counts[text]})
	}
	if other == nil || !texts(other.Column) {
		return nil
	}
	var u tally
	theirs, err := p.countTexts(other, &u)
	if err != nil || theirs == nil {
		return err
	}
	ours, all := float64(t.values-t.missing), float64(u.values-u.missing)
	if ours == 0 || all == 0 {
		return nil
	}
	drift := 0.0
	for _, text := range slices.Sorted(maps.Keys(counts)) { // a sum in an order of its own
		share := 0.0
		if n := theirs[text]; n != nil {
			share = float64(*n) / all
		}
		drift += math.Abs(float64(*counts[text])/ours - share)
	}
	for _, text := range slices.Sorted(maps.Keys(theirs)) {
		if counts[text] == nil {
			drift += float64(*theirs[text]) / all
		}
	}
	drift /= 2
	out.Drift = &drift
	return nil
}

// textBytes is about what a text takes in a map beside its bytes.
const textBytes = 64

// countTexts counts the texts of a column; an empty one is missing. It returns nil if they take more than the memory.
func (p *profiler) countTexts(c *Column, t *tally) (map[string]*int64, error) {
	counts := map[string]*int64{}
	held := int64(0)
	count := func(text []byte, times int64) {
		switch n := counts[string(text)]; {
		case len(text) == 0:
			t.missing += times
		case counts == nil: // too many
		case n != nil:
			*n += times
		default:
			if held += int64(len(text)) + textBytes; held > p.memory {
				counts = nil
				return
			}
			counts[string(text)] = &times
		}
	}
	if c.Categories == nil {
		err := p.spans(c, t, func(from, to int) error {
			for i := from; i < to; i++ {
				count(c.Text(i), 1)
			}
			return nil
		})
		return counts, err
	}
	byCode := make([]int64, c.Categories.Rows)
	err := p.spans(c, t, func(from, to int) error {
		for _, code := range graph.View[int32](c.Values)[from:to] {
			if code < 0 {
				t.missing++
			} else {
				byCode[code]++
			}
		}
		return nil
	})
	for code, n := range byCode {
		if n > 0 {
			count(c.Categories.Text(code), n)
		}
	}
	return counts, err
}
