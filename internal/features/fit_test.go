package features

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/graph"
)

// What a column of bools marks is missing: a row, or a value of a vector that was made of several columns.
func TestMarks(t *testing.T) {
	numbers := &graph.Column{Name: "v", DType: graph.Int64, Shape: []int{2}, Rows: 3, Values: graph.Bytes([]int64{1, 0, 3, 4, 0, 8})}
	for _, c := range []struct {
		mark *graph.Column
		want [][]float64
	}{
		{&graph.Column{Name: "v_missing", DType: graph.Bool, Shape: []int{2}, Rows: 3, Values: []byte{0, 1, 0, 0, 1, 0}}, [][]float64{{1, 6, 1}, {3, 4, 0}, {2, 8, 1}}},
		{&graph.Column{Name: "v_missing", DType: graph.Bool, Rows: 3, Values: []byte{0, 0, 1}}, [][]float64{{1, 0, 0}, {3, 4, 0}, {2, 2, 1}}},
		{&graph.Column{Name: "other", DType: graph.Bool, Rows: 3, Values: []byte{1, 1, 1}}, [][]float64{{1, 0, 0}, {3, 4, 0}, {0, 8, 0}}},
	} {
		x := &referenceCase{table: &Table{Rows: 3, Columns: []*graph.Column{numbers, c.mark}}, spec: Spec{Name: "f", DType: graph.Float32, Parts: []Part{{From: "v", Impute: ImputeMean, Flag: true}}}}
		got, err := rowsOf(t, x, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("marked by %s of shape %v: %s", c.mark.Name, c.mark.Shape, diff)
		}
	}
}

// A fill and a bound of clip of a column of whole numbers are rounded to the dtype; a number of the column is not.
func TestWholeNumbers(t *testing.T) {
	const wide = 1<<24 + 1
	for _, c := range []struct {
		values []int64
		mark   []byte
		part   Part
		want   []float32
		err    string
	}{
		{[]int64{1, 2, 2, 0}, []byte{0, 0, 0, 1}, Part{Impute: ImputeMean}, []float32{1, 2, 2, 5. / 3}, ""},
		{[]int64{0, 2, 9}, nil, Part{Clip: &[2]float64{0.1, 5.7}}, []float32{0.1, 2, 5.7}, ""},
		{[]int64{wide, 2}, nil, Part{Clip: &[2]float64{0.1, 5.7}}, []float32{5.7, 2}, ""},
		{[]int64{0, 2}, []byte{1, 0}, Part{Impute: ImputeConstant, Value: wide}, []float32{wide, 2}, ""},
		{[]int64{1, wide, wide}, nil, Part{Impute: ImputeMean}, nil, "feature u/f, v: found the whole number 16777217 in 2 rows, the first in row 1, expected numbers that float32 has without rounding; give scale, take encode, or leave the column out if it has ids"},
		{[]int64{1, wide}, nil, Part{Clip: &[2]float64{0, wide}}, nil, "feature u/f, v: found the whole number 16777217 in row 1, expected numbers that float32 has without rounding; give scale, take encode, or leave the column out if it has ids"},
	} {
		c.part.From = "v"
		table := &Table{Type: "u", Rows: len(c.values), Columns: []*graph.Column{{Name: "v", DType: graph.Int64, Rows: len(c.values), Values: graph.Bytes(c.values)}}}
		if c.mark != nil {
			table.Columns = append(table.Columns, &graph.Column{Name: "v_missing", DType: graph.Bool, Rows: len(c.mark), Values: c.mark})
		}
		got, err := rowsOf(t, &referenceCase{table: table, spec: Spec{Name: "f", DType: graph.Float32, Parts: []Part{c.part}}}, Options{Threads: 1})
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%v: found %v, expected %q", c.values, err, c.err)
			}
			continue
		}
		var want [][]float64
		for _, x := range c.want {
			want = append(want, []float64{float64(x)})
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v: found %v\n%s", c.values, err, diff)
		}
	}
}

