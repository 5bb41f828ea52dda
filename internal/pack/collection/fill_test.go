package collection_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
)

// A fill has the packs of its epochs as the layout deals them, over more than one chunk of packs. Graphs that
// are packs of their own are listed separately.
func TestFill(t *testing.T) {
	const graphs = 5000
	n := &graph.CollectionNodes{Type: "n", GraphPtr: graph.Index{U64: []uint64{0}}}
	for i := range graphs {
		n.GraphPtr.U64 = append(n.GraphPtr.U64, n.GraphPtr.U64[i]+1+uint64(i%7))
	}
	c := &graph.Collection{Graphs: graphs, Nodes: []*graph.CollectionNodes{n}}
	sizes, err := collection.NewSizes(c, []string{"num_nodes"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := sizes.Histogram(0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pack.Problem{Histogram: h, Limits: []int{6}}
	terms := layout.Terms{Oversize: layout.Alone}
	p.Histogram, terms.Over = p.Oversize() // graphs of 7 nodes
	r, err := pack.Solve(t.Context(), p, pack.Options{Effort: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	l := layout.Of(r, terms)
	g, err := collection.Graphs(l, c)
	if err != nil {
		t.Fatal(err)
	}
	progress := 0
	dir, err := folder(t, disk, t.TempDir(), func(w *store.Writer) (*store.Meta, error) {
		return nil, collection.Fill(t.Context(), w, l, g, collection.Epochs{Seed: 3, First: 8, Count: 2}, collection.Options{Threads: 3, Progress: func(n int) { progress += n }})
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, collection.FillFile))
	if err != nil {
		t.Fatal(err)
	}
	var meta collection.FillMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		t.Fatal(err)
	}
	alone := read[uint64](t, dir, collection.AloneFile)
	want := collection.FillMeta{Format: 1, Seed: 3, Epoch: 8, Epochs: 2, Packs: l.Meta.Packs, Graphs: graphs - int64(len(alone)), Oversize: layout.Alone, OversizeGraphs: int64(len(alone))}
	if d := cmp.Diff(want, meta); d != "" || progress != 2*int(l.Meta.Packs) || l.Meta.Packs < 2048 {
		t.Errorf("found progress of %d packs: %s", progress, d)
	}
	ptr, ids := read[uint64](t, dir, collection.PackPtrFile), read[uint32](t, dir, collection.GraphIDFile)
	if len(ptr) != 2*int(meta.Packs)+1 || ptr[0] != 0 || ptr[len(ptr)-1] != uint64(len(ids)) || len(ids) != 2*int(meta.Graphs) {
		t.Fatalf("found %d pointers to %d graphs", len(ptr), len(ids))
	}
	for e := range 2 {
		d := l.Deal(g, 3, uint64(8+e))
		seen := slices.Clone(alone)
		for p := range d.Packs() {
			k := e*int(meta.Packs) + int(p)
			var got []uint64
			for _, id := range ids[ptr[k]:ptr[k+1]] {
				got = append(got, uint64(id))
			}
			if want := d.Pack(p, nil); !slices.Equal(got, want) {
				t.Fatalf("epoch %d, pack %d: found graphs %v, expected %v", e, p, got, want)
			}
			seen = append(seen, got...)
		}
		slices.Sort(seen)
		if len(slices.Compact(seen)) != graphs {
			t.Errorf("epoch %d: found %d graphs, expected each of %d once", e, len(seen), graphs)
		}
	}
	if slices.ContainsFunc(alone, func(id uint64) bool { return id%7 != 6 }) {
		t.Errorf("found graphs %v alone, expected those of 7 nodes", alone)
	}
}
