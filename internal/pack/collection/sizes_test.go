package collection_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
)

func list(of ...uint64) graph.Index { return graph.Index{U64: of} }

func collectionOf() *graph.Collection {
	return &graph.Collection{Graphs: 3,
		Nodes: []*graph.CollectionNodes{{Type: "a", GraphPtr: list(0, 2, 2, 5)}, {Type: "b", GraphPtr: list(0, 1, 2, 3)}},
		Edges: []*graph.CollectionEdges{
			{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "b"}, GraphPtr: list(0, 4, 4, 8)},
			{Type: graph.EdgeType{Src: "b", Rel: "q", Dst: "a"}, GraphPtr: list(0, 0, 1, 1)}},
		Context: []*graph.Column{
			{Name: "triplets", DType: graph.Int16, Rows: 3, Values: graph.Bytes([]int16{7, 300, 0})},
			{Name: "label", DType: graph.Float32, Rows: 3, Values: make([]byte, 12)},
			{Name: "low", DType: graph.Int8, Rows: 3, Values: graph.Bytes([]int8{1, -1, 0})}}}
}

func TestSizes(t *testing.T) {
	names := []string{"num_nodes", "num_edges", "num_nodes:a", "num_edges:q", "num_edges:a:r:b", "triplets"}
	s, err := collection.NewSizes(collectionOf(), names)
	if err != nil {
		t.Fatal(err)
	}
	var got [3][6]int
	for i := range got {
		if !s.Of(i, got[i][:]) {
			t.Fatalf("graph %d has no sizes", i)
		}
	}
	if d := cmp.Diff([3][6]int{{3, 4, 2, 0, 4, 7}, {1, 1, 0, 1, 0, 300}, {4, 4, 3, 0, 4, 0}}, got); d != "" {
		t.Error(d)
	}
	h, err := s.Histogram(0)
	if err != nil || h.Graphs() != 3 || h.Max(5) != 300 {
		t.Errorf("found %+v, %v", h, err)
	}
}

func TestBadComponents(t *testing.T) {
	for _, name := range []string{"nodes", "num_nodes:c", "num_edges:x", "label", "", "num_edges:"} {
		if _, err := collection.NewSizes(collectionOf(), []string{name}); !errors.Is(err, collection.ErrComponent) {
			t.Errorf("%q: found error %v, expected %v", name, err, collection.ErrComponent)
		}
	}
	for _, names := range [][]string{nil, {"num_nodes", "num_nodes"}, {"num_nodes", "num_edges", "num_nodes:a", "num_nodes:b", "num_edges:q", "num_edges:r", "triplets", "low"}} {
		if _, err := collection.NewSizes(collectionOf(), names); !errors.Is(err, collection.ErrComponent) {
			t.Errorf("%q: found error %v, expected %v", names, err, collection.ErrComponent)
		}
	}
	s, err := collection.NewSizes(collectionOf(), []string{"low"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Histogram(0); !errors.Is(err, pack.ErrHistogram) {
		t.Errorf("found error %v of a negative size, expected %v", err, pack.ErrHistogram)
	}
}
