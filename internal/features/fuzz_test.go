package features

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// A file that is read is applied to columns without a panic, whatever it says: it gives rows, or an error.
func FuzzFile(f *testing.F) {
	whole := whole(f)
	f.Add(whole)
	f.Add([]byte(`{"format":1,"fit":{},"nodes":{"u":null},"edges":{}}`))
	f.Add([]byte(`{"format":1,"fit":{},"nodes":{"u":{"rows":0,"of":"all","from":[],"features":{"x":{"dtype":"float32","pieces":[],"parts":[]}}}},"edges":{}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, store.FeaturesFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		fuzzing.Check(t, len(text), func() {
			file, err := ReadFile(vfs.OS, dir)
			if err != nil {
				return
			}
			for _, of := range file.Nodes {
				if widthOf(of) > 1<<10 {
					return // more than a test has memory for
				}
				_, err := Apply(t.Context(), fuzzed(), of.Features, func(string, *Piece) (io.WriterAt, error) { return nowhere{}, nil }, Options{Threads: 1})
				if err != nil && !errors.Is(err, ErrSpec) {
					t.Fatal(err)
				}
			}
		})
	})
}

// widthOf is how many numbers a row of all features of a type has.
func widthOf(t *Type) (width int) {
	for _, x := range t.Features {
		for _, p := range x.Pieces {
			width += p.Width
		}
	}
	return width
}

// nowhere takes all rows.
type nowhere struct{}

func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// fuzzed is a table with a column of each kind.
func fuzzed() *Table {
	return &Table{Type: "u", Rows: 3, Columns: []*graph.Column{
		{Name: "a", DType: graph.Float64, Rows: 3, Values: graph.Bytes([]float64{1, -2, 3e300})},
		func() *graph.Column { c := textColumn([]string{"x;y", "", "zz"}); c.Name = "b"; return c }(),
		{Name: "i", DType: graph.Int64, Rows: 3, Values: graph.Bytes([]int64{1, 2, 1 << 60})},
		{Name: "t", DType: graph.Int64, Unit: "s", Rows: 3, Values: graph.Bytes([]int64{graph.NoTime, 0, 1 << 62})},
		{Name: "v", DType: graph.Float32, Shape: []int{2}, Rows: 3, Values: graph.Bytes([]float32{1, 2, 3, 4, 5, 6})},
	}}
}

// whole is a file with a part of each kind.
func whole(f *testing.F) []byte {
	specs := []Spec{
		{Name: "x", DType: graph.Float16, Norm: NormL2, Parts: []Part{
			{From: "a", Clip: &[2]float64{-1, 1}, Impute: ImputeMean, Scale: ScaleStandard, Flag: true}, {From: "a", Clip: &[2]float64{0, 9}, Scale: ScaleNormal},
			{From: "a", Encode: EncodeBuckets, Edges: []float64{0, 1, 2}}, {From: "b", Encode: EncodeOneHot}, {From: "b", Encode: EncodeMultiHot, Separator: ";"},
			{From: "b", Encode: EncodeFrequency, Impute: ImputeConstant}, {From: "b", Encode: EncodeOrdinal, Order: []string{"zz"}, Impute: ImputeConstant}, {From: "b", Encode: EncodeLength},
			{From: "b", Encode: EncodeHash, Hash: &Hash{Dim: 3, Least: 1, Most: 2}}, {From: "v", Scale: ScaleRobust},
			{From: "t", Encode: EncodeCalendar, Parts: []string{"hour-cycle", "weekday"}, Impute: ImputeMedian, Clip: &[2]float64{0, 5}},
			{From: "t", Encode: EncodeAge, Impute: ImputeConstant, Scale: ScaleSignedLog},
		}},
		{Name: "low", DType: graph.BFloat16, Bits: 4, Parts: []Part{{From: "v"}, {From: "a", Clip: &[2]float64{0, 1}}}},
		{Name: "c", DType: graph.Int32, Code: true, Parts: []Part{{From: "i", Encode: EncodeCode, Least: 1}}},
	}
	made, err := Fit(context.Background(), fuzzed(), specs, Options{Threads: 1, Memory: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	file := NewFile(FitRows{All: true})
	file.Nodes["u"] = &Type{Rows: 3, Of: "all", Features: made}
	text, err := json.Marshal(file)
	if err != nil {
		f.Fatal(err)
	}
	return text
}
