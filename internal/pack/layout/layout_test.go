package layout_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func sizesOf(n int) [][]int {
	var sizes [][]int
	for i := range n {
		sizes = append(sizes, []int{1 + i*i%7, i % 5})
	}
	return sizes
}

func layoutOf(t interface{ Fatal(...any) }, sizes [][]int, limits []int) *layout.Layout {
	h := &pack.Histogram{Components: []string{"num_nodes", "num_edges"}}
	for _, s := range sizes {
		h.Add(1, s...)
	}
	r, err := pack.Solve(context.Background(), &pack.Problem{Histogram: h, Limits: limits}, pack.Options{Effort: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return layout.Of(r, layout.Terms{})
}

// reservedOf makes a layout with a reserve, with limits that some graphs exceed.
func reservedOf(t interface{ Fatal(...any) }, sizes [][]int, limits []int, maxGraphs int, oversize string) *layout.Layout {
	h := &pack.Histogram{Components: []string{"num_nodes", "num_edges"}}
	for _, s := range sizes {
		h.Add(1, s...)
	}
	if err := h.Normalise(); err != nil {
		t.Fatal(err)
	}
	p := &pack.Problem{Histogram: h, Limits: limits, MaxGraphs: maxGraphs}
	if err := layout.Reserve(p); err != nil {
		t.Fatal(err)
	}
	terms := layout.Terms{Reserve: true, Oversize: oversize}
	p.Histogram, terms.Over = p.Oversize()
	r, err := pack.Solve(context.Background(), p, pack.Options{Effort: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return layout.Of(r, terms)
}

// The limits include the reserve, and graphs that are larger than the rest are separate.
func TestReserve(t *testing.T) {
	sizes := sizesOf(60) // 1 to 5 nodes each
	l := reservedOf(t, sizes, []int{5, 12}, 3, layout.Alone)
	if d := cmp.Diff([]int{5, 12, 3, 4, 2}, append(slices.Clone(l.Meta.Limits), l.Meta.MaxGraphs, l.Problem.Limits[0], l.Problem.MaxGraphs)); d != "" {
		t.Error(d)
	}
	var over []uint64
	for i, s := range sizes {
		if s[0] == 5 {
			over = append(over, uint64(i))
		}
	}
	g := graphsOf(t, l, sizes)
	if d := cmp.Diff(over, g.Over); d != "" || int64(len(over)) != l.Meta.OversizeGraphs || l.Meta.Oversize != layout.Alone {
		t.Errorf("found %+v: %s", l.Meta, d)
	}
	for p := range l.Meta.Packs {
		nodes, ids := 0, l.Deal(g, 1, 2).Pack(p, nil)
		for _, id := range ids {
			nodes += sizes[id][0]
		}
		if nodes > 4 || len(ids) > 2 {
			t.Errorf("pack %d: found %d nodes of %d graphs, expected room for one node and one graph", p, nodes, len(ids))
		}
	}
	h := &pack.Histogram{Components: []string{"num_edges"}, Sizes: []int{1}, Counts: []int64{1}}
	for _, p := range []*pack.Problem{
		{Histogram: h, Limits: []int{3}},
		{Histogram: &pack.Histogram{Components: []string{"num_nodes:a"}}, Limits: []int{0}},
		{Histogram: &pack.Histogram{Components: []string{"num_nodes"}}, Limits: []int{9}, MaxGraphs: 1},
	} {
		if err := layout.Reserve(p); !errors.Is(err, pack.ErrLimits) {
			t.Errorf("%v: found error %v, expected %v", p.Components, err, pack.ErrLimits)
		}
	}
}

func graphsOf(t interface{ Fatal(...any) }, l *layout.Layout, sizes [][]int) *layout.Graphs {
	g, err := l.NewGraphs(uint64(len(sizes)), func(i uint64, to []int) { copy(to, sizes[i]) })
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every epoch deals every graph once, in packs that keep the limits and differ from the packs of the epoch before.
func TestDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := sizesOf(rapid.IntRange(1, 80).Draw(t, "graphs"))
		l := layoutOf(t, sizes, []int{20, 12})
		g := graphsOf(t, l, sizes)
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "epoch")
		d := l.Deal(g, seed, epoch)
		var all []uint64
		for p := range d.Packs() {
			ids := d.Pack(p, nil)
			n, e := 0, 0
			for _, id := range ids {
				n, e = n+sizes[id][0], e+sizes[id][1]
			}
			if n > 20 || e > 12 {
				t.Fatalf("pack %d: found %d nodes and %d edges, expected at most 20 and 12", p, n, e)
			}
			all = append(all, ids...)
		}
		slices.Sort(all)
		for i, id := range all {
			if id != uint64(i) {
				t.Fatalf("found graphs %v, expected each of %d once", all, len(sizes))
			}
		}
		if len(all) != len(sizes) {
			t.Fatalf("found %d graphs, expected %d", len(all), len(sizes))
		}
	})
}

// The places of a shape get its graphs in the order of the draw law.
func TestDealIsTheLaw(t *testing.T) {
	sizes := make([][]int, 10)
	for i := range sizes {
		sizes[i] = []int{5, 4}
	}
	l := layoutOf(t, sizes, []int{5, 4}) // one pack per graph
	d := l.Deal(graphsOf(t, l, sizes), 42, 7)
	packs, places := make([]uint64, 10), make([]uint64, 10)
	draw.NewOrder(10, draw.Key(42, 7, draw.OrderWord, 0)).Fill(packs, 0)
	draw.NewOrder(10, draw.Key(42, 7, draw.OrderWord, 1)).Fill(places, 0)
	for p := range int64(10) {
		if got, want := d.Pack(p, nil), []uint64{places[packs[p]]}; !slices.Equal(got, want) {
			t.Errorf("pack %d: found graphs %v, expected %v", p, got, want)
		}
	}
}

func write(t testing.TB, l *layout.Layout) string {
	dir := filepath.Join(t.TempDir(), "plan")
	w, err := store.Create(vfs.OS, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Write(w, store.Made{Command: "pack", Version: "0"}), w.Seal(t.Context(), nil, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A layout survives writing and reading, and a changed file is an error. The layout has a reserve and graphs
// that are larger than a pack.
func TestRoundTrip(t *testing.T) {
	l := reservedOf(t, sizesOf(60), []int{5, 12}, 5, layout.Alone)
	dir := write(t, l)
	got, err := layout.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l.Meta, got.Meta) + cmp.Diff(l.Packing, got.Packing) + cmp.Diff(l.Problem, got.Problem) + cmp.Diff(l.Over, got.Over); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"shape_size.npy", "shape_count.npy", "pattern_packs.npy", "pattern_ptr.npy", "part_shape.npy", "part_copies.npy", "oversize_size.npy", "oversize_count.npy", "layout.json"} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{nil, b[:len(b)/2], append(bytes.Clone(b[:len(b)-8]), 0, 0, 0, 0, 0, 0, 0, 0)} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := layout.Open(vfs.OS, dir); !errors.Is(err, layout.ErrLayout) {
				t.Errorf("%s: found error %v, expected %v", name, err, layout.ErrLayout)
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The number of a shape is its row: rows in another order are an error.
func TestShapesOutOfOrder(t *testing.T) {
	dir := write(t, layoutOf(t, [][]int{{1, 1}, {1, 2}}, []int{1, 2}))
	path := filepath.Join(dir, "shape_size.npy")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(b)
	if err := os.WriteFile(path, slices.Concat(b[:n-16], b[n-8:], b[n-16:n-8]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := layout.Open(vfs.OS, dir); !errors.Is(err, layout.ErrLayout) {
		t.Errorf("found error %v, expected %v", err, layout.ErrLayout)
	}
}

func TestGraphsThatDoNotFit(t *testing.T) {
	sizes := sizesOf(20)
	l := layoutOf(t, sizes, []int{20, 12})
	for name, other := range map[string][][]int{"one less": sizes[:19], "another shape": append(slices.Clone(sizes[:19]), []int{9, 9})} {
		_, err := l.NewGraphs(uint64(len(other)), func(i uint64, to []int) { copy(to, other[i]) })
		if !errors.Is(err, layout.ErrLayout) {
			t.Errorf("%s: found error %v, expected %v", name, err, layout.ErrLayout)
		}
	}
}
