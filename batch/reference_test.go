package batch

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"
)

// TestReference holds the orders to what testdata/reference/orders.py gave.
func TestReference(t *testing.T) {
	data, err := os.ReadFile("testdata/orders.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	var in struct {
		Classes []uint32
		Weights []*float64
		Sizes   []uint64
	}
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, len(in.Weights))
	for i, w := range in.Weights {
		if weights[i] = math.NaN(); w != nil {
			weights[i] = *w
		}
	}
	ptr := []uint64{0}
	for _, s := range in.Sizes {
		ptr = append(ptr, ptr[len(ptr)-1]+s)
	}
	check := func(name string, got any) {
		t.Helper()
		w := reflect.New(reflect.TypeOf(got))
		if err := json.Unmarshal(want[name], w.Interface()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, w.Elem().Interface()) {
			t.Errorf("%s: found %v, expected %v", name, got, w.Elem())
		}
	}
	check("weighted(1,2,weights,40)", epochOf(t, must(Weighted(weights, 40)), 1, 2))
	check("stratified(1,2,classes)", epochOf(t, must(Stratified(in.Classes)), 1, 2))
	for name, drop := range map[string]Tail{"bucketed(1,2,sizes,4)": Keep, "bucketed(1,2,sizes,4,drop)": Drop} {
		p := newBucketed(newBuckets(ptr), 1, 2, 4, drop)
		var got [][]uint64
		for b := range p.batches() {
			got = append(got, p.items(nil, b))
		}
		check(name, got)
	}
	for _, w := range [][3]uint64{{100, 7, 3}, {100, 10, 4}, {1, 1, 1}, {99, 100, 2}, {96, 8, 100}, {50, 1, 5}, {41, 20, 1}, {41, 20, 2}} {
		check(fmt.Sprintf("windowed(3,4,%d,%d,%d)", w[0], w[1], w[2]), epochOf(t, must(Windowed(w[0], w[1], w[2])), 3, 4))
	}
}

func must(o Order, err error) Order {
	if err != nil {
		panic(err)
	}
	return o
}

// epochOf is an epoch of an order, filled at once and position by position.
func epochOf(t *testing.T, o Order, seed, epoch uint64) []uint64 {
	t.Helper()
	all, e := make([]uint64, o.Len()), o.Epoch(seed, epoch)
	e.Fill(all, 0)
	alone := make([]uint64, o.Len())
	for i := len(alone) - 1; i >= 0; i-- {
		e.Fill(alone[i:i+1], uint64(i))
	}
	if !slices.Equal(all, alone) {
		t.Errorf("%s: found %v position by position, expected %v", o, alone, all)
	}
	return all
}
