package examplecolumns_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

// row is a value of any depth: an int64, or a list of rows.
type row any

// drawRow draws a row of a shape.
func drawRow(t *rapid.T, shape []int) row {
	if len(shape) == 0 {
		return rapid.Int64().Draw(t, "value")
	}
	n := shape[0]
	if n == -1 {
		n = rapid.IntRange(0, 3).Draw(t, "length")
	}
	list := make([]row, n)
	for i := range list {
		list[i] = drawRow(t, shape[1:])
	}
	return list
}

// flatten appends the values of a row and, for each variable dimension, the lengths of lists that Offsets and the
// keys .d<i> hold.
func flatten(r row, shape []int, values *[]int64, lengths map[int][]int64, depth int) {
	list, ok := r.([]row)
	if !ok {
		*values = append(*values, r.(int64))
		return
	}
	if shape[0] == -1 {
		lengths[depth] = append(lengths[depth], int64(len(list)))
	}
	for _, x := range list {
		flatten(x, shape[1:], values, lengths, depth+1)
	}
}

// Rows of a column of any shape are written like nested lists: flat values, and the row lengths of each variable
// dimension.
func TestPartsAreNestedLists(t *testing.T) {
	var e examplecolumns.Encoder
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{-1, 1, 2, 3}), 0, 4).Draw(t, "shape")
		n := rapid.IntRange(0, 4).Draw(t, "rows")
		c := &graph.Column{Name: "f", DType: graph.Int64, Shape: shape, Rows: n}
		rows := make([]row, n)
		var values []int64
		lengths := map[int][]int64{}
		for i := range rows {
			rows[i] = drawRow(t, shape)
			flatten(rows[i], shape, &values, lengths, 1)
		}
		c.Values = graph.Bytes(values)
		for i, d := range shape {
			if d == -1 {
				ends := []uint64{0}
				for _, l := range lengths[i+1] {
					ends = append(ends, ends[len(ends)-1]+uint64(l))
				}
				c.Offsets = append(c.Offsets, graph.Index{U64: ends})
			}
		}
		parts, err := examplecolumns.Parts("nodes/n.f", c)
		if err != nil {
			t.Fatal(err)
		}
		var pick []uint32
		if n > 0 {
			pick = rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 6).Draw(t, "pick")
		}
		values, lengths = nil, map[int][]int64{}
		for _, i := range pick {
			flatten(rows[i], shape, &values, lengths, 1)
		}
		want := map[string]string{"nodes/n.f": fmt.Sprint(values)}
		for i, d := range shape {
			if d == -1 {
				want[fmt.Sprintf("nodes/n.f.d%d", i+1)] = fmt.Sprint(lengths[i+1])
			}
		}
		e.W.Reset()
		for i := len(parts) - 1; i >= 0; i-- {
			parts[i].Write(&e, example.NewKey(parts[i].Key), graph.Index{U32: pick})
		}
		var d example.Decoder
		if err := d.Decode(e.W.Close()); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for i := range d.Features() {
			f := &d.Features()[i]
			got[string(f.Key)] = fmt.Sprint(f.AppendInts(nil))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("shape %v, rows %v of %v: %s", shape, pick, rows, diff)
		}
		for i := range rows {
			var of []int64
			flatten(rows[i], shape, &of, map[int][]int64{}, 1)
			if from, to := c.Span(i, i+1); to-from != len(of) {
				t.Fatalf("row %d of shape %v: found %d values, expected %d", i, shape, to-from, len(of))
			}
		}
	})
}

// Invalid offsets are refused before they are used.
func TestBadOffsets(t *testing.T) {
	list := func(of ...uint64) graph.Index { return graph.Index{U64: of} }
	column := func(dtype graph.DType, shape []int, bytes int, offsets ...graph.Index) *graph.Column {
		return &graph.Column{DType: dtype, Shape: shape, Rows: 2, Values: make([]byte, bytes), Offsets: offsets}
	}
	text := column(graph.String, nil, 5)
	text.StringOffsets = list(0, 3, 6)
	for name, c := range map[string]*graph.Column{
		"missing":    column(graph.Int8, []int{-1}, 2),
		"too short":  column(graph.Int8, []int{-1}, 2, list(0, 2)),
		"descending": column(graph.Int8, []int{-1}, 1, list(0, 2, 1)),
		"few values": column(graph.Int8, []int{-1, 2}, 3, list(0, 1, 2)),
		"second":     column(graph.Int8, []int{-1, 2, -1}, 3, list(0, 1, 1), list(0, 1)),
		"empty dim":  column(graph.Int8, []int{0}, 0),
		"fixed":      column(graph.Int16, []int{3}, 10),
		"text":       text,
	} {
		if _, err := examplecolumns.Parts("k", c); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

// The dtypes of columns and of schemas correspond one to one.
func TestDTypes(t *testing.T) {
	for d := graph.Bool; d <= graph.String; d++ {
		p := examplecolumns.Proto(&graph.Column{DType: d, Shape: []int{-1, 2}})
		if got := examplecolumns.DType(p.GetDtype()); got != d || !cmp.Equal(examplecolumns.Shape(p), []int{-1, 2}) {
			t.Errorf("%s: found %s %v", d, got, examplecolumns.Shape(p))
		}
	}
	if got := examplecolumns.DType(tfgnnpb.DataType_DT_INVALID); got != graph.Invalid {
		t.Errorf("found %s for an invalid dtype", got)
	}
}
