package preparing

import (
	"fmt"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/store"
)

// The edges of the fit are bits, which count as memory, and the column that tells them counts as read.
func TestKeptEdges(t *testing.T) {
	const edges = 5000
	times := make([]int64, edges)
	for i := range times {
		times[i] = int64(i % 3)
	}
	before := int64(1)
	column := &graph.Column{Name: "at", DType: graph.Int64, Unit: "s", Rows: edges, Values: graph.Bytes(times)}
	timed, plain := graph.EdgeType{Src: "u", Rel: "buys", Dst: "u"}, graph.EdgeType{Src: "u", Rel: "knows", Dst: "u"}
	g := &graph.Graph{Edges: []*graph.Edges{{Type: timed, Count: edges, Columns: []*graph.Column{column}}, {Type: plain, Count: edges}}}
	p := &preparation{Input: Input{Store: &store.Store{Graph: g}}, file: features.NewFile(features.FitRows{Before: &before})}
	kept, err := p.keptEdges()
	if err != nil {
		t.Fatal(err)
	}
	for i := range edges {
		if got := kept[timed][i/64]>>(i%64)&1 == 1; got != (i%3 == 0) {
			t.Fatalf("edge %d: found it kept: %t, expected %t", i, got, i%3 == 0)
		}
	}
	if got, want := fmt.Sprint(len(kept), keptBytes(kept), p.read.Load()), fmt.Sprint(1, (edges+63)/64*8, 8*edges); got != want {
		t.Errorf("found %s types, bytes held and bytes read, expected %s", got, want)
	}
}
