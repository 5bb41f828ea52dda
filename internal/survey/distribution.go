package survey

import (
	"math"
	"slices"
)

const (
	// maxExact is how many different values are counted one by one.
	maxExact = 1 << 15
	// cut is the bits of a value that a bucket leaves out: sign, exponent and 11 bits
	// of the fraction stay.
	cut = 12
	// pageBuckets is the buckets that are made at a time.
	pageBuckets = 256
	pages       = 1 << (32 - cut) / pageBuckets
)

// distribution counts values: each one of them while few differ, and from then on
// in buckets. What it holds depends on the values alone, not on their order or on
// how they were spread over merged distributions. The zero value is empty.
type distribution struct {
	integers bool // all values are: those up to 4096 stay exact
	n, nan   uint64
	min, max uint32 // keys

	// A hash table by key, of a power of two places, at most half full; a place
	// without a count is free.
	keys   []uint32
	counts []uint64
	used   int

	buckets [][]uint64 // pages, in place of the table; a page that is nil is empty
}

// keyOf orders values: keys ascend as values do. -0 is 0.
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

// find is the place of a key, or the free one where it belongs.
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

// spill goes over to buckets.
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

// merge adds what o has counted.
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

// exact says whether every value was counted.
func (d *distribution) exact() bool { return d.buckets == nil }

// run is values and how many there are of them.
type run struct {
	value float32
	count uint64
}

// runs are all values, ascending; of a bucket, one that stands for it.
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

// stands is the value that stands for a bucket: its middle, of integers without
// the fraction, which makes those up to 4096 exact.
func (d *distribution) stands(bucket uint32) float32 {
	v := valueOf(bucket<<cut | 1<<(cut-1))
	if v != v { // the bucket of an infinity holds nothing else
		return float32(math.Inf(int(bucket>>(31-cut))*2 - 1))
	}
	if d.integers {
		v = float32(math.Trunc(float64(v)))
	}
	return min(max(v, valueOf(d.min)), valueOf(d.max))
}

// quantiles are q+1 values: see the package comment. None of an empty distribution.
func (d *distribution) quantiles(q int) []float32 {
	if d.n == 0 {
		return nil
	}
	all := d.runs()
	values := []float32{valueOf(d.min)}
	step, offset := float64(d.n)/float64(q), float64(d.n-1)/float64(q)
	at, through := 0, all[0].count // values through run at
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

// moments are the number, mean and sum of squares about the mean of values.
type moments struct {
	n        float64
	mean, m2 float64
}

// sums are what moments are made of: sums of differences to the first value, so
// that large values lose nothing.
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

// merge adds sums. Its result depends on their order.
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

// std is the deviation of all values, not of a sample.
func (m *moments) std() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / m.n)
}