// Rows whose sum of squares or magnitudes float64 does not have are divided by their norm all the same; those of zeros stay.
func TestFarNorms(t *testing.T) {
	half := math.Sqrt(0.5)
	for _, c := range []struct {
		how       Norm
		row, want []float64
	}{
		{NormL2, []float64{1e200, 1e200}, []float64{half, half}},
		{NormL2, []float64{math.MaxFloat64, -math.MaxFloat64}, []float64{half, -half}},
		{NormL2, []float64{3e-200, 4e-200}, []float64{0.6, 0.8}},
		{NormL2, []float64{5e-324, 0}, []float64{1, 0}},
		{NormL2, []float64{3, 4}, []float64{0.6, 0.8}},
		{NormL1, []float64{math.MaxFloat64, -math.MaxFloat64}, []float64{0.5, -0.5}},
		{NormL1, []float64{5e-324, 5e-324}, []float64{0.5, 0.5}},
		{NormMax, []float64{math.MaxFloat64, 5e-324}, []float64{1, 0}},
		{NormL1, []float64{0, 0}, []float64{0, 0}},
		{NormL2, []float64{0, 0}, []float64{0, 0}},
		{NormMax, []float64{0, 0}, []float64{0, 0}},
	} {
		got := slices.Clone(c.row)
		normalise(got, 2, c.how)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
			t.Errorf("%s of %g: %s", c.how, c.row, diff)
		}
	}
}

// An infinity is in no bucket, whether the edges are given or fitted on other rows; one that is clipped is in the last one.
func TestInfiniteBuckets(t *testing.T) {
	values := []float64{1, 2, math.Inf(1), 3}
	for _, c := range []struct {
		part Part
		code bool
		want string
	}{
		{Part{Edges: []float64{0, 2, 4}}, false, "feature u/f, v: found an infinite value in row 2, expected finite ones; give clip: [LEAST, GREATEST], or correct them"},
		{Part{Edges: []float64{0, 2, 4}}, true, "feature u/f, v: found an infinite value in row 2, expected finite ones; give clip: [LEAST, GREATEST], or correct them"},
		{Part{Count: 2}, true, "feature u/f, v: found an infinite value in row 2, expected finite ones; give clip: [LEAST, GREATEST], or correct them"},
		{Part{Count: 2, Clip: &[2]float64{0, 4}}, true, "[[1] [2] [2] [2]]"},
	} {
		c.part.From, c.part.Encode = "v", EncodeBuckets
		x := &referenceCase{table: &Table{Type: "u", Rows: 4, Columns: []*graph.Column{{Name: "v", DType: graph.Float64, Rows: 4, Values: graph.Bytes(values)}}, Fit: func(first int, keep []bool) {
			for i := range keep {
				keep[i] = first+i < 2
			}
		}}, spec: Spec{Name: "f", DType: graph.Float32, Code: c.code, Parts: []Part{c.part}}}
		if c.code {
			x.spec.DType = graph.Int32
		}
		rows, err := rowsOf(t, x, Options{Threads: 1})
		if got := fmt.Sprint(rows); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%+v: found %s, %v, expected %s", c.part, got, err, c.want)
		}
	}
}

// Buckets whose width float64 does not have are refused with the name of the column; those by rows have no width.
func TestFarBuckets(t *testing.T) {
	values := []float64{-1.7e308, 1.7e308, 0, 1.7e308}
	for _, c := range []struct {
		by   By
		want string
	}{
		{ByWidth, "feature u/f, v: found numbers from -1.7e+308 to 1.7e+308, whose buckets float64 does not have; give clip: [LEAST, GREATEST]"},
		{ByRows, "[[1 0 0] [0 1 0] [1 0 0] [0 1 0]]"},
	} {
		x := &referenceCase{table: &Table{Type: "u", Rows: 4, Columns: []*graph.Column{{Name: "v", DType: graph.Float64, Rows: 4, Values: graph.Bytes(values)}}},
			spec: Spec{Name: "f", DType: graph.Float32, Parts: []Part{{From: "v", Encode: EncodeBuckets, Count: 2, By: c.by}}}}
		rows, err := rowsOf(t, x, Options{Threads: 1})
		if got := fmt.Sprint(rows); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%s: found %s, %v, expected %s", c.by, got, err, c.want)
		}
	}
}

