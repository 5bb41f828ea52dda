//go:build unix

package feed

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// columns has columns of the values 3, 0, 1, 2 with every dtype that can be a weight.
func weightColumns() map[string]*graph.Column {
	out := map[string]*graph.Column{}
	put := func(d graph.DType, b []byte) {
		out[d.String()] = &graph.Column{Name: d.String(), DType: d, Rows: 4, Values: b}
	}
	put(graph.Int8, graph.Bytes([]int8{3, 0, 1, 2}))
	put(graph.Uint8, graph.Bytes([]uint8{3, 0, 1, 2}))
	put(graph.Int16, graph.Bytes([]int16{3, 0, 1, 2}))
	put(graph.Uint16, graph.Bytes([]uint16{3, 0, 1, 2}))
	put(graph.Int32, graph.Bytes([]int32{3, 0, 1, 2}))
	put(graph.Uint32, graph.Bytes([]uint32{3, 0, 1, 2}))
	put(graph.Int64, graph.Bytes([]int64{3, 0, 1, 2}))
	put(graph.Uint64, graph.Bytes([]uint64{3, 0, 1, 2}))
	put(graph.Float32, graph.Bytes([]float32{3, 0, 1, 2}))
	put(graph.Float64, graph.Bytes([]float64{3, 0, 1, 2}))
	return out
}

// items is an epoch of an order.
func items(o batch.Order) []uint64 {
	dst := make([]uint64, o.Len())
	o.Epoch(7, 1).Fill(dst, 0)
	return dst
}

// An order by a column follows the law of package batch for the values of the seeds.
func TestOrdersOfColumns(t *testing.T) {
	rows := []uint32{2, 2, 0, 3, 1, 0, 0, 3}
	weighted, err := batch.Weighted([]float64{1, 1, 3, 2, 0, 3, 3, 2}, 8)
	if err != nil {
		t.Fatal(err)
	}
	stratified, err := batch.Stratified([]uint32{1, 1, 3, 2, 0, 3, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range weightColumns() {
		got, err := WeightedBy(c, rows)
		if err != nil || !slices.Equal(items(got), items(weighted)) || got.String() != weighted.String() {
			t.Errorf("%s: found %v, %v, expected the order of the weights", name, got, err)
		}
		got, err = StratifiedBy(c, rows)
		if c.DType.IsFloat() {
			if err == nil || !strings.Contains(err.Error(), "expected bool, an integer or string") {
				t.Errorf("%s: found %v, expected an error", name, err)
			}
			continue
		}
		if err != nil || !slices.Equal(items(got), items(stratified)) {
			t.Errorf("%s: found %v, %v, expected the order of the classes", name, got, err)
		}
	}
}

// Classes are numbered by their values. Values that no seed has are no classes.
func TestClasses(t *testing.T) {
	text := &graph.Column{Name: "section", DType: graph.String, Rows: 4, Values: []byte("netlibbin"), StringOffsets: graph.Index{U32: []uint32{0, 3, 6, 9, 9}}}
	signed := &graph.Column{Name: "signed", DType: graph.Int64, Rows: 4, Values: graph.Bytes([]int64{1 << 60, -1, -1 << 63, -5})}
	want, err := batch.Stratified([]uint32{2, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		*graph.Column
		rows []uint32
	}{{text, []uint32{0, 3, 2, 2}}, {signed, []uint32{0, 2, 3, 3}}, {&graph.Column{Name: "few", DType: graph.Bool, Rows: 2, Values: []byte{0, 1}}, []uint32{1, 0, 0, 1}}} {
		got, err := StratifiedBy(c.Column, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if c.DType != graph.Bool && !slices.Equal(items(got), items(want)) {
			t.Errorf("%s: found %v, expected %v", c.Name, items(got), items(want))
		}
		if n := items(got); c.DType == graph.Bool && (n[0] == n[1] || (n[0] == 0 || n[0] == 3) == (n[1] == 0 || n[1] == 3)) {
			t.Errorf("found %v, expected the two classes in turn", n)
		}
	}
	text.StringOffsets.U32[1] = 7
	for want, c := range map[string]*graph.Column{
		"section": text,
		"shape":   {Name: "wide", DType: graph.Int32, Shape: []int{2}, Rows: 1, Values: make([]byte, 8)},
		"dtype":   {Name: "half", DType: graph.Float16, Rows: 1, Values: make([]byte, 2)},
	} {
		_, errStrata := StratifiedBy(c, []uint32{0})
		_, errWeights := WeightedBy(c, []uint32{0})
		for _, err := range []error{errStrata, errWeights} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("found %v, expected an error with %q", err, want)
			}
		}
	}
	for want, c := range map[string]*graph.Column{
		"categories": {Name: "kind", DType: graph.Int32, Rows: 1, Values: graph.Bytes([]int32{1}), Categories: &graph.Column{DType: graph.String}},
		"times":      {Name: "day", DType: graph.Int64, Rows: 1, Values: graph.Bytes([]int64{1}), Unit: graph.Seconds},
	} {
		if _, err := WeightedBy(c, []uint32{0}); err == nil || !strings.Contains(err.Error(), "found "+want+" as weights, expected numbers") {
			t.Errorf("found %v, expected an error of %s as weights", err, want)
		}
	}
	if _, err := WeightedBy(&graph.Column{Name: "w", DType: graph.Int8, Rows: 1, Values: []byte{0}}, []uint32{0}); err == nil || !strings.Contains(err.Error(), "expected a positive and finite") {
		t.Errorf("found %v, expected an error of the sum", err)
	}
}

// A source takes its seeds in the order that it is given, and has as many batches as the order needs.
func TestSetOrder(t *testing.T) {
	var seeds []uint32
	for v := range uint32(100) {
		seeds = append(seeds, 3*v)
	}
	o := sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch}
	weights := make([]float64, 100)
	for i := range weights {
		weights[i] = float64(i % 5)
	}
	weighted, err := batch.Weighted(weights, 150)
	if err != nil {
		t.Fatal(err)
	}
	windowed, err := batch.Windowed(100, 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []batch.Order{weighted, windowed} {
		src := planned(t, testGraph(), o, sample.Job{Seeds: seeds}, Features{})
		if err := src.SetOrder(order); err != nil {
			t.Fatal(err)
		}
		want := make([]uint64, order.Len())
		order.Epoch(9, 4).Fill(want, 0)
		var got []uint64
		for b := range src.Batches() {
			columns := batchOf(t, src, 4, b)
			ids, local := int64s(columns["nodes/user/n_id"]), int64s(columns["seed_local"])
			for i, at := range int64s(columns["input_id"]) {
				got = append(got, uint64(at))
				if ids[local[i]] != 3*at {
					t.Errorf("seed %d: found node %d, expected %d", at, ids[local[i]], 3*at)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found seeds %v, expected %v", order, got, want)
		}
	}
	src := planned(t, testGraph(), o, sample.Job{Seeds: seeds[:99]}, Features{})
	if err := src.SetOrder(windowed); err == nil {
		t.Error("found no error for an order of other seeds")
	}
}
