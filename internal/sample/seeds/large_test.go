package seeds

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// Links are numbered in 32 bits: links of a larger edge type are refused, unless the first of them are enough.
func TestTooManyLinks(t *testing.T) {
	far := make([]uint32, 3)
	e := &graph.Edges{Type: graph.HomogeneousEdge, Count: 1 << 32,
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U64: []uint64{0, 2, 1 << 32}}, Far: graph.Index{U32: far}}}}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: 2}}, Edges: []*graph.Edges{e}}
	for _, condition := range []string{"", "w=1", inputOrder} {
		if _, err := links(g, e, condition, nil, 0); !errors.Is(err, sample.ErrTooLarge) || !strings.Contains(err.Error(), "found 4294967296 edges of type _N:_E:_N as links, expected fewer than 2^32") {
			t.Errorf("condition %q: found error %v, expected ErrTooLarge", condition, err)
		}
	}
	// Three neighbours are too few for the edges, which is found after the number of links.
	if _, err := links(g, e, "", nil, 3); err == nil || !strings.Contains(err.Error(), "found 3 neighbours, expected 4294967296") {
		t.Errorf("found error %v, expected the first links to be looked for", err)
	}
}
