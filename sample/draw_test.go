package sample

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// lawContext is a context for the draws of one node alone, with its edges'
// weights or values.
func lawContext(column []float64) (*Context, *op) {
	v := &values{floats: column}
	a := &adjacency{indptr: []uint32{0, uint32(len(column))}, far: make([]uint32, len(column))}
	o := &op{adj: a, top: v}
	if column != nil {
		c := newColumnCache()
		e := &graph.Edges{Count: len(column)}
		c.byName[e.Type.String()+"\x00w"] = v
		w, err := c.weights(e, "w", graph.In, a)
		if err != nil {
			panic(err)
		}
		o.weights = w
	}
	return &Context{}, o
}

// TestVectors holds the committed values of the law.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	h := Key(42, 7, uint64(ScopeBatch), 3, 1, 1000)
	floyd := func(n, k int) []uint32 {
		c, _ := lawContext(nil)
		out := make([]uint32, k)
		c.floyd(h, uint32(n), out)
		return out
	}
	weighted := func(w []float64, k uint32) []uint32 {
		c, o := lawContext(w)
		out := make([]uint32, k)
		return out[:c.weighted(h, o, 0, nil, len(w), k, out)]
	}
	top := func(v []float64, k uint32) []uint32 {
		c, o := lawContext(v)
		out := make([]uint32, k)
		return out[:c.largest(o, 0, nil, len(v), k, out)]
	}
	order := func(n, m uint64) []uint64 {
		out := make([]uint64, m)
		NewOrderer(n, Key(42, 7, OrderWord)).Fill(out, 0)
		return out
	}
	nan := math.NaN()
	sevens := make([]float64, 50)
	for i := range sevens {
		sevens[i] = float64(i % 7)
	}
	var replace []uint64
	for j := range uint64(8) {
		replace = append(replace, Below(Draw(h, j), 5))
	}
	mix := map[string]uint64{}
	for _, x := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		mix[strconv.FormatUint(x, 10)] = Mix(x)
	}
	var edges [][2]uint32
	m, err := NewRMAT(42, 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(5) {
		s, d := m.edge(i)
		edges = append(edges, [2]uint32{s, d})
	}
	got := map[string]any{
		"mix":                            mix,
		"key(42,7,BATCH=1,3,1,1000)":     h,
		"draws":                          []uint64{Draw(h, 0), Draw(h, 1), Draw(h, 2), Draw(h, 3)},
		"unit":                           []float64{Unit(Draw(h, 0)), Unit(Draw(h, 1)), Unit(Draw(h, 2)), Unit(Draw(h, 3))},
		"without_replacement(n=100,k=8)": floyd(100, 8),
		"without_replacement(n=9,k=8)":   floyd(9, 8),
		"with_replacement(n=5,k=8)":      replace,
		"weighted([1,2,0,4,1000000,3,nan,5],k=4)": weighted([]float64{1, 2, 0, 4, 1e6, 3, nan, 5}, 4),
		"weighted(i%7,n=50,k=10)":                 weighted(sevens, 10),
		"top_k([3,1,3,nan,2],k=3)":                top([]float64{3, 1, 3, nan, 2}, 3),
		"top_k([3,0,2],k=1)":                      top([]float64{3, 0, 2}, 1),
		"rmat_edge(seed=42,scale=20,i=0..4)":      edges,
		"order(n=10,key(42,7,ORDER=3))":           order(10, 10),
		"order(n=65536)[:5]":                      order(65536, 5),
		"order(n=65537)[:5]":                      order(65537, 5),
		"order(n=1000003)[:5]":                    order(1000003, 5),
		"order(n=2**32+1)[:5]":                    order(1<<32+1, 5),
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("found no answer to vector %q, expected one", name)
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

// exact decodes JSON with its numbers as they are written: as floats, large
// integers would be rounded.
func exact(t *testing.T, data []byte) (x any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestOrderIsPermutation covers every small n, and both sides of each power of
// two.
func TestOrderIsPermutation(t *testing.T) {
	var sizes []uint64
	for n := range uint64(600) {
		sizes = append(sizes, n)
	}
	for b := 10; b <= 18; b++ {
		sizes = append(sizes, 1<<b-1, 1<<b, 1<<b+1)
	}
	for _, n := range sizes {
		for _, tabulated := range []bool{true, false} {
			o := NewOrderer(n, Key(1, n, OrderWord))
			if !tabulated {
				if o.sorted != nil {
					continue
				}
				o.tables = [feistelRounds][]uint16{}
			}
			wide, narrow := make([]uint64, n), make([]uint32, n)
			o.Fill(wide, 0)
			for i := range narrow {
				narrow[i] = uint32(i)
			}
			o.Map32(narrow)
			seen := make([]bool, n)
			for i, x := range wide {
				if x >= n || seen[x] || uint64(narrow[i]) != x {
					t.Fatalf("n %d: found item %d (32-bit: %d) at %d, expected each of 0 to n-1 once", n, x, narrow[i], i)
				}
				seen[x] = true
			}
			for i := uint64(0); i < n; i += 1 + n/7 {
				part := make([]uint64, min(3, n-i))
				o.Fill(part, i)
				if o.At(i) != wide[i] || !slices.Equal(part, wide[i:i+uint64(len(part))]) {
					t.Fatalf("n %d: found %d at %d alone, expected %d", n, o.At(i), i, wide[i])
				}
			}
		}
	}
}

// TestSortTies makes draws that agree in their upper bits be ordered by all.
func TestSortTies(t *testing.T) {
	for key := range uint64(40) {
		got := sortByDraw(sortedOrder, key)
		if !slices.IsSortedFunc(got, func(a, b uint16) int {
			x, y := Draw(key, uint64(a)), Draw(key, uint64(b))
			if x < y {
				return -1
			}
			return 1
		}) {
			t.Fatalf("key %d: found items out of the order of their draws", key)
		}
	}
}

func TestRMATFill(t *testing.T) {
	for _, scale := range []int{1, 5, 16, 17, 20} {
		m, err := NewRMAT(9, scale)
		if err != nil {
			t.Fatal(err)
		}
		labels := NewOrderer(1<<scale, Key(9, 0, rmatLabels))
		src, dst := make([]uint32, 1000), make([]uint32, 1000)
		m.Fill(src, dst, 77)
		for i := range src {
			s, d := m.edge(77 + uint64(i))
			if uint64(src[i]) != labels.At(uint64(s)) || uint64(dst[i]) != labels.At(uint64(d)) {
				t.Fatalf("scale %d, edge %d: found %d -> %d, expected %d -> %d", scale, i, src[i], dst[i], labels.At(uint64(s)), labels.At(uint64(d)))
			}
		}
	}
	if _, err := NewRMAT(0, 0); err == nil {
		t.Fatal("found no error for scale 0, expected one")
	}
}
