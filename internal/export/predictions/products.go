package predictions

import (
	"math"
	"slices"
)

// dot is the sum of the products of two rows of equally many numbers, each product rounded, in NumPy's order of pairwise summation: so equal to
// numpy.add.reduce(a * b), with which the Python client makes the same scores.
func dot(a, b []float64) float64 { return 0 + pairwise(a, b[:len(a)]) }

// pairwise adds up to 128 products in eight sums, and more in two halves.
func pairwise(a, b []float64) float64 {
	const most = 128
	n := len(a)
	switch {
	case n < 8:
		var sum float64
		for i, x := range a {
			sum += float64(x * b[i]) // the conversion keeps the compiler from fusing both operations
		}
		return sum
	case n > most:
		half := n / 2
		half -= half % 8
		return pairwise(a[:half], b[:half]) + pairwise(a[half:], b[half:])
	}
	r0, r1, r2, r3 := a[0]*b[0], a[1]*b[1], a[2]*b[2], a[3]*b[3]
	r4, r5, r6, r7 := a[4]*b[4], a[5]*b[5], a[6]*b[6], a[7]*b[7]
	i := 8
	for ; i+8 <= n; i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		r0 += float64(x[0] * y[0])
		r1 += float64(x[1] * y[1])
		r2 += float64(x[2] * y[2])
		r3 += float64(x[3] * y[3])
		r4 += float64(x[4] * y[4])
		r5 += float64(x[5] * y[5])
		r6 += float64(x[6] * y[6])
		r7 += float64(x[7] * y[7])
	}
	sum := ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
	for ; i < n; i++ {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// scoring is how a score is made of two rows and their lengths.
type scoring struct {
	cosine bool
	single bool // scores are float32
}

// of is the score of two rows.
func (s scoring) of(a, b []float64, lengthA, lengthB float64) float64 {
	x := dot(a, b)
	if s.cosine {
		if both := lengthA * lengthB; both > 0 {
			x /= both
		} else {
			x = 0
		}
	}
	if s.single {
		x = float64(float32(x))
	}
	return x
}

// length is the length of a row.
func length(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// scored is an item with its score.
type scored struct {
	item  uint64
	score float64
}

// before orders items: by falling score, then by their numbers.
func (x scored) before(y scored) bool {
	return x.score > y.score || (x.score == y.score && x.item < y.item)
}

// best are the first k items of those that were offered, as a heap whose root is the last of them.
type best struct {
	k     int
	items []scored
}

// wants says whether an item that comes after all earlier ones would be among the first k.
func (b *best) wants(score float64) bool { return len(b.items) < b.k || score > b.items[0].score }

// offer adds an item that is wanted.
func (b *best) offer(x scored) {
	if len(b.items) < b.k {
		b.items = append(b.items, x)
		for i := len(b.items) - 1; i > 0; {
			up := (i - 1) / 2
			if !b.items[up].before(b.items[i]) {
				return
			}
			b.items[up], b.items[i] = b.items[i], b.items[up]
			i = up
		}
		return
	}
	b.items[0] = x
	for i := 0; ; {
		last := 2*i + 1
		if last >= len(b.items) {
			return
		}
		if last+1 < len(b.items) && b.items[last].before(b.items[last+1]) {
			last++
		}
		if !b.items[i].before(b.items[last]) {
			return
		}
		b.items[i], b.items[last] = b.items[last], b.items[i]
		i = last
	}
}

// sort puts the items in their order. Nothing can be offered then.
func (b *best) sort() {
	slices.SortFunc(b.items, func(x, y scored) int {
		if x.before(y) {
			return -1
		}
		return 1
	})
}
