package exact

import (
	"context"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// sortedBytes is the memory per number that is sorted: its key, and a place to move it to.
const sortedBytes = 16

// leastSorted is the least numbers that are sorted at once, whatever the memory.
const leastSorted = 1 << 12

// Numbers calls fn with numbers, none of them NaN, in any order and divided in any way. It can be called again, and then has the same numbers.
type Numbers func(fn func(values []float64) error) error

// Sorter sorts numbers. Its memory is used again by the next sort. The zero value is ready.
type Sorter struct{ keys, other []uint64 }

// Key is a number whose order is the order of x, which is not NaN; -0 is 0.
func Key(x float64) uint64 {
	b := math.Float64bits(x + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// Number is the number of a key.
func Number(k uint64) float64 {
	return math.Float64frombits(k ^ (uint64(int64(^k)>>63) | 1<<63))
}

// Whole says whether n numbers are sorted at once within a memory.
func Whole(n int, memory int64) bool { return n <= max(leastSorted, int(memory/sortedBytes)) }

// Sort returns n numbers in ascending order, for which Whole is true. They are valid until the next call.
func (s *Sorter) Sort(ctx context.Context, from Numbers, n int) ([]float64, error) {
	keys := s.empty(n)
	err := from(func(values []float64) error {
		for _, x := range values {
			keys = append(keys, Key(x))
		}
		return ctx.Err()
	})
	return numbersOf(radixSorted(keys, s.other[:len(keys)])), err
}

// Visit calls visit with runs of the n numbers in ascending order; a run has as many as the memory holds. Each number of sorted stands for as many equal
// numbers as each says, and first is the place of the run among all numbers, from 0. sorted is valid during the call.
func (s *Sorter) Visit(ctx context.Context, from Numbers, n int, memory int64, visit func(sorted []float64, each, first int)) error {
	return s.VisitKeys(ctx, KeysOf(from), n, memory, func(sorted []uint64, each, first int) { visit(numbersOf(sorted), each, first) })
}

// Keys are numbers as uint64 in their order, for numbers that float64 does not have. They are called as Numbers are.
type Keys func(fn func(keys []uint64) error) error

// KeysOf are the keys of numbers.
func KeysOf(from Numbers) Keys {
	return func(fn func([]uint64) error) error {
		var keys []uint64
		return from(func(values []float64) error {
			keys = keys[:0]
			for _, x := range values {
				keys = append(keys, Key(x))
			}
			return fn(keys)
		})
	}
}

// VisitKeys is Visit for keys.
func (s *Sorter) VisitKeys(ctx context.Context, from Keys, n int, memory int64, visit func(sorted []uint64, each, first int)) error {
	if !Whole(n, memory) {
		x := ranges{s: s, ctx: ctx, from: from, room: max(leastSorted, int(memory/sortedBytes)), visit: visit}
		return x.divide(0, math.MaxUint64, 0)
	}
	keys := s.empty(n)
	err := from(func(of []uint64) error { keys = append(keys, of...); return ctx.Err() })
	if err == nil && n > 0 {
		visit(radixSorted(keys, s.other[:len(keys)]), 1, 0)
	}
	return err
}

// Runs calls fn with each distinct value of a sorted list, in order, and with its count. Each element of the list counts each times.
func Runs[T comparable](sorted []T, each int, fn func(value T, count int)) {
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		fn(sorted[i], (j-i)*each)
		i = j
	}
}

// Picked are the values at places among sorted ones. At has the places, which ascend, and Values gets a value for each.
type Picked[T any] struct {
	At     []int
	Values []T
}

// Add takes the values of a run that Visit or VisitKeys gives.
func (p *Picked[T]) Add(sorted []T, each, first int) {
	for k := len(p.Values); k < len(p.At) && p.At[k] < first+len(sorted)*each; k++ {
		p.Values = append(p.Values, sorted[(p.At[k]-first)/each])
	}
}

// ranges visits keys in ascending order, one range after another: the keys of a range fit into the memory.
type ranges struct {
	s     *Sorter
	ctx   context.Context
	from  Keys
	room  int // numbers
	visit func(sorted []uint64, each, first int)
}

// divide visits the keys from least to greatest. first is the place of the least of them.
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
			x.visit([]uint64{low}, n, first)
		case n > x.room:
			err = x.divide(low, high, first)
		default:
			keys := x.s.empty(n)
			if err = x.keys(low, high, func(k uint64) { keys = append(keys, k) }); err == nil {
				x.visit(radixSorted(keys, x.s.other[:len(keys)]), 1, first)
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
	return x.from(func(keys []uint64) error {
		for _, k := range keys {
			if k >= least && k <= greatest {
				fn(k)
			}
		}
		return x.ctx.Err()
	})
}

// empty is a list with room for n keys.
func (s *Sorter) empty(n int) []uint64 {
	if cap(s.keys) < n {
		s.keys, s.other = nil, nil // free before there are larger ones
		s.keys, s.other = make([]uint64, 0, n), make([]uint64, n)
	}
	return s.keys[:0]
}

// numbersOf are the numbers of keys, in their memory.
func numbersOf(keys []uint64) []float64 {
	numbers := graph.View[float64](graph.Bytes(keys))
	for i, k := range keys {
		numbers[i] = Number(k)
	}
	return numbers
}

// radixSorted sorts keys by digits of 11 bits, from the last one on, into the same memory or into other; digits that all keys share take no time.
func radixSorted(keys, other []uint64) []uint64 {
	if len(keys) < 1<<10 {
		slices.Sort(keys)
		return keys
	}
	const digits, bits = 6, 11
	var counts [digits][1 << bits]int
	for _, k := range keys {
		for d := range digits {
			counts[d][k>>(bits*d)&(1<<bits-1)]++
		}
	}
	for d := range digits {
		of := &counts[d]
		if of[keys[0]>>(bits*d)&(1<<bits-1)] == len(keys) {
			continue
		}
		at := 0
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
