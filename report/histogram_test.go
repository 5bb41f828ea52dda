package report

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sizes draws numbers of every magnitude.
func sizes() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Max(300), rapid.Custom(func(t *rapid.T) uint64 {
		return rapid.Uint64().Draw(t, "bits") >> rapid.IntRange(0, 63).Draw(t, "shift")
	}))
}

func TestBucketsCoverAllNumbers(t *testing.T) {
	for i := range buckets {
		low, high := bucketLow(i), bucketHigh(i)
		if bucketOf(low) != i || bucketOf(high) != i {
			t.Fatalf("bucket %d is %d..%d, whose ends are in %d and %d", i, low, high, bucketOf(low), bucketOf(high))
		}
		if i > 0 && bucketHigh(i-1)+1 != low {
			t.Fatalf("a gap before bucket %d", i)
		}
		if (high-low)*sub > low && high != low {
			t.Fatalf("bucket %d..%d is wider than 1/%d of its numbers", low, high, sub)
		}
	}
	if bucketHigh(buckets-1) != math.MaxUint64 {
		t.Fatal("the last bucket does not hold the largest number")
	}
}

func TestHistogramAgainstSortedNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(sizes(), 1, 200).Draw(t, "numbers")
		// They go to three histograms, one of them used before, which are then merged.
		parts := []*Histogram{new(Histogram), new(Histogram), new(Histogram)}
		parts[1].Add(1 << 40)
		parts[1].Reset()
		for _, v := range numbers {
			parts[rapid.IntRange(0, 2).Draw(t, "part")].Add(v)
		}
		h := new(Histogram)
		for _, p := range parts {
			h.Merge(p)
		}

		slices.Sort(numbers)
		n := len(numbers)
		sum, over := uint64(0), false
		for _, v := range numbers {
			sum, over = addProduct(sum, v, 1, over)
		}
		zeros := 0
		for _, v := range numbers {
			if v == 0 {
				zeros++
			}
		}
		if h.Count() != uint64(n) || h.Sum() != sum || h.Min() != numbers[0] || h.Max() != numbers[n-1] || h.Zeros() != uint64(zeros) {
			t.Fatalf("got count %d sum %d min %d max %d zeros %d", h.Count(), h.Sum(), h.Min(), h.Max(), h.Zeros())
		}
		for _, q := range []float64{-1, 0, 0.01, 0.25, 0.5, 0.9, 0.99, 1, 2} {
			rank := min(max(int(math.Ceil(q*float64(n))), 1), n)
			want, got := numbers[rank-1], h.Quantile(q)
			if got < want || got-want > want/sub || want < 2*sub && got != want {
				t.Fatalf("quantile %v: got %d, want %d or at most 1/%d more", q, got, want, sub)
			}
		}

		one := new(Histogram) // the same numbers in another order
		for _, v := range slices.Backward(numbers) {
			one.Add(v)
		}
		a, _ := json.Marshal(h)
		b, _ := json.Marshal(one)
		if string(a) != string(b) {
			t.Fatalf("order matters:\n%s\n%s", a, b)
		}
		var back Histogram
		if err := json.Unmarshal(a, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(*one, back, cmp.AllowUnexported(Histogram{})); d != "" {
			t.Fatalf("read back: %s", d)
		}
		packed := must(h.AppendBinary([]byte("x")))
		back = Histogram{}
		rest, err := back.ReadBinary(append(packed[1:], "after"...))
		if d := cmp.Diff(*one, back, cmp.AllowUnexported(Histogram{})); d != "" || err != nil || string(rest) != "after" {
			t.Fatalf("read back from %x: %v, %q after it, %s", packed, err, rest, d)
		}
		cut := rapid.IntRange(1, len(packed)-1).Draw(t, "cut")
		if _, err := back.ReadBinary(packed[1:cut]); err == nil {
			t.Fatalf("found no error for %d of %d bytes", cut-1, len(packed)-1)
		}
	})
}

func TestDegrees(t *testing.T) {
	h := Degrees([]uint64{0, 2, 2, 3, 103})
	if h.Count() != 4 || h.Sum() != 103 || h.Zeros() != 1 || h.Max() != 100 || h.Mean() != 25.75 {
		t.Errorf("got %s", must(json.Marshal(h)))
	}
	if h := Degrees([]uint32(nil)); h.Count() != 0 || h.Mean() != 0 || h.Quantile(0.5) != 0 {
		t.Errorf("of nothing: got %s", must(json.Marshal(h)))
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestHistogramRefusesWhatDoesNotFit(t *testing.T) {
	for name, s := range map[string]string{
		"count":          `{"count":3,"sum":5,"min":2,"max":3,"buckets":[[2,1],[3,1]]}`,
		"sum low":        `{"count":2,"sum":4,"min":2,"max":3,"buckets":[[2,1],[3,1]]}`,
		"sum high":       `{"count":2,"sum":6,"min":2,"max":3,"buckets":[[2,1],[3,1]]}`,
		"min":            `{"count":2,"sum":5,"min":1,"max":3,"buckets":[[2,1],[3,1]]}`,
		"max":            `{"count":2,"sum":5,"min":2,"max":9,"buckets":[[2,1],[3,1]]}`,
		"order":          `{"count":2,"sum":5,"min":2,"max":3,"buckets":[[3,1],[2,1]]}`,
		"empty bucket":   `{"count":1,"sum":2,"min":2,"max":2,"buckets":[[2,1],[3,0]]}`,
		"no such bucket": `{"count":1,"sum":129,"min":129,"max":129,"buckets":[[129,1]]}`,
		"no buckets":     `{"count":1,"sum":0,"min":0,"max":0,"buckets":[]}`,
		"too many":       `{"count":0,"sum":0,"min":0,"max":1,"buckets":[[0,1],[1,18446744073709551615]]}`,
		"unknown":        `{"count":0,"sum":0,"min":0,"max":0,"buckets":[],"p50":1}`,
		"negative":       `{"count":-1}`,
	} {
		if err := json.Unmarshal([]byte(s), new(Histogram)); err == nil {
			t.Errorf("%s: %s is accepted", name, s)
		}
	}
	for name, b := range map[string][]byte{
		"count":           {3, 5, 2, 3, 2, 2, 1, 1, 1},
		"no such bucket":  {1, 1, 1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1},
		"the same bucket": {2, 4, 2, 2, 2, 2, 1, 0, 1},
	} {
		if _, err := new(Histogram).ReadBinary(b); err == nil {
			t.Errorf("%s: %x is accepted", name, b)
		}
	}
	if _, err := new(Histogram).ReadBinary([]byte{2, 5, 2, 3, 2, 2, 1, 1, 1}); err != nil {
		t.Error(err)
	}
	good := `{"count":2,"sum":5,"min":2,"max":3,"mean":9,"quantiles":{},"buckets":[[2,1],[3,1]]}`
	if err := json.Unmarshal([]byte(good), new(Histogram)); err != nil {
		t.Error(err)
	}
}

func BenchmarkAdd(b *testing.B) {
	var h Histogram
	v := uint64(1)
	for b.Loop() {
		v = v*6364136223846793005 + 1442695040888963407
		h.Add(v >> 52)
	}
}
