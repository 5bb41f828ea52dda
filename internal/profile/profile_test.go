package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/report"
)

// numbersOf is a column of float64.
func numbersOf(values []float64) *graph.Column {
	return &graph.Column{Name: "a", DType: graph.Float64, Rows: len(values), Values: graph.Bytes(values)}
}

// textsOf is a column of texts.
func textsOf(texts ...string) *graph.Column {
	c := &graph.Column{Name: "a", DType: graph.String, Rows: len(texts), StringOffsets: graph.Index{U64: []uint64{0}}}
	for _, text := range texts {
		c.Values = append(c.Values, text...)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}

// every takes each third row.
func every(first int, keep []bool) {
	for i := range keep {
		keep[i] = (first+i)%3 == 0
	}
}

// Profiles of random numbers are those of a loop over all of them, whether they fit into the memory or not.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		values := make([]float64, []int{0, 1, 2, 50, 30_000}[r.IntN(5)])
		law := r.IntN(3)
		for k := range values {
			switch x := r.Float64(); {
			case x < 0.1:
				values[k] = math.NaN()
			case x < 0.12:
				values[k] = math.Inf(1)
			case law == 0:
				values[k] = float64(r.IntN(4))
			case law == 1:
				values[k] = 7
			default:
				values[k] = r.NormFloat64() * 1e3
			}
		}
		c := &Column{Column: numbersOf(values)}
		kept := slices.Clone(values)
		if r.IntN(2) == 0 {
			c.Mark = make([]byte, len(values))
			for k := range values {
				if r.IntN(4) == 0 {
					c.Mark[k], kept[k] = 1, math.NaN()
				}
			}
		}
		if r.IntN(2) == 0 {
			c.Rows = every
			all := kept
			kept = nil
			for k := 0; k < len(all); k += 3 {
				kept = append(kept, all[k])
			}
		}
		want := expected(kept)
		for _, memory := range []int64{1, 0} {
			got, err := Of(t.Context(), c, nil, memory)
			if err != nil {
				t.Fatal(err)
			}
			if n := got.Numbers; n != nil { // exact, and held to fractions by package exact
				want.Numbers.Mean, want.Numbers.Deviation = n.Mean, n.Deviation
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("case %d, %d values, memory %d: %s", i, len(values), memory, diff)
			}
		}
	}
}

// expected is the profile of numbers by sorting and counting.
func expected(values []float64) report.ColumnProfile {
	out := report.ColumnProfile{Name: "a", Rows: int64(len(values)), Values: int64(len(values))}
	var finite []float64
	for _, x := range values {
		switch {
		case x != x:
			out.Missing++
		case math.IsInf(x, 0):
			out.Infinite++
		default:
			finite = append(finite, x)
		}
	}
	if len(finite) == 0 {
		return out
	}
	slices.Sort(finite)
	n := &report.NumberProfile{Least: finite[0], Greatest: finite[len(finite)-1], Histogram: make([]int64, Bins)}
	counts := map[float64]int64{}
	for _, x := range finite {
		counts[x]++
		n.Histogram[binOf(x, n.Least, n.Greatest)]++
	}
	for _, q := range []int{5, 25, 50, 75, 95} {
		at := q * (len(finite) - 1)
		low, high := finite[at/100], finite[min(at/100+1, len(finite)-1)]
		n.Quantiles = append(n.Quantiles, low+(high-low)*(float64(at%100)/100))
	}
	out.Distinct = int64(len(counts))
	for range min(5, len(counts)) {
		best, most := 0.0, int64(0)
		for x, c := range counts {
			if c > most || c == most && x < best {
				best, most = x, c
			}
		}
		out.Top = append(out.Top, report.ValueCount{Value: strconv.FormatFloat(best, 'g', -1, 64), Count: most})
		delete(counts, best)
	}
	out.Numbers = n
	return out
}