// A text that is rare in the rows of the fit is one of the fit: only texts that it does not have are errors where unknown ones are.
func TestUnknownError(t *testing.T) {
	rare := []string{"a", "a", "b", ""}
	for _, c := range []struct {
		column  *graph.Column
		part    Part
		want    string
		unknown int64
	}{
		{textColumn(rare), Part{Encode: EncodeOneHot, Least: 2}, "[[1 0 0] [1 0 0] [0 1 0] [0 0 1]]", 1},
		{textColumn(rare), Part{Encode: EncodeFrequency, Least: 2, Impute: ImputeConstant}, fmt.Sprint([][]float64{{float64(float32(2. / 3))}, {float64(float32(2. / 3))}, {0}, {0}}), 1},
		{textColumn(rare), Part{Encode: EncodeMultiHot, Separator: ";", Most: 2}, "[[1 0] [1 0] [0 1] [0 0]]", 1},
		{&graph.Column{DType: graph.Int32, Rows: 4, Values: graph.Bytes([]int32{0, 0, 1, -1}), Categories: textColumn([]string{"a", "b", "c"})}, Part{Encode: EncodeOneHot, Least: 2}, "[[1 0 0] [1 0 0] [0 1 0] [0 0 1]]", 1},
		{&graph.Column{DType: graph.Int8, Rows: 4, Values: []byte{7, 7, 255, 7}}, Part{Encode: EncodeOneHot, Least: 2}, "[[1 0 0] [1 0 0] [0 1 0] [1 0 0]]", 1},
		{textColumn(rare), Part{Encode: EncodeCode, Least: 2}, "[[1] [1] [0] [0]]", 1},
		{textColumn([]string{"a", "b", "b", "c"}), Part{Encode: EncodeOneHot, Least: 2}, `feature u/f, v: found the text "c" in row 3, expected one of the texts of the fit; give unknown: other, or correct it`, 0},
		{textColumn([]string{"a", "a", "b", "b;c"}), Part{Encode: EncodeMultiHot, Separator: ";", Least: 2}, `feature u/f, v: found the text "c" in row 3, expected one of the texts of the fit; give unknown: other, or correct it`, 0},
		{textColumn([]string{"a", "b", "b", "c"}), Part{Encode: EncodeOrdinal, Order: []string{"b", "a"}, Impute: ImputeConstant}, `feature u/f, v: found the text "c" in row 3, expected one of the texts of the fit; give unknown: other, or correct it`, 0},
	} {
		c.column.Name, c.part.From, c.part.Unknown = "v", "v", UnknownError
		x := &referenceCase{table: &Table{Type: "u", Rows: 4, Columns: []*graph.Column{c.column}, Fit: func(first int, keep []bool) {
			for i := range keep {
				keep[i] = first+i < 3
			}
		}}, spec: Spec{Name: "f", DType: graph.Float32, Parts: []Part{c.part}}}
		if c.part.Encode == EncodeCode {
			x.spec.Code, x.spec.DType = true, graph.Int32
		}
		rows, err := rowsOf(t, x, Options{Threads: 1})
		if got := fmt.Sprint(rows); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%s of %s: found %s, %v, expected %s", c.part.Encode, c.column.DType, got, err, c.want)
		} else if err == nil && x.applied[0].Unknown != c.unknown {
			t.Errorf("%s of %s: found %d rows of unknown texts, expected %d", c.part.Encode, c.column.DType, x.applied[0].Unknown, c.unknown)
		}
	}
}

