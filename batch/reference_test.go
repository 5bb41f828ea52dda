package batch

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// readOrders reads the output of testdata/reference/orders.py, as text and by name.
func readOrders(t *testing.T) (data []byte, byName map[string]json.RawMessage) {
	t.Helper()
	data, err := os.ReadFile("testdata/orders.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &byName); err != nil {
		t.Fatal(err)
	}
	return data, byName
}

// TestReference compares the orders with the output of testdata/reference/orders.py.
func TestReference(t *testing.T) {
	data, want := readOrders(t)
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
	for name, drop := range map[string]Tail{"bucketed(1,2,sizes,4)": Short, "bucketed(1,2,sizes,4,drop)": Drop} {
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

// TestRanksOfTheReference compares the batches of each rank with orders.py, in whole passes and in resumed ones.
func TestRanksOfTheReference(t *testing.T) {
	_, want := readOrders(t)
	called := regexp.MustCompile(`^ranks\(batches\(range\((\d+)\),(\d+)\),(\d+),(\w+),(\d+)\)$`)
	cases := 0
	for name, text := range want {
		m := called.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		cases++
		number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
		n, first := number(1), number(5)
		tail, err := ParseTail(m[4], Short, Fill, Drop, Pad)
		if err != nil {
			t.Fatal(err)
		}
		var ranks [][][2]any // number and items of each batch
		if err := json.Unmarshal(text, &ranks); err != nil {
			t.Fatal(err)
		}
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(i)
		}
		for rank, want := range ranks {
			it, err := New([]*graph.Column{Column("x", values)}, Options{Size: number(2), Order: Sequential(uint64(n)), Tail: tail, Rank: rank, Ranks: number(3)})
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 && it.Len() != len(want) {
				t.Errorf("%s: found Len %d, expected %d", name, it.Len(), len(want))
			}
			s := it.State()
			s.Batch = first
			if err := it.Resume(s); err != nil {
				t.Fatal(err)
			}
			got := [][2]any{}
			for b, err := range it.All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				items := []any{}
				for i, x := range graph.View[int64](b.Columns[0].Values) {
					if b.Mask == nil || b.Mask[i] {
						items = append(items, float64(x))
					}
				}
				got = append(got, [2]any{float64(b.Number), items})
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, rank %d: found %v, expected %v", name, rank, got, want)
			}
		}
	}
	if cases < 90 {
		t.Errorf("found %d cases, expected the reference's", cases)
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