// Numbers whose squares and distances float64 does not have are summarised in numbers.
func TestGreatNumbers(t *testing.T) {
	for _, values := range [][]float64{{-math.MaxFloat64, math.MaxFloat64}, {-math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64}, {math.MaxFloat64, math.MaxFloat64, 1}, {1e300, -1e300, 0}, {0, 5e-324}, {math.Copysign(0, -1), 0, 5e-324}} {
		got, err := Of(t.Context(), &Column{Column: numbersOf(values)}, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range append([]float64{got.Numbers.Mean, got.Numbers.Deviation}, got.Numbers.Quantiles...) {
			if math.IsInf(x, 0) || math.IsNaN(x) {
				t.Errorf("%g: found %+v, expected finite numbers", values, got.Numbers)
			}
		}
	}
}

// Whole numbers above 2^53 are told apart, and are written with all digits.
func TestWholeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		counts := map[int64]int64{}
		values := make([]int64, 1+r.IntN(9000))
		for i := range values {
			values[i] = []int64{1 << 53, math.MaxInt64 - 8, math.MinInt64 + 9, -1e6}[r.IntN(4)] + int64(r.IntN(3))
			counts[values[i]]++
		}
		c := &graph.Column{Name: "a", DType: graph.Int64, Rows: len(values), Values: graph.Bytes(values)}
		for _, memory := range []int64{1, 0} {
			got, err := Of(t.Context(), &Column{Column: c}, nil, memory)
			if err != nil || got.Distinct != int64(len(counts)) {
				t.Fatalf("found %d distinct numbers, %v, expected %d", got.Distinct, err, len(counts))
			}
			for _, v := range got.Top {
				x, err := strconv.ParseInt(v.Value, 10, 64)
				if err != nil || counts[x] != v.Count {
					t.Errorf("found %+v, %v, expected %d", v, err, counts[x])
				}
			}
		}
	}
	of := []uint64{math.MaxUint64, math.MaxUint64 - 1, 0}
	got, err := Of(t.Context(), &Column{Column: &graph.Column{Name: "a", DType: graph.Uint64, Rows: 3, Values: graph.Bytes(of)}}, nil, 0)
	if err != nil || got.Distinct != 3 || got.Top[2].Value != "18446744073709551615" {
		t.Errorf("found %+v, %v, expected three numbers", got, err)
	}
}

// Texts that take more than the memory are not counted, and everything else is.
func TestUncounted(t *testing.T) {
	got, err := Of(t.Context(), &Column{Column: textsOf("b", "", "a", "b")}, nil, 100)
	if err != nil || !got.Uncounted || got.Distinct != 0 || got.Top != nil || got.Values != 4 || got.Missing != 1 {
		t.Errorf("found %+v, %v, expected 4 values of which one is missing, and no counts", got, err)
	}
}

