package draw

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// TestVectors checks the law against committed values. Package sample has the values of picking.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("../internal/sample/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	h := Key(42, 7, 1, 3, 1, 1000)
	order := func(n, m uint64) []uint64 {
		out := make([]uint64, m)
		NewOrder(n, Key(42, 7, OrderWord)).Fill(out, 0)
		return out
	}
	var replace []uint64
	for j := range uint64(8) {
		replace = append(replace, Below(At(h, j), 5))
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
	var keys [3][3]uint64
	for s := range uint64(3) {
		for e := range uint64(3) {
			keys[s][e] = Key(s, e, OrderWord)
		}
	}
	for name, got := range map[string]any{
		"key(s,e,ORDER), s and e of 0..2":    keys,
		"mix":                                mix,
		"key(42,7,BATCH=1,3,1,1000)":         h,
		"draws":                              []uint64{At(h, 0), At(h, 1), At(h, 2), At(h, 3)},
		"unit":                               []float64{Unit(At(h, 0)), Unit(At(h, 1)), Unit(At(h, 2)), Unit(At(h, 3))},
		"with_replacement(n=5,k=8)":          replace,
		"rmat_edge(seed=42,scale=20,i=0..4)": edges,
		"order(n=10,key(42,7,ORDER=3))":      order(10, 10),
		"order(n=65536)[:5]":                 order(65536, 5),
		"order(n=65537)[:5]":                 order(65537, 5),
		"order(n=1000003)[:5]":               order(1000003, 5),
		"order(n=2**32+1)[:5]":               order(1<<32+1, 5),
	} {
		w, ok := want[name]
		if !ok {
			t.Errorf("found no vector %q, expected one", name)
			continue
		}
		b, err := json.Marshal(got)
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

// TestKeysApart takes the epochs 0 to 1000 of the seeds 0 to 1000. No two have the same order, and each item comes
// first equally often, over all, over the epochs of one seed and over the seeds of one epoch.
func TestKeysApart(t *testing.T) {
	const n, items = 1001, 32
	seen := make(map[[items]uint8]bool, n*n)
	var all [items]int
	bySeed, byEpoch := make([][items]int, n), make([][items]int, n)
	for seed := range uint64(n) {
		for epoch := range uint64(n) {
			var order [items]uint8
			for i, x := range sortByDraw(items, Key(seed, epoch, OrderWord)) {
				order[i] = uint8(x)
			}
			if seen[order] {
				t.Fatalf("seed %d, epoch %d: found the order of another seed and epoch, expected one of its own", seed, epoch)
			}
			seen[order] = true
			first := order[0]
			all[first]++
			bySeed[seed][first]++
			byEpoch[epoch][first]++
		}
	}
	// 31 degrees of freedom: 77 is exceeded by chance once in 10^5, 113 once in 10^11.
	chi := func(counts [items]int, total float64) (sum float64) {
		want := total / items
		for _, c := range counts {
			sum += (float64(c) - want) * (float64(c) - want) / want
		}
		return sum
	}
	if x := chi(all, n*n); x > 77 {
		t.Errorf("found chi-square %.1f of the first items, expected at most 77", x)
	}
	for i := range n {
		if x := max(chi(bySeed[i], n), chi(byEpoch[i], n)); x > 113 {
			t.Errorf("found chi-square %.1f of the first items of seed or epoch %d, expected at most 113", x, i)
		}
	}
}

// TestOrderIsPermutation checks every small n, and both sides of each power of two.
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
			o := NewOrder(n, Key(1, n, OrderWord))
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

// TestSortTies checks that draws with equal upper bits are sorted by all their bits.
func TestSortTies(t *testing.T) {
	for key := range uint64(40) {
		got := sortByDraw(sortedOrder, key)
		if !slices.IsSortedFunc(got, func(a, b uint16) int {
			x, y := At(key, uint64(a)), At(key, uint64(b))
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
		labels := NewOrder(1<<scale, Key(9, 0, rmatLabels))
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
