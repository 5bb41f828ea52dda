package collection_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
)

// rowsOf returns all sizes of a text.
func rowsOf(text string, components ...string) (all [][]int, err error) {
	r, err := collection.NewRows("s.csv", strings.NewReader(text), components)
	if err != nil {
		return nil, err
	}
	for sizes := range r.All() {
		all = append(all, slices.Clone(sizes))
	}
	return all, r.Err
}

func TestRows(t *testing.T) {
	got, err := rowsOf("\ufeffnum_nodes, num_edges,more\r\n3,4,x\r\n 5 ,6,\n", "num_edges", "num_nodes")
	if d := cmp.Diff([][]int{{4, 3}, {6, 5}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for text, want := range map[string]string{
		"":                      "s.csv:1: found nothing",
		"a,b\n1":                "s.csv:1: found columns a, b, expected num_nodes among them",
		"num_node\n1":           "did you mean",
		"num_nodes\n1\n\n":      `s.csv:3: found size "", expected an integer`,
		"num_nodes\n-1":         `s.csv:2: found size "-1"`,
		"num_nodes\n1.5":        `s.csv:2: found size "1.5"`,
		"num_nodes\nNaN":        `s.csv:2: found size "NaN"`,
		"num_nodes\n2147483648": `s.csv:2: found size "2147483648", expected an integer from 0 to 2^31 - 1`,
		"num_nodes\n1,2":        `s.csv:2: found "1,2", expected 1 numbers`,
		"num_nodes,b\n1":        `s.csv:2: found "1", expected 2 numbers`,
		"num_nodes\n1\n" + strings.Repeat("1", 70000): "s.csv:3: found a line of more than 65536 bytes",
		strings.Repeat("a,", 70000):                   "s.csv:1: found a line of more than 65536 bytes",
	} {
		if _, err := rowsOf(text, "num_nodes"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: found error %v, expected %s", text, err, want)
		}
	}
}

// Any bytes give sizes in range, or an error.
func FuzzRows(f *testing.F) {
	for _, text := range []string{"num_nodes\n1\n2\n", "num_nodes,num_edges\n1,2\n", "x,num_nodes\n,9\n", "num_nodes\n-1", "\xff\xfe\n,", "num_nodes\r\n7\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			all, err := rowsOf(text, "num_nodes")
			if err != nil && !errors.Is(err, pack.ErrHistogram) && !errors.Is(err, collection.ErrComponent) {
				t.Errorf("found error %v of no kind", err)
			}
			if lines := strings.Count(text, "\n"); len(all) > lines {
				t.Errorf("found %d graphs in %d lines", len(all), lines)
			}
			for _, sizes := range all {
				if sizes[0] < 0 || sizes[0] >= 1<<31 {
					t.Errorf("found size %d", sizes[0])
				}
			}
		})
	})
}

// Graphs that are larger than a pack are left out of a stream and counted, and keep their numbers. An invalid
// size ends the stream.
func TestStreamOfCollection(t *testing.T) {
	sizes, err := collection.NewSizes(collectionOf(), []string{"num_nodes"}) // 3, 1, 4
	if err != nil {
		t.Fatal(err)
	}
	s := &pack.Stream{Limits: []int{3}, Buffer: 9, Skip: true}
	var got [][]int64
	for ids, err := range s.Pack(sizes.All()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, slices.Clone(ids))
	}
	if d := cmp.Diff([][]int64{{0}, {1}}, got); d != "" || s.Skipped != 1 || s.Graphs != 2 {
		t.Errorf("found %d graphs, %d left out, packs %s", s.Graphs, s.Skipped, d)
	}
	if sizes, err = collection.NewSizes(collectionOf(), []string{"low"}); err != nil { // 1, -1, 0
		t.Fatal(err)
	}
	for _, err := range s.Pack(sizes.All()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := sizes.Err; !errors.Is(err, pack.ErrHistogram) || !strings.Contains(err.Error(), "graph 1: found a size in low") || s.Graphs != 1 {
		t.Errorf("found %d graphs and error %v of a size that is none, expected %v", s.Graphs, err, pack.ErrHistogram)
	}
}

// The shape of padded packs has an entry for each type. The error about types without a limit says which
// limits to give.
func TestShape(t *testing.T) {
	of := func(first int, names ...string) (*collection.Shape, error) {
		h := &pack.Histogram{Components: names}
		limits, one := make([]int, len(names)), make([]int, len(names))
		for i := range limits {
			limits[i], one[i] = first+i, 1
		}
		h.Add(3, one...)
		r, err := pack.Solve(t.Context(), &pack.Problem{Histogram: h, Limits: limits}, pack.Options{Effort: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		return collection.NewShape(layout.Of(r, layout.Terms{}), collectionOf())
	}
	got, err := of(10, "num_nodes:b", "num_edges:q", "num_nodes:a", "num_edges:a:r:b")
	want := &collection.Shape{Graphs: 4, Nodes: map[string]int{"a": 13, "b": 11}, Edges: map[string]int{"a:r:b": 13, "b:q:a": 11}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	_, err = of(1<<31-4, "num_nodes:b", "num_edges:q", "num_edges:a:r:b", "num_nodes:a") // plus a padding node
	if !errors.Is(err, layout.ErrLayout) || !strings.Contains(err.Error(), "found a limit of 2147483648 with the padding") {
		t.Errorf("found error %v of places that are no int32", err)
	}
	_, err = of(10, "num_nodes", "num_nodes:a", "num_edges")
	if want := "a limit for num_nodes:b, num_edges:a:r:b, num_edges:b:q:a"; !errors.Is(err, layout.ErrLayout) || !strings.Contains(err.Error(), want) {
		t.Errorf("found error %v, expected %s", err, want)
	}
}

// A collection whose sizes differ from the layout's has no fill.
func TestGraphsOfBadSizes(t *testing.T) {
	c := collectionOf()
	h := &pack.Histogram{Components: []string{"low"}, Sizes: []int{1}, Counts: []int64{3}}
	r, err := pack.Solve(t.Context(), &pack.Problem{Histogram: h, Limits: []int{9}}, pack.Options{Effort: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collection.Graphs(layout.Of(r, layout.Terms{}), c); err == nil || !strings.Contains(err.Error(), "graph 1: found a size in low that is negative") {
		t.Errorf("found %v", err)
	}
	c.Nodes[0].GraphPtr = graph.Index{U64: []uint64{0, 5, 2, 5}} // descending
	sizes, err := collection.NewSizes(c, []string{"num_nodes:a"})
	if err != nil {
		t.Fatal(err)
	}
	if sizes.Of(1, []int{0}) {
		t.Error("found a size of a graph whose pointers descend")
	}
}
