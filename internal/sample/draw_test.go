package sample

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// lawContext is a context for the draws of one node, and the weights of its edges.
func lawContext(column []float64) (*Context, *op) {
	v := &values{floats: column}
	a := &adjacency{indptr: graph.Index{U32: []uint32{0, uint32(len(column))}}, far: make([]uint32, len(column))}
	o := &op{adj: a}
	if column != nil {
		c := newColumnCache(nil)
		e := &graph.Edges{Count: len(column)}
		c.byName[e.Type.String()+"\x00w"] = v
		w, err := c.weights(e, "w", graph.In, a)
		if err != nil {
			panic(err)
		}
		o.drawer = weightedDraws{w}
	}
	return &Context{}, o
}

// TestVectors checks picks against committed values. Package draw has the values of the law itself.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	h := draw.Key(42, 7, uint64(ScopeBatch), 3, 1, 1000)
	floyd := func(n, k int) []uint32 {
		c, _ := lawContext(nil)
		out := make([]uint32, k)
		c.picker.Distinct(h, uint32(n), out)
		return out
	}
	weighted := func(w []float64, k uint32) []uint32 {
		c, o := lawContext(w)
		o.take = k
		out := make([]uint32, k)
		return out[:o.drawer.draw(c, o, draw.Key(42, 7, uint64(ScopeBatch), 3, 1), &run{node: 1000, n: uint32(len(w))}, out)]
	}
	top := func(v []float64, k uint32) []uint32 {
		c, o := lawContext(nil)
		o.take = k
		out := make([]uint32, k)
		return out[:(&topDraws{values: &values{floats: v}}).draw(c, o, 0, &run{n: uint32(len(v))}, out)]
	}
	nan := math.NaN()
	sevens := make([]float64, 50)
	for i := range sevens {
		sevens[i] = float64(i % 7)
	}
	got := map[string]any{
		"without_replacement(n=100,k=8)":          floyd(100, 8),
		"without_replacement(n=9,k=8)":            floyd(9, 8),
		"weighted([1,2,0,4,1000000,3,nan,5],k=4)": weighted([]float64{1, 2, 0, 4, 1e6, 3, nan, 5}, 4),
		"weighted(i%7,n=50,k=10)":                 weighted(sevens, 10),
		"top_k([3,1,3,nan,2],k=3)":                top([]float64{3, 1, 3, nan, 2}, 3),
		"top_k([3,0,2],k=1)":                      top([]float64{3, 0, 2}, 1),
	}
	for name, g := range got {
		w, ok := want[name]
		if !ok {
			t.Errorf("found no vector %q, expected one", name)
			continue
		}
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := exact(t, b), exact(t, w); !reflect.DeepEqual(x, y) {
			t.Errorf("%s: found %s, expected %s", name, b, w)
		}
	}
}

// exact decodes JSON with its numbers as they are written, because large integers would be rounded as floats.
func exact(t *testing.T, data []byte) (x any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x
}
