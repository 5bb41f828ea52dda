package transform

import (
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestCompareRows compares rows 0 and 1 of columns.
func TestCompareRows(t *testing.T) {
	u64 := func(v ...uint64) graph.Index { return graph.Index{U64: v} }
	floats := func(v ...float32) []byte { return graph.Bytes(v) }
	nan, negativeZero := float32(math.NaN()), float32(math.Copysign(0, -1))
	other := math.Float32frombits(math.Float32bits(nan) | 1<<31 | 5)
	for name, test := range map[string]struct {
		column graph.Column
		equal  bool
	}{
		"numbers":                      {graph.Column{DType: graph.Int64, Values: graph.Bytes([]int64{7, 7})}, true},
		"other numbers":                {graph.Column{DType: graph.Int64, Values: graph.Bytes([]int64{7, -7})}, false},
		"NaN and another NaN":          {graph.Column{DType: graph.Float32, Values: floats(nan, other)}, true},
		"NaN and infinity":             {graph.Column{DType: graph.Float32, Values: floats(nan, float32(math.Inf(1)))}, false},
		"0 and -0":                     {graph.Column{DType: graph.Float32, Values: floats(0, negativeZero)}, true},
		"1 and -1":                     {graph.Column{DType: graph.Float32, Values: floats(1, -1)}, false},
		"float64":                      {graph.Column{DType: graph.Float64, Values: graph.Bytes([]float64{math.NaN(), -math.NaN()})}, true},
		"float16: NaN":                 {graph.Column{DType: graph.Float16, Values: graph.Bytes([]uint16{0x7e00, 0xfc01})}, true},
		"float16: infinity and NaN":    {graph.Column{DType: graph.Float16, Values: graph.Bytes([]uint16{0x7c00, 0x7c01})}, false},
		"bfloat16: 0 and -0":           {graph.Column{DType: graph.BFloat16, Values: graph.Bytes([]uint16{0, 0x8000})}, true},
		"bfloat16: infinity and NaN":   {graph.Column{DType: graph.BFloat16, Values: graph.Bytes([]uint16{0x7f80, 0x7f81})}, false},
		"the second of a vector":       {graph.Column{DType: graph.Float32, Shape: []int{2}, Values: floats(0, 1, negativeZero, 2)}, false},
		"a vector":                     {graph.Column{DType: graph.Float32, Shape: []int{2}, Values: floats(0, nan, negativeZero, other)}, true},
		"texts":                        {graph.Column{DType: graph.String, Values: []byte("abab"), StringOffsets: u64(0, 2, 4)}, true},
		"other texts":                  {graph.Column{DType: graph.String, Values: []byte("aba"), StringOffsets: u64(0, 2, 3)}, false},
		"texts cut elsewhere":          {graph.Column{DType: graph.String, Shape: []int{2}, Values: []byte("abcabc"), StringOffsets: u64(0, 1, 3, 5, 6)}, false},
		"lists":                        {graph.Column{DType: graph.Float32, Shape: []int{-1}, Values: floats(1, 1), Offsets: []graph.Index{u64(0, 1, 2)}}, true},
		"lists of other lengths":       {graph.Column{DType: graph.Float32, Shape: []int{-1}, Values: floats(1, 1, 1), Offsets: []graph.Index{u64(0, 1, 3)}}, false},
		"empty lists":                  {graph.Column{DType: graph.Float32, Shape: []int{-1}, Offsets: []graph.Index{u64(0, 0, 0)}}, true},
		"lists of lists cut elsewhere": {graph.Column{DType: graph.Int8, Shape: []int{-1, -1}, Values: []byte{1, 2, 1, 2}, Offsets: []graph.Index{u64(0, 2, 4), u64(0, 1, 2, 2, 4)}}, false},
		"lists of lists":               {graph.Column{DType: graph.Int8, Shape: []int{-1, -1}, Values: []byte{1, 2, 1, 2}, Offsets: []graph.Index{u64(0, 2, 4), u64(0, 1, 2, 3, 4)}}, true},
		"lists of texts":               {graph.Column{DType: graph.String, Shape: []int{-1}, Values: []byte("abba"), StringOffsets: u64(0, 1, 2, 3, 4), Offsets: []graph.Index{u64(0, 2, 4)}}, false},
	} {
		c := test.column
		c.Name, c.Rows = "c", 2
		columns := []*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint8, Rows: 2, Values: []byte{0, 1}}, &c}
		x, y := compareRows(columns, 0, 1), compareRows(columns, 1, 0)
		if (x == 0) != test.equal || x != -y {
			t.Errorf("%s: found %d, and %d the other way, expected equal: %v", name, x, y, test.equal)
		}
	}
}
