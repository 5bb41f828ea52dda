package survey

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference sorts all values and takes those at the indices that Beam takes.
func reference(values []float32, q int) []float32 {
	var sorted []float32
	for _, v := range values {
		if v == v {
			sorted = append(sorted, v)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	n := len(sorted)
	out := []float32{sorted[0]}
	for j := range q - 1 {
		out = append(out, sorted[min(int(float64(j)*(float64(n)/float64(q))+float64(n-1)/float64(q)), n-1)])
	}
	return append(out, sorted[n-1])
}

// Values divided among any number of distributions give the same result as sorting them.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Float32Range(-3, 3), rapid.SampledFrom([]float32{0, 1, -1, 7, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}))).Draw(t, "values")
		q := 2 * rapid.IntRange(1, 8).Draw(t, "half the quantiles")
		parts := make([]distribution, rapid.IntRange(1, 4).Draw(t, "parts"))
		for _, v := range values {
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")].add(v)
		}
		var d distribution
		for i := range parts {
			d.merge(&parts[i])
		}
		if got, want := d.quantiles(q), reference(values, q); !slices.Equal(got, want) || !d.exact() {
			t.Fatalf("found %v, expected %v", got, want)
		}
		if d.n+d.nan != uint64(len(values)) {
			t.Fatalf("found %d values and %d NaN of %d", d.n, d.nan, len(values))
		}
	})
}

// Many different values go to buckets, wherever they were counted, with the documented error. Whole numbers up to
// 4096 stay exact.
func TestBuckets(t *testing.T) {
	var whole, left, right, integers distribution
	integers.integers = true
	var values, numbers []float32
	for i := range 3 * maxExact {
		v := float32(math.Exp(float64(i%977)/50-5) * float64(1+i))
		if i%3 == 0 {
			v = -v
		}
		values = append(values, v)
		whole.add(v)
		if i%2 == 0 {
			left.add(v)
		} else {
			right.add(v)
		}
		n := float32(i%6000 - 3000)
		if i%100 == 0 {
			n = float32(i) * 1000
		}
		numbers = append(numbers, n)
		integers.add(n)
	}
	left.merge(&right)
	got := whole.quantiles(1000)
	if whole.exact() || !slices.Equal(left.quantiles(1000), got) {
		t.Fatal("not in buckets, or not the same after a merge")
	}
	want := reference(values, 1000)
	for i, v := range got {
		if diff := math.Abs(float64(v - want[i])); diff > math.Abs(float64(want[i]))/4096 || (i == 0 || i == 1000) && diff != 0 {
			t.Errorf("quantile %d: found %v, expected %v", i, v, want[i])
		}
	}
	integers.spill()
	exact := reference(numbers, 1000)
	for i, v := range integers.quantiles(1000) {
		if math.Abs(float64(exact[i])) <= 4096 && v != exact[i] {
			t.Errorf("quantile %d of integers: found %v, expected %v", i, v, exact[i])
		}
	}
	var infinite distribution
	infinite.add(float32(math.Inf(1)))
	infinite.add(float32(math.Inf(-1)))
	infinite.add(1)
	infinite.spill()
	if got := infinite.runs(); len(got) != 3 || !math.IsInf(float64(got[0].value), -1) || !math.IsInf(float64(got[2].value), 1) {
		t.Errorf("found %v", got)
	}
}

func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOf(rapid.SliceOf(rapid.Float64Range(1e9, 1e9+10))).Draw(t, "chunks")
		var m moments
		var all []float64
		for _, c := range chunks {
			var s sums
			for _, v := range c {
				s.add(v)
				all = append(all, v)
			}
			s.add(math.NaN())
			m.merge(&s)
		}
		mean, squares := 0.0, 0.0
		for _, v := range all {
			mean += (v - 1e9) / float64(len(all))
		}
		for _, v := range all {
			squares += (v - 1e9 - mean) * (v - 1e9 - mean)
		}
		if len(all) == 0 {
			return
		}
		if math.Abs(m.mean-1e9-mean) > 1e-5 || math.Abs(m.std()-math.Sqrt(squares/float64(len(all)))) > 1e-4 {
			t.Fatalf("found mean %v and deviation %v, expected %v and %v", m.mean, m.std(), mean+1e9, math.Sqrt(squares/float64(len(all))))
		}
	})
}

// The sample of sizes is the same however the numbers are divided, and contains all of them while there are few.
func TestPairs(t *testing.T) {
	for _, n := range []int{0, 3, maxPairs, 5 * maxPairs} {
		var whole, left, right pairs
		for i := range n {
			pair := Pair{int64(i), int64(2 * i)}
			whole.add(uint64(i), pair)
			if i%7 < 3 {
				left.add(uint64(i), pair)
			} else {
				right.add(uint64(i), pair)
			}
		}
		right.merge(&left)
		got := whole.sample()
		if !slices.Equal(got, right.sample()) || len(got) != min(n, maxPairs) || !slices.IsSortedFunc(got, func(a, b Pair) int { return int(a.Nodes - b.Nodes) }) {
			t.Errorf("%d: found %d and %d pairs", n, len(got), len(right.sample()))
		}
	}
}
