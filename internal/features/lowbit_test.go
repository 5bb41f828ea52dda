package features

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// A number within its range comes back within half a step and the rounding of the dtype, the least and the greatest as they are; one outside becomes the bound, and is told.
func TestLowBitError(t *testing.T) {
	half := map[graph.DType]float64{graph.Float32: 0x1p-24, graph.Float16: 0x1p-11, graph.BFloat16: 0x1p-8} // of the distance to the next number, relative
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d := rapid.SampledFrom([]graph.DType{graph.Float32, graph.Float16, graph.BFloat16}).Draw(t, "dtype")
		p := &Piece{Kind: PieceLowBit, Width: rapid.IntRange(1, 9).Draw(t, "width"), Bits: rapid.SampledFrom([]int{4, 8}).Draw(t, "bits")}
		for range p.Width {
			a, b := max(-65504, min(r.NormFloat64()*math.Exp(3*r.NormFloat64()), 65504)), r.NormFloat64()
			if r.IntN(5) == 0 {
				b = a
			}
			p.Least, p.Greatest = append(p.Least, min(a, b)), append(p.Greatest, max(a, b))
		}
		if err := p.checkRange(d); err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 20).Draw(t, "rows")
		rows, outside := make([]float64, n*p.Width), map[int]bool{}
		for i := range rows {
			low, high := p.Least[i%p.Width], p.Greatest[i%p.Width]
			switch rows[i] = low + r.Float64()*(high-low); r.IntN(6) {
			case 0:
				rows[i] = low
			case 1:
				rows[i] = high
			case 2:
				rows[i], outside[i] = high+1, true
			case 3:
				rows[i], outside[i] = low-1, true
			}
		}
		stored, shape := p.Stored(d)
		if stored != graph.Uint8 || shape[0] != (p.Width*p.Bits+7)/8 {
			t.Fatalf("found rows of %s %v", stored, shape)
		}
		column := &memory{Piece: *p, data: make([]byte, n*shape[0]), size: shape[0]}
		cut := map[int]bool{}
		p.encode(rows, column.data, func(i int) { cut[i] = true })
		if fmt.Sprint(cut) != fmt.Sprint(outside) {
			t.Fatalf("found the numbers %v cut, expected %v", cut, outside)
		}
		for row := range n {
			for k, y := range column.widened(row, d) {
				x, low, high := rows[row*p.Width+k], p.Least[k], p.Greatest[k]
				x = min(max(x, low), high)
				if most := (high-low)/float64(int(1)<<p.Bits-1)/2*1.0000001 + math.Abs(y)*half[d] + 0x1p-25; math.Abs(y-x) > most {
					t.Fatalf("found %g for %g in %g to %g, expected an error of at most %g", y, x, low, high, most)
				}
				if (x == low || x == high) && y != rounded(x, d) {
					t.Fatalf("found %g for the bound %g", y, x)
				}
			}
		}
	})
}

// What the rows of the fit do not allow is refused, and named; what they do gives the ranges of the law.
func TestLowBitFit(t *testing.T) {
	column := func(name string, values ...float64) *graph.Column {
		return &graph.Column{Name: name, DType: graph.Float64, Rows: len(values), Values: graph.Bytes(values)}
	}
	nan := math.NaN()
	for _, c := range []struct {
		a, b   []float64
		parts  []Part
		fit    string // a letter per row: x is one of the fit
		dtype  graph.DType
		ranges string
		cut    string
		err    string
	}{
		{a: []float64{1, 2, 3}, b: []float64{5, 5, 5}, fit: "xxx", ranges: "[1 5] [3 5]"},
		{a: []float64{1, 2, 9}, b: []float64{5, 4, 5}, fit: "xx.", ranges: "[1 4] [2 5]", cut: "1 from 2, 0 from 0"},
		{a: []float64{1, 2, -9, 9}, b: []float64{7, 5, 7, 7}, fit: ".x..", ranges: "[2 5] [2 5]", cut: "3 from 0, 3 from 0"},
		{a: []float64{math.Copysign(0, -1)}, b: []float64{0}, fit: "x", ranges: "[0 0] [0 0]"},
		{a: []float64{1, 1e9}, b: []float64{1, 1}, fit: "x.", dtype: graph.Float16, ranges: "[1 1] [1 1]", cut: "1 from 1, 0 from 0"},
		{a: []float64{1, nan}, b: []float64{1, 1}, parts: []Part{{From: "a", Impute: ImputeConstant, Flag: true}, {From: "b"}}, fit: "x.", ranges: "[1 0 1] [1 1 1]", cut: "1 from 1, 0 from 0"},
		{a: []float64{1, 5}, b: []float64{1, 1}, parts: []Part{{From: "a", Encode: EncodeBuckets, Edges: []float64{0, 2, 9}}}, fit: "..", ranges: "[0 0 0] [1 1 1]"},
		{a: []float64{1}, b: []float64{1}, fit: ".", err: "feature u/f, a: found no row in the rows of split train, expected at least one with bits; give other rows as fit, or leave bits out"},
		{err: "feature u/f, a: found no row in the rows of split train, expected at least one with bits"},
		{a: []float64{1, 1}, b: []float64{1, 1e6}, fit: "xx", dtype: graph.Float16, err: "feature u/f, b: found a result 1e+06 in the rows of split train, expected one that float16 has; give scale or clip"},
		{a: []float64{1, 1}, b: []float64{1, nan}, fit: "x.", err: "feature u/f, b: found no value in row 1, expected one; give impute"},
	} {
		x := &referenceCase{spec: Spec{Name: "f", DType: cmp.Or(c.dtype, graph.Float32), Bits: 8, Parts: c.parts}}
		if c.parts == nil {
			x.spec.Parts = []Part{{From: "a"}, {From: "b"}}
		}
		x.table = &Table{Type: "u", Of: "the rows of split train", Rows: len(c.a), Columns: []*graph.Column{column("a", c.a...), column("b", c.b...)}, Fit: func(first int, keep []bool) {
			for i := range keep {
				keep[i] = c.fit[first+i] == 'x'
			}
		}}
		_, err := rowsOf(t, x, Options{Threads: 2})
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("fit %s of %v and %v: found %v, expected %s", c.fit, c.a, c.b, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("fit %s of %v and %v: %v", c.fit, c.a, c.b, err)
			continue
		}
		if got := fmt.Sprint(x.pieces[0].Least, " ", x.pieces[0].Greatest); got != c.ranges {
			t.Errorf("fit %s of %v and %v: found the ranges %s, expected %s", c.fit, c.a, c.b, got, c.ranges)
		}
		var cut []string
		for _, a := range x.applied {
			cut = append(cut, fmt.Sprintf("%d from %d", a.Cut, a.FirstCut))
		}
		if got := strings.Join(cut, ", "); c.cut != "" && got != c.cut || c.cut == "" && strings.Trim(got, "0 from,") != "" {
			t.Errorf("fit %s of %v and %v: found %s cut, expected %q", c.fit, c.a, c.b, got, c.cut)
		}
	}
}

