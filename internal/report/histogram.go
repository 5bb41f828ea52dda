package report

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	// subBits fixes the resolution: an octave has 2^subBits buckets.
	subBits = 6
	sub     = 1 << subBits
	// buckets is the number of all buckets: 0..2*sub-1 exactly, then sub an
	// octave up to 2^64.
	buckets = 2*sub + (64-subBits-1)*sub
)

// Histogram counts unsigned numbers: degrees, subgraph sizes. Numbers below 128
// are counted exactly; above, 64 buckets an octave, so a bucket is at most 1/64
// as wide as its numbers. Count, Sum, Min and Max are exact. The zero value is
// empty and ready; memory is 8 bytes a bucket up to the largest number seen, at
// most 30 KiB.
//
// The result depends on the numbers alone, not on their order or on how they
// were spread over merged histograms.
type Histogram struct {
	counts []uint64 // by bucketOf; no longer than the last bucket in use needs
	n      uint64
	sum    uint64 // stays at its maximum once it would pass it
	min    uint64
	max    uint64
}

// bucketOf is the bucket of v.
func bucketOf(v uint64) int {
	if v < 2*sub {
		return int(v)
	}
	e := bits.Len64(v) - subBits - 1
	return e*sub + int(v>>e)
}

// bucketLow is the least number of bucket i.
func bucketLow(i int) uint64 {
	if i < 2*sub {
		return uint64(i)
	}
	return uint64(sub+i%sub) << (i/sub - 1)
}

// bucketHigh is the largest number of bucket i.
func bucketHigh(i int) uint64 {
	if i+1 == buckets {
		return math.MaxUint64
	}
	return bucketLow(i+1) - 1
}

// Add counts v once.
func (h *Histogram) Add(v uint64) { h.AddN(v, 1) }

// AddN counts v n times. The number of all numbers must stay below 2^64.
func (h *Histogram) AddN(v, n uint64) {
	if n == 0 {
		return
	}
	i := bucketOf(v)
	if i >= len(h.counts) {
		h.grow(i)
	}
	h.counts[i] += n
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.n += n
	over, lo := bits.Mul64(v, n)
	if sum, carry := bits.Add64(h.sum, lo, 0); over|carry == 0 {
		h.sum = sum
	} else {
		h.sum = math.MaxUint64
	}
}

// grow makes bucket i exist. The memory between len and cap is zero.
func (h *Histogram) grow(i int) {
	if i < cap(h.counts) {
		h.counts = h.counts[:i+1]
		return
	}
	counts := make([]uint64, i+1, min(buckets, i+1+i/2+sub))
	copy(counts, h.counts)
	h.counts = counts
}

// Merge adds what o has counted. o stays as it is.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	if len(o.counts) > len(h.counts) {
		h.grow(len(o.counts) - 1)
	}
	for i, c := range o.counts {
		h.counts[i] += c
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	if sum, carry := bits.Add64(h.sum, o.sum, 0); carry == 0 {
		h.sum = sum
	} else {
		h.sum = math.MaxUint64
	}
}

// Reset makes h empty and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	*h = Histogram{counts: h.counts[:0]}
}

// Count is how many numbers were counted.
func (h *Histogram) Count() uint64 { return h.n }

// Sum is the sum of the numbers, or the largest uint64 where it would pass that.
func (h *Histogram) Sum() uint64 { return h.sum }

// Min is the least number, 0 when there is none.
func (h *Histogram) Min() uint64 { return h.min }

// Max is the largest number, 0 when there is none.
func (h *Histogram) Max() uint64 { return h.max }

// Mean is Sum/Count, 0 when there is none.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.n)
}

// Zeros is how many of the numbers are 0.
func (h *Histogram) Zeros() uint64 {
	if len(h.counts) == 0 {
		return 0
	}
	return h.counts[0]
}

// Quantile is the least number that at least a share q of the numbers do not
// pass: exact below 128 and at q = 1, otherwise the top of its bucket, at most
// 1/64 too large. q is taken into [0, 1]; 0 when there is no number.
func (h *Histogram) Quantile(q float64) uint64 {
	if h.n == 0 {
		return 0
	}
	rank := uint64(1)
	if r := math.Ceil(q * float64(h.n)); r >= float64(h.n) {
		rank = h.n
	} else if r > 1 {
		rank = uint64(r)
	}
	seen := uint64(0)
	for i, c := range h.counts {
		if seen += c; seen >= rank {
			return min(bucketHigh(i), h.max)
		}
	}
	return h.max
}

