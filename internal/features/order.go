package features

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

// orderedBytes is the memory per number that is sorted: its key, and a place to move it to.
const orderedBytes = 16

// leastSorted is the least numbers that are sorted at once, whatever the memory.
const leastSorted = 1 << 12

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

// numbers calls fn with numbers, in any order and divided in any way, as often as it is called itself.
type numbers func(fn func(values []float64) error) error

// keyOf is a number whose order is the order of the number x; -0 is 0.
func keyOf(x float64) uint64 {
	b := math.Float64bits(x + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// ofKey is the number of a key.
func ofKey(k uint64) float64 {
	return math.Float64frombits(k ^ (uint64(int64(^k)>>63) | 1<<63))
}

// order sorts n numbers, none of them NaN. places are those of the numbers that the result has, if not all fit into memory.
// The result is valid until the next call with the same buffers.
func order(ctx context.Context, from numbers, n int, places []int, memory int64, buffers *sortBuffers) (*ordered, error) {
	o := &ordered{n: n}
	room := max(leastSorted, int(memory/orderedBytes))
	most := 0
	count := func(sorted []float64, each int) {
		for i := 0; i < len(sorted); {
			j := i + 1
			for j < len(sorted) && sorted[j] == sorted[i] {
				j++
			}
			if of := (j - i) * each; of > most {
				o.mode, most = sorted[i], of
			}
			i = j
		}
	}
	if n <= room {
		keys := buffers.empty(n)
		if err := from(func(values []float64) error {
			for _, x := range values {
				keys = append(keys, keyOf(x))
			}
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
		o.sorted = buffers.sorted(keys)
		count(o.sorted, 1)
		return o, nil
	}
	slices.Sort(places)
	o.places = slices.Compact(places)
	x := ranges{ctx: ctx, from: from, room: room, buffers: buffers, visit: func(sorted []float64, each, first int) {
		for k := len(o.values); k < len(o.places) && o.places[k] < first+len(sorted)*each; k++ {
			o.values = append(o.values, sorted[(o.places[k]-first)/each])
		}
		count(sorted, each)
	}}
	return o, x.divide(0, math.MaxUint64, 0)
}

// ranges visits numbers in ascending order, a range of their keys after another, so that those of one range fit into the memory.
type ranges struct {
	buffers *sortBuffers
	ctx     context.Context
	from    numbers
	room    int                                         // numbers
	visit   func(sorted []float64, each int, first int) // each number is there so many times; first is the place of the first
}

// divide visits the numbers whose keys are from least to greatest. first is the place of the least of them.
func (x *ranges) divide(least, greatest uint64, first int) error {
	// Buckets of equal width, of a power of two.
	shift := uint(0)
	for (greatest-least)>>shift >= 1<<16 {
		shift++
	}
	counts := make([]int, (greatest-least)>>shift+1)
	if err := x.keys(least, greatest, func(k uint64) { counts[(k-least)>>shift]++ }); err != nil {
		return err
	}
	for b := 0; b < len(counts); {
		end, n := b+1, counts[b]
		for end < len(counts) && n+counts[end] <= x.room {
			n += counts[end]
			end++
		}
		low := least + uint64(b)<<shift
		high := low + (uint64(end-b)<<shift - 1)
		if high > greatest || high < low {
			high = greatest
		}
		var err error
		switch {
		case n == 0:
		case n > x.room && shift == 0:
			x.visit([]float64{ofKey(low)}, n, first)
		case n > x.room:
			err = x.divide(low, high, first)
		default:
			keys := x.buffers.empty(n)
			if err = x.keys(low, high, func(k uint64) { keys = append(keys, k) }); err == nil {
				x.visit(x.buffers.sorted(keys), 1, first)
			}
		}
		if err != nil {
			return err
		}
		first, b = first+n, end
	}
	return nil
}

// keys calls fn with the keys from least to greatest.
func (x *ranges) keys(least, greatest uint64, fn func(k uint64)) error {
	return x.from(func(values []float64) error {
		for _, v := range values {
			if k := keyOf(v); k >= least && k <= greatest {
				fn(k)
			}
		}
		return x.ctx.Err()
	})
}

// sortBuffers are the memory of a sort, which the next one uses again.
type sortBuffers struct{ keys, other []uint64 }

// empty is a list with room for n keys.
func (b *sortBuffers) empty(n int) []uint64 {
	if cap(b.keys) < n {
		b.keys, b.other = nil, nil // free before there are larger ones
		b.keys, b.other = make([]uint64, 0, n), make([]uint64, n)
	}
	return b.keys[:0]
}

// sorted sorts keys of empty, and returns their numbers, in the memory of the buffers.
func (b *sortBuffers) sorted(keys []uint64) []float64 {
	keys = radixSorted(keys, b.other[:len(keys)])
	sorted := graph.View[float64](graph.Bytes(keys))
	for i, k := range keys {
		sorted[i] = ofKey(k)
	}
	return sorted
}

// radixSorted sorts keys by digits of 11 bits, from the last one on, into the same memory or into other; digits that all keys share take no time.
func radixSorted(keys, other []uint64) []uint64 {
	if len(keys) < 1<<10 {
		slices.Sort(keys)
		return keys
	}
	const digits, bits = 6, 11
	var counts [digits][1 << bits]uint32
	for _, k := range keys {
		for d := range digits {
			counts[d][k>>(bits*d)&(1<<bits-1)]++
		}
	}
	for d := range digits {
		of := &counts[d]
		if int(of[keys[0]>>(bits*d)&(1<<bits-1)]) == len(keys) {
			continue
		}
		at := uint32(0)
		for i, n := range of {
			of[i] = at
			at += n
		}
		for _, k := range keys {
			digit := k >> (bits * d) & (1<<bits - 1)
			other[of[digit]] = k
			of[digit]++
		}
		keys, other = other, keys
	}
	return keys
}

// below counts the numbers below x.
func below(sorted []float64, x float64) int { return sort.SearchFloat64s(sorted, x) }