// A fit of many blocks of rows in several goroutines has the ranges, and the first row that is cut, of one goroutine.
func TestLowBitBlocks(t *testing.T) {
	const rows = 3*blockRows + 17
	values := make([]float32, 2*rows)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	table := &Table{Type: "u", Rows: rows, Columns: []*graph.Column{{Name: "v", DType: graph.Float32, Shape: []int{2}, Rows: rows, Values: graph.Bytes(values)}},
		Fit: func(first int, keep []bool) {
			for i := range keep {
				keep[i] = (first+i)%3 == 0
			}
		}}
	want := ""
	for _, threads := range []int{1, 3} {
		made, err := Fit(t.Context(), table, []Spec{{Name: "f", DType: graph.Float32, Bits: 4, Parts: []Part{{From: "v"}}}}, Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		applied, err := Apply(t.Context(), table, made, func(string, *Piece) (io.WriterAt, error) { return nowhere{}, nil }, Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(made["f"].Pieces, applied[0].Cut, applied[0].FirstCut)
		if want == "" {
			want = got
		}
		if got != want || applied[0].Cut == 0 {
			t.Errorf("%d goroutines: found %s, expected %s", threads, got, want)
		}
	}
}

// Ranges that codes cannot stand for are refused when a file is read.
func TestLowBitFile(t *testing.T) {
	for _, c := range []struct {
		change func(f *Feature)
		want   string
	}{
		{func(f *Feature) {}, ""},
		{func(f *Feature) { f.Bits = 5 }, "found bits 5, expected 4 or 8"},
		{func(f *Feature) { f.Bits = 4 }, "found pieces"},
		{func(f *Feature) { f.Bits = 0 }, "found pieces"},
		{func(f *Feature) { f.Pieces[0].Bits = 4 }, "found pieces"},
		{func(f *Feature) { f.Pieces[0].Least = f.Pieces[0].Least[:1] }, "piece #f.0: found 1 least and 2 greatest numbers of 2"},
		{func(f *Feature) { f.Pieces[0].Greatest = nil }, "piece #f.0: found 2 least and 0 greatest numbers of 2"},
		{func(f *Feature) { f.Pieces[0].Least[1] = 7 }, "piece #f.0: found the range 7 to 4, expected the least number first"},
		{func(f *Feature) { f.Pieces[0].Greatest[1] = 1e6 }, "piece #f.0: found the range 3 to 1e+06, expected the least number first, and both of the dtype float16"},
		{func(f *Feature) { f.Pieces[0].Least[0] = math.NaN() }, "piece #f.0: found the range NaN to 2"},
		{func(f *Feature) { f.DType, f.Code = "int32", true }, "found bits 8 of a code"},
	} {
		f := &Feature{DType: "float16", Bits: 8, Pieces: []Piece{{Column: "#f.0", Kind: PieceLowBit, Width: 2, Bits: 8, Least: []float64{1, 3}, Greatest: []float64{2, 4}}},
			Parts: []*State{{Part: Part{From: "v"}, Width: 2, Numbers: make([]Numbers, 2)}}}
		c.change(f)
		if err := f.check("f"); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
	f := &Feature{DType: "float16", Pieces: []Piece{{Column: "f", Kind: PieceNumbers, Width: 1, Least: []float64{1}}}, Parts: []*State{{Part: Part{From: "v"}, Width: 1, Numbers: make([]Numbers, 1)}}}
	if err := f.check("f"); err == nil || err.Error() != "piece f: found a range of numbers, expected it of low-bit alone" {
		t.Errorf("found %v", err)
	}
}

// A table of all codes has a bound.
func TestLowBitWidth(t *testing.T) {
	column := &graph.Column{Name: "v", DType: graph.Uint8, Shape: []int{mostLowBit + 1}, Rows: 1, Values: make([]byte, mostLowBit+1)}
	_, err := Fit(t.Context(), &Table{Type: "u", Rows: 1, Columns: []*graph.Column{column}}, []Spec{{Name: "f", DType: graph.Float32, Bits: 4, Parts: []Part{{From: "v"}}}}, Options{Threads: 1})
	if want := "feature u/f, v: found 16385 numbers side by side, expected at most 16384 with bits; make several features of them"; err == nil || err.Error() != want {
		t.Errorf("found %v, expected %q", err, want)
	}
}