// A row whose vector has a fault in several values is one row.
func TestRowsCountOnce(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	floats := func(values ...float64) *graph.Column {
		return &graph.Column{Name: "v", DType: graph.Float64, Shape: []int{3}, Rows: len(values) / 3, Values: graph.Bytes(values)}
	}
	for _, c := range []struct {
		column *graph.Column
		part   Part
		filled int64
		err    string
	}{
		{floats(nan, nan, nan, 1, 2, 3, nan, 1, nan), Part{Impute: ImputeConstant}, 2, ""},
		{floats(nan, nan, nan, 1, 2, 3, 1, nan, nan), Part{Impute: ImputeConstant, Flag: true}, 2, ""},
		{floats(1, 2, 3, nan, nan, nan), Part{}, 0, "feature u/f, v: found no value in row 1, expected one; give impute: mean, median, mode or constant"},
		{floats(1, 2, 3, inf, 1, -inf, inf, 0, 0), Part{}, 0, "feature u/f, v: found an infinite value in 2 rows, the first in row 1, expected finite ones; give clip: [LEAST, GREATEST], or correct them"},
		{floats(1, 2, 3, -2, -3, 1), Part{Scale: ScaleLog}, 0, "feature u/f, v: found -2 in row 1, expected numbers above -1 for the scale log; take the scale signed-log"},
		{floats(1, 1e300, 1e301, 1, 2, 1e302), Part{}, 0, "feature u/f, v: found a result 1e+300 in 2 rows, the first in row 0, expected one that float32 has; give scale or clip"},
		{&graph.Column{Name: "v", DType: graph.Int64, Shape: []int{3}, Rows: 1, Values: graph.Bytes([]int64{1, 1 << 54, 1<<54 + 4})}, Part{}, 0, "feature u/f, v: found the whole number 18014398509481984 in row 0, expected numbers that float32 has without rounding; give scale, take encode, or leave the column out if it has ids"},
		{&graph.Column{Name: "v", DType: graph.Int64, Unit: "s", Rows: 2, Values: graph.Bytes([]int64{graph.NoTime, 0})}, Part{Encode: EncodeCalendar, Parts: []string{"day-cycle", "hour"}, Impute: ImputeConstant}, 1, ""},
	} {
		c.part.From = "v"
		x := &referenceCase{table: &Table{Type: "u", Rows: c.column.Rows, Columns: []*graph.Column{c.column}}, spec: Spec{Name: "f", DType: graph.Float32, Parts: []Part{c.part}}}
		_, err := rowsOf(t, x, Options{Threads: 1})
		if c.err != "" && (err == nil || err.Error() != c.err) || c.err == "" && err != nil {
			t.Errorf("%+v: found %v, expected %q", c.part, err, c.err)
		} else if err == nil && x.applied[0].Filled != c.filled {
			t.Errorf("%+v: found %d rows filled, expected %d", c.part, x.applied[0].Filled, c.filled)
		}
	}
}

// A result beyond the dtype is said with its column and row, whichever part of the feature has it.
func TestBeyondDType(t *testing.T) {
	column := func(name string, values ...float64) *graph.Column {
		return &graph.Column{Name: name, DType: graph.Float64, Rows: len(values), Values: graph.Bytes(values)}
	}
	for _, c := range []struct {
		a, b  []float64
		scale Scale
		want  string
	}{
		{[]float64{1, 2, 1e6, 4}, []float64{1, 2, 3, 4}, "", "feature u/f, a: found a result 1e+06 in row 2, expected one that float16 has; give scale or clip"},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, -1e6}, "", "feature u/f, b: found a result -1e+06 in row 3, expected one that float16 has; give scale or clip"},
		{[]float64{1, 2, 3, 4, 5}, []float64{-1.7e308, -1.7e308, -1.7e308, -1.7e308, 1.7e308}, ScaleRobust, "feature u/f, b: found a result +Inf in row 4, expected one that float16 has; give scale or clip"},
		{[]float64{1, 2, 3, 4}, []float64{1e200, -1e200, 3, 4}, ScaleStandard, "feature u/f, b: found numbers from -1e+200 to 1e+200, whose scale standard float64 does not have; give clip: [LEAST, GREATEST]"},
		{[]float64{1, 2, 3, 4}, []float64{1.7e308, -1.7e308, 1.7e308, -1.7e308}, ScaleUniform, "feature u/f, b: found numbers from -1.7e+308 to 1.7e+308, whose scale uniform-quantiles float64 does not have; give clip: [LEAST, GREATEST]"},
		{[]float64{1, 2, 3, 4}, []float64{1.7e308, -1.7e308, math.NaN(), math.NaN()}, ScaleNormal, "feature u/f, b: found numbers from -1.7e+308 to 1.7e+308, whose scale normal-quantiles float64 does not have; give clip: [LEAST, GREATEST]"},
		{[]float64{1, 2, 3, 4}, []float64{1.7e308, -1.7e308, 3, 4}, ScaleMinMax, "feature u/f, b: found numbers from -1.7e+308 to 1.7e+308, whose scale min-max float64 does not have; give clip: [LEAST, GREATEST]"},
	} {
		x := &referenceCase{table: &Table{Type: "u", Rows: len(c.a), Columns: []*graph.Column{column("a", c.a...), column("b", c.b...)}},
			spec: Spec{Name: "f", DType: graph.Float16, Parts: []Part{{From: "a"}, {From: "b", Scale: c.scale}}}}
		if _, err := rowsOf(t, x, Options{Threads: 1}); err == nil || err.Error() != c.want {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}