// Texts, categories, lists and times are summarised as what they are.
func TestKinds(t *testing.T) {
	categories := &graph.Column{Name: "a", DType: graph.Int32, Rows: 4, Values: graph.Bytes([]int32{1, -1, 0, 1}), Categories: textsOf("x", "y")}
	tags := textsOf("p", "q", "p")
	tags.Rows, tags.Shape, tags.Offsets = 2, []int{-1}, []graph.Index{{U64: []uint64{0, 2, 3}}}
	times := &graph.Column{Name: "a", DType: graph.Int64, Unit: "ms", Rows: 3, Values: graph.Bytes([]int64{graph.NoTime, -1500, 0})}
	vectors := &graph.Column{Name: "a", DType: graph.Float32, Shape: []int{2}, Rows: 2, Values: graph.Bytes([]float32{1, 2, 2, float32(math.NaN())})}
	cells := &graph.Column{Name: "a", DType: graph.Int64, Shape: []int{2}, Rows: 2, Values: graph.Bytes([]int64{7, 0, 0, 0})}
	for _, c := range []struct {
		column                    *Column
		values, missing, distinct int64
		top                       []report.ValueCount
	}{
		{&Column{Column: textsOf("b", "", "a", "b")}, 4, 1, 2, []report.ValueCount{{Value: "b", Count: 2}, {Value: "a", Count: 1}}},
		{&Column{Column: textsOf("b", "c"), Mark: []byte{1, 0}}, 2, 1, 1, []report.ValueCount{{Value: "c", Count: 1}}},
		{&Column{Column: textsOf("", "p", "q", "q"), Mark: []byte{1, 0, 0, 0}}, 4, 1, 2, []report.ValueCount{{Value: "q", Count: 2}, {Value: "p", Count: 1}}},
		{&Column{Column: vectors, Mark: []byte{0, 1, 1, 0}}, 4, 3, 1, []report.ValueCount{{Value: "1", Count: 1}}},
		{&Column{Column: vectors, Mark: []byte{1, 0}}, 4, 3, 1, []report.ValueCount{{Value: "2", Count: 1}}},
		{&Column{Column: cells, Mark: []byte{0, 1, 0, 1}}, 4, 2, 2, []report.ValueCount{{Value: "0", Count: 1}, {Value: "7", Count: 1}}},
		{&Column{Column: categories}, 4, 1, 2, []report.ValueCount{{Value: "y", Count: 2}, {Value: "x", Count: 1}}},
		{&Column{Column: tags}, 3, 0, 2, []report.ValueCount{{Value: "p", Count: 2}, {Value: "q", Count: 1}}},
		{&Column{Column: times}, 3, 1, 2, []report.ValueCount{{Value: "1969-12-31T23:59:58.5Z", Count: 1}, {Value: "1970-01-01T00:00:00Z", Count: 1}}},
		{&Column{Column: vectors}, 4, 1, 2, []report.ValueCount{{Value: "2", Count: 2}, {Value: "1", Count: 1}}},
		{&Column{Column: vectors, Mark: []byte{0, 1}}, 4, 2, 2, []report.ValueCount{{Value: "1", Count: 1}, {Value: "2", Count: 1}}},
	} {
		got, err := Of(t.Context(), c.column, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.top, got.Top); diff != "" || got.Values != c.values || got.Missing != c.missing || got.Distinct != c.distinct {
			t.Errorf("%v: found %+v, expected %d values, %d missing, %d distinct\n%s", c.column.Column, got, c.values, c.missing, c.distinct, diff)
		}
	}
}

// Drift is 0 of equal columns in another order, and 1 of columns that have nothing in common.
func TestDrift(t *testing.T) {
	for _, c := range []struct {
		a, b *graph.Column
		want float64
	}{
		{numbersOf([]float64{1, 2, 3, 4}), numbersOf([]float64{4, 3, 2, 1}), 0},
		{numbersOf([]float64{1, 2, 3, 4}), numbersOf([]float64{5, 6, 7}), 1},
		{numbersOf([]float64{5, 6, 7}), numbersOf([]float64{1, 2, 3, 4}), 1},
		{numbersOf([]float64{1, 2, 3, 4}), numbersOf([]float64{1, 2, 5, 6}), 0.5},
		{textsOf("a", "b"), textsOf("b", "a", "a", "b"), 0},
		{textsOf("a", "b"), textsOf("c"), 1},
		{textsOf("a", "b"), textsOf("b", ""), 0.5},
	} {
		got, err := Of(t.Context(), &Column{Column: c.a}, &Column{Column: c.b}, 0)
		if err != nil || got.Drift == nil || math.Abs(*got.Drift-c.want) > 1e-12 {
			t.Errorf("found the drift %v, %v, expected %g", got.Drift, err, c.want)
		}
	}
	if got, err := Of(t.Context(), &Column{Column: textsOf("a")}, &Column{Column: numbersOf([]float64{1})}, 0); err != nil || got.Drift != nil {
		t.Errorf("found the drift %v of a text and a number, expected none", got.Drift)
	}
}
