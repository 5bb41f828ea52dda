package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// number is a random number of 32 bits, or of 64.
func number[T float32 | float64](r *rand.Rand) T {
	return T(math.Ldexp(r.Float64()-0.5, r.IntN(60)-30))
}

func numbers[T float32 | float64](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = number[T](r)
	}
	return x
}

// someRows is a list of rows of n, whose capacity goes beyond it.
func someRows(r *rand.Rand, n int) []uint32 {
	list := make([]uint32, r.IntN(60))
	for i := range list {
		list[i] = uint32(r.IntN(n))
	}
	return list[:r.IntN(len(list)+1)]
}

// checkSums compares sums of rows with a loop over single numbers.
func checkSums[T float32 | float64](t *rapid.T, r *rand.Rand, n int, sum func(y *[Lanes]T, x []T, rows []uint32, f float64)) {
	x, rows, f := numbers[T](r, n*Lanes), someRows(r, n), number[float64](r)
	var want, got, plain [Lanes]T
	for k := range want {
		total := 0.0
		for _, v := range rows {
			total += float64(x[int(v)*Lanes+k])
		}
		want[k], got[k], plain[k] = T(f*total), 1, 1
	}
	sum(&got, x, rows, f)
	sumPlain(&plain, x, rows, f)
	if got != want || plain != want {
		t.Fatalf("found %v and %v, expected %v", got, plain, want)
	}
}

// All functions give, to the bit, the results of loops over single numbers.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		checkSums(t, r, n, SumRows)
		checkSums(t, r, n, SumRows32)
	})
}

// steps is a way of StepRows32.
type steps func(y, x, with []float32, columns []uint32, offsets []int64, f []float64, totals *[2][Lanes]float64)

// Each way of StepRows32 gives, to the bit, the results of loops over single numbers.
func TestStepRows(t *testing.T) {
	ways := stepWays()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x, with, f := numbers[float32](r, (n+1)*Lanes), numbers[float32](r, n*Lanes), numbers[float64](r, n)
		columns, offsets := make([]uint32, 0), []int64{int64(r.IntN(3))}
		for range n {
			offsets = append(offsets, offsets[len(offsets)-1]+int64(r.IntN(1+r.IntN(60))))
		}
		for range int(offsets[n]) + r.IntN(3) {
			columns = append(columns, uint32(r.IntN(n+1)))
		}
		before := [2][Lanes]float64{[Lanes]float64(numbers[float64](r, Lanes)), [Lanes]float64(numbers[float64](r, Lanes))}
		want, totals := make([]float32, n*Lanes), before
		for at := range want {
			u, k, sum := at/Lanes, at%Lanes, 0.0
			for _, v := range columns[offsets[u]:offsets[u+1]] {
				sum += float64(x[int(v)*Lanes+k])
			}
			want[at] = float32(f[u] * sum)
			totals[0][k] += float64(sum * float64(with[at]))
			totals[1][k] += float64(sum * float64(want[at]))
		}
		for name, step := range ways {
			got, all := make([]float32, n*Lanes), before
			step(got, x, with, columns, offsets, f, &all)
			if !slices.Equal(got, want) || all != totals {
				t.Fatalf("%s: found %v and %v, expected %v and %v", name, got, all, want, totals)
			}
		}
	})
}

func TestStepRowsRefuse(t *testing.T) {
	var totals [2][Lanes]float64
	numbers := func(n int) []float32 { return make([]float32, n) }
	for way, step := range stepWays() {
		for name, f := range map[string]func(){
			"a column beyond": func() {
				step(numbers(Lanes), numbers(2*Lanes), numbers(Lanes), []uint32{0, 2}, []int64{0, 2}, []float64{1}, &totals)
			},
			"half a row": func() {
				step(numbers(Lanes), numbers(2*Lanes+Lanes/2), numbers(Lanes), []uint32{2}, []int64{0, 1}, []float64{1}, &totals)
			},
			"a column of no rows": func() {
				step(numbers(Lanes), nil, numbers(Lanes), []uint32{0}, []int64{0, 1}, []float64{1}, &totals)
			},
			"offsets beyond": func() {
				step(numbers(Lanes), numbers(2*Lanes), numbers(Lanes), []uint32{0, 1}, []int64{0, 3}, []float64{1}, &totals)
			},
			"a negative start": func() {
				step(numbers(Lanes), numbers(2*Lanes), numbers(Lanes), []uint32{0, 1}, []int64{-1, 1}, []float64{1}, &totals)
			},
			"a negative end": func() {
				step(numbers(Lanes), numbers(2*Lanes), numbers(Lanes), []uint32{0, 1}, []int64{0, -1}, []float64{1}, &totals)
			},
		} {
			if !panics(f) {
				t.Errorf("%s, %s: found no panic, expected one", way, name)
			}
		}
	}
	for name, f := range map[string]func(){
		"fewer rows":    func() { StepRows32(nil, nil, nil, nil, []int64{0, 0}, []float64{1}, &totals) },
		"fewer factors": func() { StepRows32(numbers(16), nil, numbers(16), nil, []int64{0}, nil, &totals) },
		"fewer offsets": func() { StepRows32(numbers(16), nil, numbers(16), nil, []int64{0}, []float64{1}, &totals) },
		"less with":     func() { StepRows32(numbers(16), nil, nil, nil, []int64{0, 0}, []float64{1}, &totals) },
	} {
		if !panics(f) {
			t.Errorf("%s: found no panic, expected one", name)
		}
	}
	StepRows32(nil, nil, nil, nil, []int64{0}, nil, &totals)
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestRowsRefuse(t *testing.T) {
	var y [Lanes]float64
	var z [Lanes]float32
	for name, f := range map[string]func(){
		"a row beyond":            func() { SumRows(&y, make([]float64, 32), []uint32{0, 2}, 1) },
		"a row far beyond":        func() { SumRows(&y, make([]float64, 32), []uint32{1<<32 - 1}, 1) },
		"half a row":              func() { SumRows(&y, make([]float64, 40), []uint32{2}, 1) },
		"a row of 32 bits beyond": func() { SumRows32(&z, make([]float32, 40), []uint32{2}, 1) },
	} {
		if !panics(f) {
			t.Errorf("%s: found no panic, expected one", name)
		}
	}
}
