package features

import (
	"context"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/internal/exact"
)

// ordered is numbers in ascending order, of which some are repeats of one number, fill. It gives the number at a place. Where the numbers do not fit into the
// memory, it has those of the places that were asked for before.
type ordered struct {
	n      int       // with the repeats
	sorted []float64 // all but the repeats; nil: they did not fit
	places []int     // of the numbers that are there, ascending
	values []float64 // at places
	mode   float64   // the most frequent of all but the repeats, of several the least

	fill   float64
	fills  int // repeats
	before int // numbers below fill

	asked  []int // places that were asked for
	asking bool  // numbers come later
}

// at is the number at place i.
func (o *ordered) at(i int) float64 {
	switch {
	case o.fills > 0 && i >= o.before && i < o.before+o.fills:
		return o.fill
	case o.fills > 0 && i >= o.before+o.fills:
		i -= o.fills
	}
	switch {
	case o.asking:
		o.asked = append(o.asked, i)
		return 0
	case o.sorted != nil:
		return o.sorted[i]
	}
	k, _ := slices.BinarySearch(o.places, i)
	return o.values[k]
}

// filled adds repeats of a number.
func (o *ordered) filled(fill float64, fills, before int) *ordered {
	x := *o
	x.fill, x.fills, x.before, x.n = fill, fills, before, o.n+fills
	return &x
}

// order sorts n numbers, none of them NaN. places are of the numbers that the result has, if not all fit into memory.
// The result is valid until the next call with the same sorter.
func order(ctx context.Context, from exact.Numbers, n int, places []int, memory int64, sorter *exact.Sorter) (*ordered, error) {
	o := &ordered{n: n}
	most := 0
	count := func(sorted []float64, each int) {
		exact.Runs(sorted, each, func(x float64, count int) {
			if count > most {
				o.mode, most = x, count
			}
		})
	}
	if exact.Whole(n, memory) {
		var err error
		o.sorted, err = sorter.Sort(ctx, from, n)
		count(o.sorted, 1)
		return o, err
	}
	slices.Sort(places)
	picked := exact.Picked[float64]{At: slices.Compact(places)}
	err := sorter.Visit(ctx, from, n, memory, func(sorted []float64, each, first int) {
		picked.Add(sorted, each, first)
		count(sorted, each)
	})
	o.places, o.values = picked.At, picked.Values
	return o, err
}

// below counts the numbers below x.
func below(sorted []float64, x float64) int { return sort.SearchFloat64s(sorted, x) }