// Bucket is a range of numbers, both ends in it, and how many there were.
type Bucket struct{ Low, High, Count uint64 }

// Buckets is an iterator over the buckets in use, ascending.
func (h *Histogram) Buckets(yield func(Bucket) bool) {
	for i, c := range h.counts {
		if c > 0 && !yield(Bucket{bucketLow(i), bucketHigh(i), c}) {
			return
		}
	}
}

// Degrees counts the steps of offsets: the degrees of an adjacency's indptr.
// The offsets ascend; a step back counts as 0.
func Degrees[T uint32 | uint64 | int64](offsets []T) *Histogram {
	h := new(Histogram)
	for i := 1; i < len(offsets); i++ {
		h.Add(uint64(max(offsets[i], offsets[i-1]) - offsets[i-1]))
	}
	return h
}

// histogramJSON is a Histogram in a file. Mean and Quantiles are for readers;
// they follow from the rest and are not read back.
type histogramJSON struct {
	Count     uint64      `json:"count"`
	Sum       uint64      `json:"sum"`
	Min       uint64      `json:"min"`
	Max       uint64      `json:"max"`
	Mean      float64     `json:"mean"`
	Quantiles quantiles   `json:"quantiles"`
	Buckets   [][2]uint64 `json:"buckets"` // least number, count
}

type quantiles struct {
	P1  uint64 `json:"p1"`
	P10 uint64 `json:"p10"`
	P50 uint64 `json:"p50"`
	P90 uint64 `json:"p90"`
	P99 uint64 `json:"p99"`
}

func (h *Histogram) quantiles() quantiles {
	return quantiles{h.Quantile(0.01), h.Quantile(0.1), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99)}
}

// file is what JSON holds of h.
func (h *Histogram) file() histogramJSON {
	f := histogramJSON{h.n, h.sum, h.min, h.max, h.Mean(), h.quantiles(), [][2]uint64{}}
	for b := range h.Buckets {
		f.Buckets = append(f.Buckets, [2]uint64{b.Low, b.Count})
	}
	return f
}

// histogram checks f: its buckets are those of this package, ascending, and
// count, sum, min and max can be theirs.
func (f *histogramJSON) histogram() (*Histogram, error) {
	h := &Histogram{n: f.Count, sum: f.Sum, min: f.Min, max: f.Max}
	if len(f.Buckets) == 0 {
		if f.Count|f.Sum|f.Min|f.Max != 0 {
			return nil, fmt.Errorf("found no buckets for count %d, expected some", f.Count)
		}
		return h, nil
	}
	last := -1
	var n, least, most uint64 // of the buckets: count, bounds of the sum
	var leastOver, mostOver bool
	for _, b := range f.Buckets {
		i := bucketOf(b[0])
		if bucketLow(i) != b[0] {
			return nil, fmt.Errorf("found a bucket from %d, expected one from %d", b[0], bucketLow(i))
		}
		if i <= last || b[1] == 0 {
			return nil, fmt.Errorf("found bucket %d out of order or empty, expected ascending buckets in use", b[0])
		}
		last = i
		var carry uint64
		if n, carry = bits.Add64(n, b[1], 0); carry != 0 {
			return nil, fmt.Errorf("found more than 2^64 numbers, expected fewer")
		}
		least, leastOver = addProduct(least, b[0], b[1], leastOver)
		most, mostOver = addProduct(most, bucketHigh(i), b[1], mostOver)
	}
	first := bucketOf(f.Buckets[0][0])
	switch {
	case n != f.Count:
		return nil, fmt.Errorf("found count %d, expected %d, the sum of its buckets", f.Count, n)
	case f.Min > f.Max || bucketOf(f.Min) != first || bucketOf(f.Max) != last:
		return nil, fmt.Errorf("found min %d and max %d, expected them in the first and the last bucket", f.Min, f.Max)
	case f.Sum < least || leastOver && f.Sum != math.MaxUint64 || !mostOver && f.Sum > most:
		return nil, fmt.Errorf("found sum %d, expected one that the buckets allow", f.Sum)
	}
	h.counts = make([]uint64, last+1)
	for _, b := range f.Buckets {
		h.counts[bucketOf(b[0])] = b[1]
	}
	return h, nil
}

// addProduct is sum + v*n, held at its maximum, and whether it ever passed it.
func addProduct(sum, v, n uint64, over bool) (uint64, bool) {
	hi, lo := bits.Mul64(v, n)
	s, carry := bits.Add64(sum, lo, 0)
	if over || hi|carry != 0 {
		return math.MaxUint64, true
	}
	return s, false
}
