package report

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
)

const (
	// subBits sets the resolution: an octave has 2^subBits buckets.
	subBits = 6
	sub     = 1 << subBits
	// buckets is the number of buckets: one for each of 0..2*sub-1, then sub for each octave up to 2^64.
	buckets = 2*sub + (64-subBits-1)*sub
)

// Histogram counts unsigned numbers, such as degrees or subgraph sizes. Numbers below 128 are counted exactly. Each
// octave from there on has 64 buckets, so a bucket is at most 1/64 as wide as its numbers. Count, Sum, Min and Max
// are exact. The zero value is empty and ready to use. It takes 8 bytes per bucket up to the largest number, at most
// 30 KiB.
//
// The result depends on the numbers alone, and neither on their order nor on how they were divided among merged
// histograms.
type Histogram struct {
	counts []uint64 // indexed by bucketOf; ends with the last bucket in use
	n      uint64
	sum    uint64 // stays at the largest uint64 instead of overflowing
	min    uint64
	max    uint64
}

// bucketOf returns the bucket of v.
func bucketOf(v uint64) int {
	if v < 2*sub {
		return int(v)
	}
	e := bits.Len64(v) - subBits - 1
	return e*sub + int(v>>e)
}

// bucketLow returns the least number of bucket i.
func bucketLow(i int) uint64 {
	if i < 2*sub {
		return uint64(i)
	}
	return uint64(sub+i%sub) << (i/sub - 1)
}

// bucketHigh returns the largest number of bucket i.
func bucketHigh(i int) uint64 {
	if i+1 == buckets {
		return math.MaxUint64
	}
	return bucketLow(i+1) - 1
}

// Add counts v once.
func (h *Histogram) Add(v uint64) { h.AddN(v, 1) }

// AddN counts v n times. Count must stay below 2^64.
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

// grow makes room for bucket i. It relies on zeros between the length and the capacity of counts.
func (h *Histogram) grow(i int) {
	if i < cap(h.counts) {
		h.counts = h.counts[:i+1]
		return
	}
	counts := make([]uint64, i+1, min(buckets, i+1+i/2+sub))
	copy(counts, h.counts)
	h.counts = counts
}

// Merge adds the counts of o, which it does not change.
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

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	*h = Histogram{counts: h.counts[:0]}
}

// Count returns how many numbers were counted.
func (h *Histogram) Count() uint64 { return h.n }

// Sum returns the sum of the numbers, or the largest uint64 where the sum is larger.
func (h *Histogram) Sum() uint64 { return h.sum }

// Min returns the least number, or 0 where there is none.
func (h *Histogram) Min() uint64 { return h.min }

// Max returns the largest number, or 0 where there is none.
func (h *Histogram) Max() uint64 { return h.max }

// Mean returns Sum/Count, or 0 where there is no number.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.n)
}

// Zeros returns how many of the numbers are 0.
func (h *Histogram) Zeros() uint64 {
	if len(h.counts) == 0 {
		return 0
	}
	return h.counts[0]
}

// Quantile returns the least number v such that at least a share q of the numbers are at most v. It is exact below 128
// and for q = 1; elsewhere it is the largest number of a bucket, and so at most 1/64 too large. A q outside [0, 1]
// counts as the nearer end. Quantile returns 0 where there is no number.
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

// bucket has the count of the numbers from Low to High, both included.
type bucket struct{ Low, High, Count uint64 }

// buckets iterates over the buckets in use, in ascending order.
func (h *Histogram) buckets(yield func(bucket) bool) {
	for i, c := range h.counts {
		if c > 0 && !yield(bucket{bucketLow(i), bucketHigh(i), c}) {
			return
		}
	}
}

// Degrees counts the differences between consecutive offsets. Of the indptr of an adjacency these are the degrees. A
// negative difference counts as 0.
func Degrees[T uint32 | uint64 | int64](offsets []T) *Histogram {
	h := new(Histogram)
	for i := 1; i < len(offsets); i++ {
		h.Add(uint64(max(offsets[i], offsets[i-1]) - offsets[i-1]))
	}
	return h
}

// histogramJSON is the form of a Histogram in a file. Mean and Quantiles are for people; they follow from the rest and
// are not read back.
type histogramJSON struct {
	Count     uint64      `json:"count"`
	Sum       uint64      `json:"sum"`
	Min       uint64      `json:"min"`
	Max       uint64      `json:"max"`
	Mean      float64     `json:"mean"`
	Quantiles quantiles   `json:"quantiles"`
	Buckets   [][2]uint64 `json:"buckets"` // pairs of the least number and the count
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

// file returns the form of h in a file.
func (h *Histogram) file() histogramJSON {
	f := histogramJSON{h.n, h.sum, h.min, h.max, h.Mean(), h.quantiles(), [][2]uint64{}}
	for b := range h.buckets {
		f.Buckets = append(f.Buckets, [2]uint64{b.Low, b.Count})
	}
	return f
}

// histogram returns the Histogram of f. It checks that the buckets are buckets of this package and ascend, and that they
// allow the count, the sum, the least and the largest number.
func (f *histogramJSON) histogram() (*Histogram, error) {
	h := &Histogram{n: f.Count, sum: f.Sum, min: f.Min, max: f.Max}
	if len(f.Buckets) == 0 {
		if f.Count|f.Sum|f.Min|f.Max != 0 {
			return nil, fmt.Errorf("found no buckets for count %d, expected at least one", f.Count)
		}
		return h, nil
	}
	last := -1
	var n, least, most uint64 // the count of all buckets, and bounds of their sum
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

// AppendBinary appends h in a form that ReadBinary reads, for programs of one version: the count, the sum, the least and the largest number and the
// number of buckets in use as varints; then, for each of these, its distance to the one before and its count.
func (h *Histogram) AppendBinary(b []byte) ([]byte, error) {
	used := 0
	for range h.buckets {
		used++
	}
	for _, x := range [...]uint64{h.n, h.sum, h.min, h.max, uint64(used)} {
		b = binary.AppendUvarint(b, x)
	}
	last := 0
	for i, c := range h.counts {
		if c > 0 {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, c)
			last = i
		}
	}
	return b, nil
}

// ReadBinary replaces h by what AppendBinary has appended to the start of b, and returns the rest of b.
func (h *Histogram) ReadBinary(b []byte) (rest []byte, err error) {
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			err = io.ErrUnexpectedEOF
			return 0
		}
		b = b[n:]
		return x
	}
	f := histogramJSON{Count: next(), Sum: next(), Min: next(), Max: next()}
	at := uint64(0)
	for used := next(); used > 0 && err == nil; used-- {
		gap, count := next(), next()
		if at += gap; gap >= buckets || at >= buckets {
			return nil, fmt.Errorf("found bucket %d, expected less than %d", at, buckets)
		}
		f.Buckets = append(f.Buckets, [2]uint64{bucketLow(int(at)), count})
	}
	if err != nil {
		return nil, err
	}
	read, err := f.histogram()
	if err != nil {
		return nil, err
	}
	*h = *read
	return b, nil
}

// addProduct returns sum + v*n, and true where that or an earlier sum was above the largest uint64. It then returns
// the largest uint64 as the sum.
func addProduct(sum, v, n uint64, over bool) (uint64, bool) {
	hi, lo := bits.Mul64(v, n)
	s, carry := bits.Add64(sum, lo, 0)
	if over || hi|carry != 0 {
		return math.MaxUint64, true
	}
	return s, false
}
