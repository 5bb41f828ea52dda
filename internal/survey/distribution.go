package survey

import (
	"math"
	"slices"
)

const (
	// maxExact bounds the number of different values that are counted separately.
	maxExact = 1 << 15
	// cut is the number of low bits of a value that a bucket ignores. Sign, exponent and 11 bits of the fraction
	// remain.
	cut = 12
	// pageBuckets is the number of buckets that are allocated together.
	pageBuckets = 256
	pages       = 1 << (32 - cut) / pageBuckets
)

// distribution counts values: each value separately while few are different, and after that in buckets. Its content
// depends on the values alone, not on their order or on how they were divided among merged distributions. The zero
// value is empty.
type distribution struct {
	integers bool // all values are integers: those up to 4096 stay exact
	n, nan   uint64
	min, max uint32 // keys

	// A hash table by key. Its length is a power of two, and it is at most half full. A slot with count 0 is free.
	keys   []uint32
	counts []uint64
	used   int

	buckets [][]uint64 // pages of buckets, instead of the table; a nil page is empty
}

// keyOf maps values to keys in the same order. -0 is treated as 0.
func keyOf(v float32) uint32 {
	b := math.Float32bits(v + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

func valueOf(key uint32) float32 {
	if key>>31 != 0 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}

func (d *distribution) add(v float32) {
	if v != v {
		d.nan++
		return
	}
	d.addKey(keyOf(v), 1)
}

func (d *distribution) addKey(key uint32, n uint64) {
	if d.n == 0 || key < d.min {
		d.min = key
	}
	d.max = max(d.max, key)
	d.n += n
	if d.buckets != nil {
		d.addBucket(key, n)
		return
	}
	if 2*d.used >= len(d.keys) {
		d.grow()
	}
	i := d.find(key)
	if d.counts[i] == 0 {
		if d.used == maxExact {
			d.spill()
			d.addBucket(key, n)
			return
		}
		d.used++
		d.keys[i] = key
	}
	d.counts[i] += n
}

// find returns the slot of a key, or the free slot where it belongs.
func (d *distribution) find(key uint32) int {
	mask := len(d.keys) - 1
	i := int(key*0x9e3779b1>>7) & mask
	for d.counts[i] != 0 && d.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (d *distribution) grow() {
	keys, counts := d.keys, d.counts
	d.keys, d.counts = make([]uint32, max(16, 2*len(keys))), make([]uint64, max(16, 2*len(keys)))
	for i, n := range counts {
		if n > 0 {
			at := d.find(keys[i])
			d.keys[at], d.counts[at] = keys[i], n
		}
	}
}

// spill switches from the table to buckets.
func (d *distribution) spill() {
	d.buckets = make([][]uint64, pages)
	for i, n := range d.counts {
		if n > 0 {
			d.addBucket(d.keys[i], n)
		}
	}
	d.keys, d.counts, d.used = nil, nil, 0
}

func (d *distribution) addBucket(key uint32, n uint64) {
	b := key >> cut
	page := &d.buckets[b/pageBuckets]
	if *page == nil {
		*page = make([]uint64, pageBuckets)
	}
	(*page)[b%pageBuckets] += n
}

// merge adds the counts of o.
func (d *distribution) merge(o *distribution) {
	d.nan += o.nan
	if o.n == 0 {
		return
	}
	lo, hi := o.min, o.max
	if d.n > 0 {
		lo, hi = min(lo, d.min), max(hi, d.max)
	}
	for i, n := range o.counts {
		if n > 0 {
			d.addKey(o.keys[i], n)
		}
	}
	if o.buckets != nil {
		if d.buckets == nil {
			d.spill()
		}
		for p, page := range o.buckets {
			for i, n := range page {
				if n > 0 {
					d.addBucket(uint32(p*pageBuckets+i)<<cut, n)
					d.n += n
				}
			}
		}
	}
	d.min, d.max = lo, hi
}

// exact says whether every value was counted separately.
func (d *distribution) exact() bool { return d.buckets == nil }

// run is a value and its count.
type run struct {
	value float32
	count uint64
}

// runs returns all values, ascending. A bucket is represented by one value.
func (d *distribution) runs() []run {
	var all []run
	if d.exact() {
		var order []int
		for i, n := range d.counts {
			if n > 0 {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(a, b int) int { return int(int64(d.keys[a]) - int64(d.keys[b])) })
		for _, i := range order {
			all = append(all, run{valueOf(d.keys[i]), d.counts[i]})
		}
		return all
	}
	for p, page := range d.buckets {
		for i, n := range page {
			if n > 0 {
				all = append(all, run{d.stands(uint32(p*pageBuckets + i)), n})
			}
		}
	}
	return all
}

// stands returns the value that represents a bucket: its middle, which for integers is truncated, so that integers up
// to 4096 are exact.
func (d *distribution) stands(bucket uint32) float32 {
	v := valueOf(bucket<<cut | 1<<(cut-1))
	if v != v { // the bucket of an infinity contains nothing else
		return float32(math.Inf(int(bucket>>(31-cut))*2 - 1))
	}
	if d.integers {
		v = float32(math.Trunc(float64(v)))
	}
	return min(max(v, valueOf(d.min)), valueOf(d.max))
}

// quantiles returns q+1 values (see the package comment), or none for an empty distribution.
func (d *distribution) quantiles(q int) []float32 {
	if d.n == 0 {
		return nil
	}
	all := d.runs()
	values := []float32{valueOf(d.min)}
	step, offset := float64(d.n)/float64(q), float64(d.n-1)/float64(q)
	at, through := 0, all[0].count // number of values up to and including run at
	for j := range q - 1 {
		place := min(uint64(float64(j)*step+offset), d.n-1)
		for through <= place {
			at++
			through += all[at].count
		}
		values = append(values, all[at].value)
	}
	return append(values, valueOf(d.max))
}

// moments holds the number of values, their mean, and the sum of squared deviations from the mean.
type moments struct {
	n        float64
	mean, m2 float64
}

// sums accumulates sums of differences from the first value, from which moments are computed, so that large values do
// not lose precision.
type sums struct {
	n, first, sum, squares float64
}

func (s *sums) add(v float64) {
	if v != v {
		return
	}
	if s.n == 0 {
		s.first = v
	}
	s.n++
	d := v - s.first
	s.sum += d
	s.squares += d * d
}

// merge adds sums. The result depends on the order of calls.
func (m *moments) merge(s *sums) {
	if s.n == 0 {
		return
	}
	mean, m2 := s.first+s.sum/s.n, max(0, s.squares-s.sum*s.sum/s.n)
	n, d := m.n+s.n, mean-m.mean
	m.m2 += m2 + d*d*m.n*s.n/n
	m.mean += d * s.n / n
	m.n = n
}

// std returns the standard deviation of the whole population, not of a sample.
func (m *moments) std() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / m.n)
}
